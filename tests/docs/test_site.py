"""The static site: built without a warning, searchable, and without a request to another host."""

import json
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docs.generate import pages
from docs.generators.root_pages import FILES
from tests.conftest import ROOT
from tests.docs.guides import DOCS, PAGES

pytestmark = pytest.mark.full

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "form": "action"}
"""Elements that make a browser send a request, and the attribute with the address."""


def build(sources: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as `make docs` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", site]
    return subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this working tree."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stderr
    return folder


class Requests(HTMLParser):
    """Addresses on other hosts that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the address of an element that is loaded."""
        address = dict(attrs).get(LOADED.get(tag, "")) or ""
        if address.startswith(("http:", "https:", "//")):
            self.foreign.append(address)


def test_every_page_is_in_the_site(site: Path) -> None:
    """Written and generated pages are there, the generators are not."""
    wanted = [*(str(page.relative_to(DOCS)) for page in PAGES), *pages()]
    for page in wanted:
        assert (site / page).with_suffix(".html" if page.endswith(".md") else ".json").is_file(), page
    assert not [path for path in site.rglob("*") if path.suffix in {".py", ".pyc"}]


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    """Fonts, scripts, styles and images come with the site."""
    for page in site.rglob("*.html"):
        parser = Requests()
        parser.feed(page.read_text(encoding="utf-8"))
        assert not parser.foreign, page
    for style in site.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8").replace('"', "").replace("'", "")


def test_a_foreign_request_would_be_seen() -> None:
    """The check above finds a font of another host."""
    parser = Requests()
    parser.feed('<link href="https://fonts.example.org/css"><a href="https://example.org/">a link is no request</a>')
    assert parser.foreign == ["https://fonts.example.org/css"]


@pytest.mark.parametrize("link", ["missing.md", "limits.md#missing"])
def test_a_broken_link_fails(tmp_path: Path, link: str) -> None:
    """A page or a heading that is not there is a warning, and a warning ends the build."""
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", *FILES):
        shutil.copy(ROOT / name, tmp_path)
    with (tmp_path / "docs" / "explanation" / "reuse.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[a link]({link})\n")
    built = build(tmp_path, tmp_path / "site")
    assert built.returncode == 1
    assert "missing" in built.stderr


@pytest.mark.parametrize("words", ["max_wrong_reuse", "offline_miss", "harness cache calibrate", "knowledge_write"])
def test_search_finds_the_reference(site: Path, words: str) -> None:
    """The index of the search has settings, errors, commands and tools."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert any(words in entry["title"] + entry["text"] for entry in index["docs"])
