"""`harness library`: the same passages in the terminal as over HTTP."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

from harness import settings
from harness.app import App
from harness.core.freshness import DAY, NEVER
from harness.library import ReadDocument, held_passages
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.request_checks import HostNames, RequestChecks
from harness.server.responses.library_responses import PassageResponse
from harness.server.routes import build_routes
from harness.sources.from_settings import Sources
from tests.cli.program import Program
from tests.cli.test_token_commands import make, use
from tests.library.documents import TEXT, Pages
from tests.sources.pages.pdf_documents import sheet

__all__ = ["make", "use"]

URL = "https://docs.example.org/retries"
RESULT = {"title": "Retries", "href": URL, "body": "Retries stop after five failed attempts."}
OTHER = {"title": "Timeouts", "href": "https://docs.example.org/timeouts", "body": "A client waits for ten seconds."}
NASTY = "[bold red]\x1b[31m\x07\u202eretries[/] of a client"
COMMANDS = [("search",), ("stats",), ("index",), ("add",), ("show",), ("forget",), ("export",)]


@pytest.fixture
def filled() -> None:
    """Cache a search with two results in the data directory."""
    with App(settings.load({}).settings) as app:
        app.cache.searches.put("retries of a client", [RESULT, OTHER])


def over_http(address: str, **parameters: str | int) -> Any:
    """Return what the API answers."""
    with (
        App(settings.load({}).settings) as app,
        Authenticator(app, per_minute=6_000, alone=True) as authenticator,
    ):
        checks = RequestChecks(
            build_routes(ResearchJobs(1), authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with TestClient(checks, base_url="http://127.0.0.1") as client:
            return client.get(address, params=parameters).json()


def without_ages(shape: Any) -> Any:
    """Return a JSON value without ages, which grow."""
    if isinstance(shape, dict):
        return {name: without_ages(value) for name, value in shape.items() if name != "age_seconds"}
    return [without_ages(each) for each in shape] if isinstance(shape, list) else shape


# --- search


@pytest.mark.slow
def test_it_shows_the_passages_of_the_api(harness: Program, filled: None) -> None:
    """`--json` prints the response of the API, with passages in the same order."""
    cases: list[tuple[list[str], dict[str, str | int]]] = [
        (["how often do retries happen"], {"q": "how often do retries happen"}),
        (["ten", "seconds", "-n", "1"], {"q": "ten seconds", "limit": 1}),
    ]
    for arguments, parameters in cases:
        ended = harness("library", "search", *arguments, "--json")
        assert ended.code == 0
        assert without_ages(ended.told) == without_ages(over_http("/api/library", **parameters))
        assert all(0 <= each["age_seconds"] < 600 for each in ended.told["passages"])
    assert [each["url"] for each in ended.told["passages"]] == [OTHER["href"]]


def test_it_is_read_in_a_pipe(harness: Program, filled: None) -> None:
    """Title, URL, text, kind, age and reasons, without colours; how many there are is on standard error."""
    ended = harness("library", "search", "how", "often", "do", "retries", "happen")
    assert ended.code == 0
    assert "\x1b" not in ended.out
    for part in ("Retries", URL, RESULT["body"], "snippet, read just now", "found by words (rank 1)"):
        assert part in " ".join(ended.out.split())
    assert "2 passages from the library; 0 live calls" in ended.err
    assert max(map(len, ended.out.splitlines())) <= 120
    one = harness("library", "search", "retries", "-n", "1")
    assert "1 passage from the library; 0 live calls" in one.err
    assert harness("library", "search", "retries", "--quiet").err == ""


def test_without_a_passage_it_exits_with_1(harness: Program) -> None:
    """Standard output is empty, or has an empty list; standard error has advice."""
    ended = harness("library", "search", "zebra")
    assert (ended.code, ended.out) == (1, "")
    assert "no passage found" in ended.err
    ended = harness("library", "search", "zebra", "--json")
    assert (ended.code, ended.told) == (1, {"query": "zebra", "passages": []})


def test_the_age_is_limited(harness: Program) -> None:
    """`--max-age` leaves older passages out."""
    with App(settings.load({}).settings) as app:
        for hours, text in ((2, "Old retries."), (0, "New retries.")):
            app.library.index.add(
                ReadDocument(
                    url=f"https://a.org/{hours}", title="", text=text, source="page",
                    fetched_at=time.time() - hours * 3_600, expires_at=NEVER,
                )
            )  # fmt: skip
    assert len(harness("library", "search", "retries", "--json").told["passages"]) == 2
    shown = harness("library", "search", "retries", "--max-age", "1h", "--json").told["passages"]
    assert [each["text"] for each in shown] == ["New retries."]
    assert shown[0]["expires_at"] is None
    assert len(harness("library", "search", "retries", "--max-age", "3h", "--json").told["passages"]) == 2


def test_the_language_is_limited(harness: Program) -> None:
    """`--language` leaves other passages out; each passage shows its own."""
    german = "Wiederholungen (retries) enden nach fünf Versuchen, und danach wartet der Client auf den Server."
    with App(settings.load({}).settings) as app:
        for url, text in (("https://a.org/de", german), ("https://a.org/x", "retries")):
            document = ReadDocument(
                url=url, title="", text=text, source="page", fetched_at=time.time(), expires_at=NEVER
            )
            app.library.index.add(document)
    found = harness("library", "search", "retries", "--json").told["passages"]
    assert {each["url"]: each["language"] for each in found} == {"https://a.org/de": "de", "https://a.org/x": ""}
    (passage,) = harness("library", "search", "retries", "--language", "de", "--json").told["passages"]
    assert passage["text"] == german
    assert harness("library", "search", "retries", "--language", "fr").code == 1
    assert "(page, de, read just now)" in harness("library", "show", "https://a.org/de").out
    assert "(page, read just now)" in harness("library", "show", "https://a.org/x").out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["search", "x", "-n", "0"], "1 to 100 passages"),
        (["search", "x", "-n", "101"], "1 to 100 passages"),
        (["search", " "], "the query is empty"),
        (["search", "x" * 10_001], "10,000"),
        (["search", "x", "--max-age", "soon"], "--max-age"),
        (["search", "x", "--language", "elvish"], "unknown language 'elvish'; pass a tag such as en"),
        (["add", "/nowhere/notes.md"], "/nowhere/notes.md"),
        (["add", "/etc/hostname"], "must be one of"),
        (["add", "ftp://example.org/x"], "ftp://example.org/x"),
    ],
)
def test_wrong_usage_is_one_line(harness: Program, arguments: list[str], reason: str) -> None:
    """The line has the reason."""
    assert reason in harness("library", *arguments).one_line_error(2)


def test_the_reader_says_what_answers(harness: Program, filled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting `reading` gives the first passages a relevance, and the best one answers."""
    monkeypatch.setenv("HARNESS_READING", "1")
    shown = harness("library", "search", "after how many attempts do retries stop", "--json").told["passages"]
    assert shown[0]["url"] == URL
    assert shown[0]["answers"] is True
    assert 0 <= shown[1]["relevance"] < shown[0]["relevance"] <= 1
    assert re.search(r"\d+%", harness("library", "search", "after how many attempts do retries stop").out)


