"""The written pages and the README: each command in them runs offline, and gives the output that is shown."""

from pathlib import Path

import pytest

from tests.docs.guides import LANGUAGES, PAGES, README, ROOT, RUN, Shell, blocks, fences, matches

WRITTEN = [README, *PAGES]
WITH_COMMANDS = [page for page in WRITTEN if blocks(page)]
MOST_NOT_RUN = 10
"""Blocks in all pages that are excluded with a reason."""


def name_of(page: Path) -> str:
    """Return the path of a page in the repository."""
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_the_commands_of_a_page_run_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    """They start with an empty data directory, in the order of the page, and connect to no other host."""
    shell = Shell(tmp_path)
    for block in blocks(page):
        if block.title:
            shell.write(block.title, block.body)
            continue
        for command, shown in block.steps():
            code, output = shell.run(command)
            where = f"{page.name}:{block.line}: {command}exited with {code}:\n{output}"
            assert shown is not None or code == 0, where
            assert shown is None or matches(shown, output), where
            assert not shell.connections(), where


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_every_block_names_its_language(page: Path) -> None:
    """A block that is run cannot be mistaken for one that is not."""
    for block in fences(page):
        assert block.language in LANGUAGES, f"{page.name}:{block.line}"


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    """The reason has at least three words."""
    left_out = [(page.name, block) for page in WRITTEN for block in fences(page) if block.reason]
    assert len(left_out) <= MOST_NOT_RUN
    for page, block in left_out:
        assert len(block.reason.split()) >= 3, (page, block.line)
        assert block.language in RUN, (page, block.line)


def test_a_block_with_a_reason_is_not_run(tmp_path: Path) -> None:
    """The marker excludes the block that follows it, and no other one."""
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: needs a client -->\n```bash\nfalse\n```\n\n```python\nprint(1)\n```\n")
    first, second = fences(page)
    assert (first.reason, first.is_run) == ("needs a client", False)
    assert second.is_run
    (step,) = second.steps()
    assert Shell(tmp_path).run(step.command) == (0, "1\n")


def test_most_pages_have_commands() -> None:
    """Every guide shows at least one command that is run."""
    guides = [page for page in PAGES if page.parent.name == "guides"]
    assert len(guides) >= 12
    for guide in guides:
        assert any(block.language in RUN for block in blocks(guide)), guide


def test_a_shown_output_is_compared() -> None:
    """An ellipsis matches any text; other text must be there."""
    assert matches("run …\n2 hits\n", "run 20261127-0a\n  \n2 hits  \n")
    assert not matches("run …\n2 hits\n", "run 20261127-0a\n3 hits\n")
    assert not matches("2 hits", "2 hits\nand more")


def test_a_shell_refuses_connections_and_notes_them(tmp_path: Path) -> None:
    """A command cannot reach another host, and the test sees that it tried."""
    shell = Shell(tmp_path)
    connect = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    code, output = shell.run(f'python -c "{connect}"')
    assert code == 1
    assert "no network in this test" in output
    assert "192.0.2.1" in shell.connections()


def test_a_shell_has_no_settings_of_the_developer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the tests does not reach the commands."""
    monkeypatch.setenv("HARNESS_TTL", "1")
    _, output = Shell(tmp_path).run("env")
    assert "HARNESS" not in output
