"""Links within the project: each leads to a file, and to a heading in it."""

import re
from pathlib import Path

import pytest

from docs.generate import pages
from tests.docs.guides import AT_THE_ROOT, DOCS, PAGES, ROOT

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]+)\)|!\[[^\]]*\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
WRITTEN = [*AT_THE_ROOT, *PAGES, *sorted((ROOT / "benchmarks").glob("*.md")), *sorted((ROOT / ".github").glob("*.md"))]


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site write them."""
    headings = _HEADING.findall(_FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def targets(text: str) -> list[str]:
    """Return what the links and images of a page lead to, those to other sites aside."""
    found = [link or image for link, image in _LINK.findall(_FENCE.sub("", text))]
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def problem(page: Path, target: str) -> str | None:
    """Return what is wrong with a link, or `None`."""
    path, _, anchor = target.partition("#")
    at = (page.parent / path).resolve() if path else page
    if at.is_relative_to(DOCS) and (generated := pages().get(str(at.relative_to(DOCS)))) is not None:
        text = generated
    elif at.exists():
        text = at.read_text(encoding="utf-8") if at.suffix == ".md" else ""
    else:
        return f"no file {target}"
    return f"no heading {target}" if anchor and at.suffix == ".md" and anchor not in anchors(text) else None


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    """A renamed page or heading fails here, without building the site."""
    for target in targets(page.read_text(encoding="utf-8")):
        assert problem(page, target) is None


def test_a_broken_link_is_found() -> None:
    """The check above can fail, for a page, a heading and an image."""
    page = DOCS / "index.md"
    assert targets("[a](no.md), ![b](no.png), [c](https://example.org)\n```\n[d](no.md)\n```\n") == ["no.md", "no.png"]
    assert problem(page, "no.md") == "no file no.md"
    assert problem(page, "explanation/limits.md#no") == "no heading explanation/limits.md#no"
    assert problem(page, "reference/settings.md#no-such") == "no heading reference/settings.md#no-such"
    assert problem(page, "explanation/limits.md#reuse") is None
    assert problem(page, "reference/settings.md#max_wrong") is None