def test_the_engine_library_makes_no_request(harness: Program, filled: None) -> None:
    """`harness search --engine library` has one result for each source."""
    ended = harness("search", "how often do retries happen", "--engine", "library", "--json")
    assert ended.code == 0
    assert [each["href"] for each in ended.told["results"]] == [URL, OTHER["href"]]
    assert ended.told["results"][0]["body"] == RESULT["body"]


# --- stats and index


def test_the_numbers_are_those_of_the_api(harness: Program, filled: None) -> None:
    """JSON and text have the same numbers."""
    told = harness("library", "stats", "--json").told
    assert told == over_http("/api/library/stats")
    assert (told["passages"], told["expired"], told["without_vector"]) == (2, 0, 0)
    said = harness("library", "stats").out
    assert "2 passages, 0 expired" in said
    assert "read between 20" in said
    assert "library index" not in said


def test_the_numbers_of_an_empty_library(harness: Program) -> None:
    """Zeros are shown, without an error."""
    ended = harness("library", "stats")
    assert (ended.code, ended.out) == (0, "0 passages, 0 expired\n")
    assert harness("library", "stats", "--json").told["oldest"] is None


def test_vectors_are_made_on_request(harness: Program, filled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """`stats` says how many are missing, `index` makes them."""
    from harness.library import library_index

    with monkeypatch.context() as slow:
        slow.setattr(library_index.LibraryIndex, "_with_vectors", lambda _self, rows, _until: list(rows))
        slow.setattr(library_index.LibraryIndex, "_embed_missing", lambda *_: None)
        assert "2 have no vector yet and are found by words: `harness library index`" in harness("library", "stats").out
    ended = harness("library", "index")
    assert (ended.code, ended.out) == (0, "")
    assert "0 passages added, 2 vectors made" in ended.err
    assert harness("library", "stats", "--json").told["without_vector"] == 0


# --- add


def test_a_file_is_added(harness: Program, tmp_path: Path) -> None:
    """A file is found and never expires. Added again after a change, it has its new text only."""
    file = tmp_path / "notes.md"
    file.write_text("# Retries\n\nRetries stop after five attempts.\n\n# Timeouts\n\nA client waits.\n")
    ended = harness("library", "add", file)
    assert (ended.code, ended.out) == (0, "")
    assert "1 document read, 2 passages added" in ended.err
    first, _ = harness("library", "search", "retries stop", "--json").told["passages"]
    assert (first["text"], first["source"], first["section"]) == (
        "Retries stop after five attempts.",
        "file",
        "Retries",
    )
    assert (first["expires_at"], first["engine"]) == (None, "")
    file.write_text("# Retries\n\nRetries stop after six attempts.\n")
    assert "1 document read, 1 passage added" in harness("library", "add", file).err
    shown = harness("library", "search", "retries stop", "--json").told["passages"]
    assert [each["text"] for each in shown] == ["Retries stop after six attempts."]


def test_a_folder_is_added(harness: Program, notes: str) -> None:
    """Every readable file in it becomes a separate source."""
    folder = Path(notes.removeprefix("corpus:"))
    (folder / "deeper").mkdir()
    (folder / "deeper" / "pools.md").write_text("# Pools\n\nA pool holds ten connections.\n")
    (folder / ".hidden.md").write_text("hidden")
    (folder / "image.png").write_bytes(b"\x89PNG")
    ended = harness("library", "add", folder)
    assert ended.code == 0
    assert ended.err.splitlines()[-1].startswith("4 documents read,")
    shown = harness("library", "search", "pool connections", "--json").told["passages"]
    assert shown[0]["text"] == "A pool holds ten connections."
    assert len({each["url"] for each in shown}) == 4
    assert harness("library", "show", shown[0]["url"]).code == 0


def test_a_pdf_is_added_with_its_pages(harness: Program, tmp_path: Path) -> None:
    """A passage has the page on which each of its parts begins."""
    document = sheet()
    for text in ("Retries stop after five attempts, which", "no one changes. Pools are small."):
        document.add_page()
        document.text(50, 90, text)
    document.output(str(tmp_path / "report.pdf"))
    assert harness("library", "add", tmp_path / "report.pdf").code == 0
    with App(settings.load({}).settings) as app:
        (passage,) = app.library.passages()
    assert passage.text == "Retries stop after five attempts, which no one changes. Pools are small."
    assert passage.page_starts == ((0, 1), (passage.text.index("no one"), 2))


def test_several_paths_are_added(harness: Program, tmp_path: Path) -> None:
    """One command adds them all. If a path is missing, the paths before it stay added."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"About {name}.")
    assert "2 documents read" in harness("library", "add", tmp_path / "a.txt", tmp_path / "b.txt").err
    assert harness("library", "stats", "--json").told["passages"] == 2
    (tmp_path / "a.txt").write_text("About another one.")
    assert harness("library", "add", tmp_path / "a.txt", tmp_path / "missing.txt").code == 2
    assert "another one" in harness("library", "search", "another one").out


def test_lines_of_one_source_are_one_document(harness: Program, tmp_path: Path) -> None:
    """Neighbouring ones; a later one is left out with a warning. The address may be spelled as in the file."""
    lines = [
        ("https://A.org/x/", "About cats."),
        ("https://A.org/x/", "About dogs."),
        (URL, "Nine."),
        ("https://A.org/x/", "?"),
    ]
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps({"url": url, "text": text, "title": "T"}) for url, text in lines))
    ended = harness("library", "add", file)
    assert "2 documents read" in ended.err
    assert "a second text of https://A.org/x/ is left out" in ended.err
    shown = harness("library", "show", "https://A.org/x/").out
    assert "About cats." in shown
    assert "About dogs." in shown
    assert "deleted" in harness("library", "forget", "https://a.org/x", "--yes").err
    assert harness("library", "show", "https://A.org/x/").code == 1


def test_a_file_is_shown_and_forgotten_by_its_path(harness: Program, tmp_path: Path) -> None:
    """As it was added, relative or not."""
    file = tmp_path / "notes.md"
    file.write_text("Retries stop after five attempts.\n")
    harness("library", "add", file)
    assert "five attempts" in harness("library", "show", file).out
    assert "1 passage and 0 cached answers deleted" in harness("library", "forget", file, "--yes").err


def test_a_long_file_is_read_to_its_end(harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit of a page; what is beyond that of a file is left out with a warning."""
    monkeypatch.setattr(held_passages, "MAX_DOCUMENT_CHARS", 100)
    monkeypatch.setattr(held_passages, "MAX_FILE_CHARS", 300)
    file = tmp_path / "long.txt"
    file.write_text(f"{'Words of an introduction. ' * 9}\n\nThe treasurer signs.\n")
    assert "are kept" not in harness("library", "add", file).err
    assert "The treasurer signs." in harness("library", "export").out
    file.write_text(f"{'Words of an introduction. ' * 20}\n\nThe treasurer signs.\n")
    assert "only 300 of 542 characters are kept" in harness("library", "add", file).err


@pytest.mark.parametrize("source", ["", " ", "missing.txt", "~no-such-user/x", "a\0b", "x" * 5_000])
def test_what_is_no_path_is_not_added(harness: Program, source: str) -> None:
    """Above all not the folder of the caller in place of an empty variable."""
    ended = harness("library", "add", source)
    assert (ended.code, ended.out) == (2, "")
    assert "no such file or folder" in ended.err


def test_a_folder_without_a_text_exits_with_1(harness: Program, tmp_path: Path) -> None:
    """Nothing was added."""
    (tmp_path / "empty").mkdir()
    ended = harness("library", "add", tmp_path / "empty")
    assert ended.code == 1
    assert "0 documents read, 0 passages added" in ended.err


def test_an_added_page_never_expires(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update does not change that, and `show` finds the page by the URL that was added."""
    address = "https://Docs.example.org/pool/"
    monkeypatch.setattr(Sources, "reader", Pages({address: TEXT}))
    assert harness("library", "add", address).code == 0
    harness("library", "stats")
    ended = harness("library", "show", address, "--json")
    assert ended.code == 0
    (passage,) = ended.told["passages"]
    assert (passage["text"], passage["expires_at"]) == (TEXT, None)


def test_a_page_of_this_network_is_refused(harness: Program, closed_port: int) -> None:
    """`harness read` refuses it too."""
    ended = harness("library", "add", f"http://127.0.0.1:{closed_port}/")
    assert ended.code not in {0, 1}
    assert "127.0.0.1" in ended.one_line_error(ended.code)


# --- show, forget, export


def test_the_passages_of_a_source_are_shown(harness: Program, filled: None) -> None:
    """Passages are in order, for any spelling of the URL. `--json` prints those of the API."""
    assert harness("library", "stats").code == 0
    ended = harness("library", "show", f"{URL}/?utm_source=x#top")
    assert ended.code == 0
    assert RESULT["body"] in ended.out
    assert "snippet, read just now" in ended.out
    assert "1 passage" in ended.err
    told = harness("library", "show", URL, "--json").told
    assert without_ages(told["passages"]) == without_ages(over_http("/api/library/passages", url=URL)["passages"])


def test_an_unknown_source_exits_with_1(harness: Program, filled: None) -> None:
    """Standard output is empty, or has an empty list."""
    ended = harness("library", "show", "https://example.org/nothing")
    assert (ended.code, ended.out) == (1, "")
    ended = harness("library", "show", "https://example.org/nothing", "--json")
    assert (ended.code, ended.told) == (1, {"passages": []})


@pytest.mark.parametrize("answer", ["", "n\n"])
def test_forgetting_asks_first(harness: Program, filled: None, answer: str) -> None:
    """Nothing is deleted without a yes, and the message says what to do."""
    harness("library", "stats")
    ended = harness("library", "forget", URL, stdin=answer)
    assert (ended.code, ended.out.strip()) == (2, "")
    assert f"delete 1 passage of {URL}" in ended.err
    assert "pass --yes" in ended.err
    assert harness("library", "show", URL).code == 0


@pytest.mark.parametrize(("arguments", "answer"), [(["--yes"], ""), ([], "y\n")])
def test_a_source_is_forgotten(harness: Program, filled: None, arguments: list[str], answer: str) -> None:
    """The cached search that has it is deleted too; other sources stay."""
    harness("library", "stats")
    ended = harness("library", "forget", URL, *arguments, stdin=answer)
    assert ended.code == 0
    assert "1 passage and 1 cached answer deleted" in ended.err
    assert harness("library", "show", URL).code == 1
    told = harness("library", "search", "retries of a client", "--json").told
    assert [each["url"] for each in told["passages"]] == [OTHER["href"]]
    assert harness("search", "retries of a client", "--offline", "--exact").code == 6


def test_every_passage_is_exported(harness: Program, filled: None, tmp_path: Path) -> None:
    """One line of JSON each, in the shape of the API, the oldest first."""
    assert harness("library", "export").out == ""
    harness("library", "stats")
    (tmp_path / "a.txt").write_text("About a.")
    harness("library", "add", tmp_path / "a.txt")
    lines = harness("library", "export").out.splitlines()
    exported = [PassageResponse.model_validate_json(line, strict=True) for line in lines]
    assert [each.text for each in exported] == [RESULT["body"], OTHER["body"], "About a."]
    assert json.loads(lines[0]).keys() == PassageResponse.model_fields.keys()
    (found, *_) = harness("library", "search", "retries", "--json").told["passages"]
    assert {name: found[name] for name in without_ages(json.loads(lines[0]))} == without_ages(json.loads(lines[0]))


# --- tokens, hostile texts, help


def test_a_reader_searches_and_changes_nothing(
    harness: Program, make: Callable[..., str], use: Callable[[str | None], None], tmp_path: Path
) -> None:
    """A reader sees the passages of its tenant. A writer adds, an admin forgets."""
    (tmp_path / "a.txt").write_text("Retries of the lab.")
    tokens = {role: make(role) for role in ("reader", "writer", "admin")}
    stranger = make("admin", "shop")
    use(tokens["writer"])
    assert harness("library", "add", tmp_path / "a.txt").code == 0
    (passage,) = harness("library", "search", "retries", "--json").told["passages"]
    assert harness("library", "forget", passage["url"], "--yes").code == 7
    use(tokens["reader"])
    for arguments in (["search", "retries"], ["stats"], ["show", passage["url"]], ["export"]):
        ended = harness("library", *arguments)
        assert ended.code == 0, ended
        assert "Retries of the lab." in ended.out or arguments == ["stats"]
    (tmp_path / "b.txt").write_text("Something new.")
    for arguments in (["add", str(tmp_path / "b.txt")], ["forget", passage["url"], "--yes"]):
        assert "role" in harness("library", *arguments).one_line_error(7)
    use(stranger)
    assert harness("library", "search", "retries").code == 1
    assert harness("library", "show", passage["url"]).code == 1
    assert harness("library", "export").out == ""
    assert "0 passages and 0 cached answers" in harness("library", "forget", passage["url"], "--yes").err
    use(tokens["admin"])
    assert harness("library", "stats", "--json").told["passages"] == 1
    assert harness("library", "forget", passage["url"], "--yes").code == 0
    assert harness("library", "stats", "--json").told["passages"] == 0


def test_nothing_of_it_acts_on_the_terminal(harness: Program) -> None:
    """Escape sequences, markup and direction overrides in passages are text, or gone."""
    with App(settings.load({}).settings) as app:
        app.cache.searches.put("retries", [{"title": NASTY, "href": f"https://e.org/{NASTY}", "body": f"{NASTY}\nx"}])
        document = ReadDocument(
            url="notes\x1b[2J of mine", title=NASTY, text=f"{NASTY} in a file", source="file",
            fetched_at=time.time(), expires_at=time.time() + DAY,
        )  # fmt: skip
        app.library.index.add(document)
    said = [harness("library", "search", "retries"), harness("library", "search", "retries", "--json")]
    (first, *_) = said[1].told["passages"]
    said += [harness("library", "show", first["url"]), harness("library", "export")]
    said += [harness("library", "show", "notes\x1b[2J of mine"), harness("library", "forget", "notes\x1b[2J of mine")]
    for each in said:
        for character in "\x1b\x07\u202e":
            assert character not in each.out + each.err, each
    assert "[bold red]" in said[0].out


def test_the_exported_lines_are_those_of_json(harness: Program, filled: None) -> None:
    """Every passage is one line, with any line ends in its text."""
    with App(settings.load({}).settings) as app:
        app.cache.searches.put("lines", [{**RESULT, "body": "One.\n\nTwo.\u2028Three.\x85Four."}])
    harness("library", "stats")
    out = harness("library", "export").out
    assert len([orjson.loads(line) for line in out.split("\n") if line]) == 3


def test_the_help_has_examples(harness: Program) -> None:
    """The group, `search` and `add` have examples; every command has help."""
    assert "harness library search" in harness("library", "--help").out
    assert "jq" in harness("library", "search", "--help").out
    assert "report.pdf" in harness("library", "add", "--help").out
    for command in COMMANDS:
        ended = harness("library", *command, "--help")
        assert ended.code == 0
        assert "--data-dir" in ended.out
