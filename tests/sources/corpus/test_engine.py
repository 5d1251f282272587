"""Research over local text: real files of every kind, kept up to date, and never brought down by a bad one."""

import json
import logging
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.core.page_numbers import page_of
from harness.errors import EngineUnavailable, InvalidInput, StoreError
from harness.sources.corpus.corpus_index import CorpusIndex
from harness.sources.corpus.database import FILE_VERSION
from harness.sources.corpus.engine import Corpus, open_corpus
from harness.sources.corpus.local_documents import CorpusDocument, FileSource
from tests.sources.pages.pdf_documents import with_pages

Open = Callable[[Path], Corpus]

ARTICLE = """<!DOCTYPE html><html><head><title>Pomegranates at home</title></head><body>
<nav><a href="/">Home</a> <a href="/about">About our orchard site</a></nav>
<article><h1>Pomegranates at home</h1>
<p>A pomegranate grows in a pot if it stands in the sun for most of the day and is watered once a week.</p>
<p>In winter it loses its leaves, wants a cool and bright place, and needs hardly any water until spring.</p></article>
<footer>Copyright of the orchard</footer></body></html>"""

# made with pypdf and cryptography: AES-128 with a password
LOCKED_PDF = zlib.decompress(
    b64decode(
        "eNqNVD1rFEEYLoVBRP+ATBOtdGd251OOQExyKBoT7jRNsJjdfSeeXnbD3lxIRCy0kYAaQcVWW8VKEGzUQlAbEa0EP/CjEUQU"
        "u4g4e3fJHZyFu8sy7zMzzzPv14zMTFT30L0MjXz89OIVopjgPD6JKhUUzBR52k6gwBUAlXCdGhoRoIJwHidAw0SQmPBIAjFC"
        "Qqg00RQSy7SRUvGUJWFirNE2glE0OoogS0vmcEDh6Moi4GDGzEMLBeN5O3OYouBQI23hOcz8who+PrA1Gto6bpxp5vOoy4FL"
        "7hoKptuu2ci8LTt2n4D9UxsFU5A2zP582asS/woaYqlDr+0PlTnIXAvzLnUNWnm7SDx3yVH1s90BxWJDy3+etvC7eufp6/MB"
        "/cOQzbsTWItyvuUKMAuITv25PP9w7efp/NPN7V8vNG5cWXfVu4ceXjpy8fnxHU+vXT11b+e+2gf+7cquC/dfrj7bllz/unTn"
        "8d0Hq69/vVjfMnNm65vlz7+fLPx4dOvs07Nvb7/7eG5t7Pv63Nvzu9+rJx++lOfoSfVOJIYiUvqEgno7dh2zBH1O9psWdLwN"
        "DkBzCVwjMQN+yT5LH1QD1LOY+diVv57bNFQ+SpiFmmkhQx36GDaazhdbUHcmS02R+jziCkljrji3CY9CwYUGKbgmwheWYMD8"
        "duPLjKQCtBY2BatFBDrmRBGrgajI5+KYr18bQmRjAUwKZY2KozRlHBixQpuUy1DFloEHQHJlGBWMEG8La60hlCjPMl7tJLru"
        "0t5orO1OTC6VWQ4m8mR6EbJy0RQOxibrs2HfUbFRE3W3UMVdgtIoNo1+yJYLsIhgjcjmgwXnEccWb2LUV1FnJtvEKI2GMRkO"
        "YWEkh7BIDPNxSocxNYwJMqDhCtNoQtHJd71xGrwbQS3PHY66rXMwszmmvfGEb7VKIoQgRPoLwkQmJsANi5M4kcCUkJrJ0f9Z"
        "4pt0MkuKlUWH1Ua7tZwpXCeY/k5CIyOT01X0F1zAZ5Y="
    )
)


def quiet(what: str, done: int, total: int) -> None:
    """Take no note of progress."""


def pdf(text: str, stream_entries: str = "") -> bytes:
    """Return a whole small PDF whose one page shows `text`."""
    content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), stream_entries.encode(), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Title (The quince book) >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        out
        + b"xref\n0 7\n0000000000 65535 f \n%strailer\n<< /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (
            table,
            len(out),
        )
    )


def lines(*documents: object) -> str:
    """Return JSON Lines."""
    return "".join(json.dumps(document) + "\n" for document in documents)


def names(corpus: Corpus, query: str, max_results: int = 10) -> list[str]:
    """Return the last part of each result's address, best first."""
    return [result["href"].rsplit("/", 1)[-1] for result in corpus.search(query, max_results)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three notes."""
    folder = tmp_path / "notes"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "apples.md").write_text("# All about apples\n\nAn apple a day. Apples keep in a cool cellar.\n")
    (folder / "deep" / "pears.txt").write_text(
        "Pears\n\nA pear ripens after it was picked, and beside an apple faster.\n"
    )
    (folder / "deep" / "deeper" / "plums.rst").write_text("Plums\n=====\n\nPlums are dried to make prunes.\n")
    return folder


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Open a corpus with its index in the test's folder."""
    return lambda path: open_corpus(str(path), tmp_path / "indexes", quiet)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read, in order."""
    read, names_read = FileSource.read, list[str]()

    def noted(self: FileSource, part: str) -> Iterator[CorpusDocument]:
        names_read.append(Path(part).name)
        return read(self, part)

    monkeypatch.setattr(FileSource, "read", noted)
    return names_read


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return the warnings of all loggers so far."""
    return lambda: [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.fixture(scope="module")
def python_docs(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The bundled corpus."""
    return open_corpus("python-docs", tmp_path_factory.mktemp("bundled"), quiet)


# --- results


def test_results_have_title_href_and_body(folder: Path, opened: Open) -> None:
    """A result has the shape that DuckDuckGo's have; its address is that of the file."""
    assert opened(folder).search("prunes", 5) == [
        {
            "title": "Plums",
            "href": (folder / "deep" / "deeper" / "plums.rst").resolve().as_uri(),
            "body": "Plums are dried to make prunes.",
        }
    ]


def test_the_file_that_says_most_of_it_comes_first(folder: Path, opened: Open) -> None:
    """Ranking finds the file that is about the question, and then those that mention it."""
    assert names(opened(folder), "How do I keep apples?") == ["apples.md", "pears.txt"]


def test_other_forms_of_a_word_are_found(folder: Path, opened: Open) -> None:
    """A question's word meets its other forms in the text."""
    assert names(opened(folder), "ripening") == ["pears.txt"]


def test_accents_do_not_matter(folder: Path, opened: Open) -> None:
    """Café is found by cafe."""
    (folder / "cafe.md").write_text("The Café Müller.", encoding="utf-8")
    assert names(opened(folder), "cafe muller") == ["cafe.md"]


def test_no_more_results_than_asked_for(folder: Path, opened: Open) -> None:
    """At most `max_results` come back, the best of them."""
    assert names(opened(folder), "apple", 1) == ["apples.md"]


def test_nothing_found_is_an_empty_list(folder: Path, opened: Open) -> None:
    """A word that stands nowhere has no results."""
    assert opened(folder).search("zeppelin", 5) == []


def test_a_document_is_one_result_with_its_best_passages(tmp_path: Path, opened: Open) -> None:
    """However often a document matches, it is one result, its passages in the order of the text."""
    text = "\n\n".join(f"## Part {n}\n\nThe medlar number {n}. " + "It is a fruit. " * 60 for n in range(1, 9))
    (tmp_path / "medlar.md").write_text(text)
    [result] = opened(tmp_path / "medlar.md").search("medlar", 10)
    found = [n for n in range(1, 9) if f"number {n}." in result["body"]]
    assert len(found) == 3
    assert [result["body"].index(f"number {n}.") for n in found] == sorted(
        result["body"].index(f"number {n}.") for n in found
    )


def test_the_heading_of_a_passage_is_part_of_the_body(folder: Path, opened: Open) -> None:
    """A passage says under which heading it stands, and that heading's words find it."""
    (folder / "guide.md").write_text("# Guide\n\nIntroduction.\n\n## Grafting\n\nCut both twigs at an angle.\n")
    [result] = opened(folder).search("grafting", 5)
    assert result["title"] == "Guide"
    assert result["body"] == "## Grafting\n\nCut both twigs at an angle."


def test_a_long_document_does_not_crowd_out_the_others(tmp_path: Path, opened: Open) -> None:
    """A search for ten results with six matching documents returns six."""
    long = "\n\n".join(f"The sloe number {n} is a sloe of sloes. " + "More words follow. " * 50 for n in range(300))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "long.txt").write_text(long)
    for n in range(5):
        (tmp_path / "notes" / f"short{n}.txt").write_text("A note on a sloe. " + "It has other words, too. " * 30)
    assert len(opened(tmp_path / "notes").search("sloe", 10)) == 6


def test_control_characters_of_a_file_are_dropped(folder: Path, opened: Open) -> None:
    """Text from outside is cleaned where it comes in."""
    (folder / "odd.txt").write_text("Qui\u202ence\x1b[31m jam\x07 is red.", encoding="utf-8")
    [result] = opened(folder).search("jam", 5)
    assert result["body"] == result["title"] == "Quince[31m jam is red."


# --- kinds of files


def test_a_pdf_is_read_by_its_text_and_title(tmp_path: Path, opened: Open) -> None:
    """The text of a PDF is found, under the title that the file gives itself."""
    (tmp_path / "quince.pdf").write_bytes(pdf("The quince is too hard to eat raw."))
    assert opened(tmp_path / "quince.pdf").search("quince", 5) == [
        {
            "title": "The quince book",
            "href": (tmp_path / "quince.pdf").resolve().as_uri(),
            "body": "The quince is too hard to eat raw.",
            "page_starts": ((0, 1),),
        }
    ]


def test_passages_of_a_pdf_have_its_pages(tmp_path: Path, opened: Open) -> None:
    """Each begins on a separate page, wherever it is in the result; a file without pages has none."""
    (tmp_path / "notes").mkdir()
    texts = [f"On page {number} the medlar is soft. {'It is a fruit. ' * 60}" for number in range(1, 5)]
    (tmp_path / "notes" / "medlar.pdf").write_bytes(with_pages(*texts))
    (tmp_path / "notes" / "medlar.txt").write_text("A medlar is eaten when it is brown.")
    paged, plain = sorted(opened(tmp_path / "notes").search("medlar", 5), key=lambda each: "page_starts" not in each)
    found = [page_of(f"On page {number} the medlar", paged["body"], paged["page_starts"]) for number in range(1, 5)]
    assert [page for page in found if page] == [number for number in range(1, 5) if f"page {number} " in paged["body"]]
    assert sum(map(bool, found)) >= 3
    assert "page_starts" not in plain


def test_a_pdf_of_form_feeds_is_read_in_bounded_time(tmp_path: Path, opened: Open) -> None:
    """100,000 of them are white space, and make no pages."""
    (tmp_path / "quince.pdf").write_bytes(pdf("The quince is hard." + "\f" * 100_000 + " The quince is sour."))
    began = time.monotonic()
    [result] = opened(tmp_path / "quince.pdf").search("quince", 5)
    assert time.monotonic() - began < 20
    assert result["page_starts"] == ((0, 1),)


def test_an_html_page_is_read_by_its_article(tmp_path: Path, opened: Open) -> None:
    """Only the article of a web page is indexed, without menus and markup."""
    (tmp_path / "page.html").write_text(ARTICLE)
    corpus = opened(tmp_path / "page.html")
    [result] = corpus.search("pomegranate in winter", 5)
    assert result["title"] == "Pomegranates at home"
    assert "needs hardly any water until spring." in result["body"]
    assert "<" not in result["body"]
    assert corpus.search("copyright", 5) == []


def test_json_lines_are_documents(tmp_path: Path, opened: Open) -> None:
    """Each line of a .jsonl file is a document with title and URL."""
    (tmp_path / "d.jsonl").write_text(
        lines(
            {"id": 1, "title": "Figs", "text": "A fig is full of seeds.", "url": "https://example.org/figs"},
            {"id": "two", "title": "Dates", "text": "A date has one seed.", "url": "https://example.org/dates"},
        )
    )
    assert opened(tmp_path / "d.jsonl").search("fig", 5) == [
        {"title": "Figs", "href": "https://example.org/figs", "body": "A fig is full of seeds."}
    ]


def test_a_json_line_needs_only_a_text(tmp_path: Path, opened: Open) -> None:
    """Without title and address, a document is called by its beginning and found by its line."""
    (tmp_path / "d.jsonl").write_text("\n" + lines({"text": "A fig is full of seeds."}))
    assert opened(tmp_path / "d.jsonl").search("fig", 5) == [
        {
            "title": "A fig is full of seeds.",
            "href": f"{(tmp_path / 'd.jsonl').resolve().as_uri()}#L2",
            "body": "A fig is full of seeds.",
        }
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_older_encodings_are_read(folder: Path, opened: Open, encoding: str) -> None:
    """Notes saved as UTF-8, UTF-16 or Latin-1 say the same."""
    text = "Äpfel für später."
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    (folder / "german.txt").write_bytes(mark + text.encode(encoding))
    [result] = opened(folder).search("später", 5)
    assert result["body"] == text


def test_suffixes_are_read_in_any_case(folder: Path, opened: Open) -> None:
    """NOTES.MD is a Markdown file, too."""
    (folder / "NOTES.MD").write_text("Loquats ripen in May.")
    assert names(opened(folder), "loquat") == ["NOTES.MD"]


def test_hidden_and_other_files_are_left_alone(
    folder: Path, opened: Open, reads: list[str], warned: Callable[[], list[str]]
) -> None:
    """Hidden files and other file types are skipped without a warning."""
    (folder / ".git").mkdir()
    (folder / ".git" / "notes.md").write_text("apple")
    (folder / ".hidden.md").write_text("apple")
    (folder / "program.py").write_text("apple = 1")
    opened(folder)
    assert sorted(reads) == ["apples.md", "pears.txt", "plums.rst"]
    assert warned() == []


# --- kept up to date


def test_an_unchanged_folder_is_not_read_again(folder: Path, opened: Open, reads: list[str]) -> None:
    """The second time costs no file."""
    opened(folder)
    reads.clear()
    opened(folder)
    assert reads == []


def test_only_a_changed_file_is_read_again(folder: Path, opened: Open, reads: list[str]) -> None:
    """A change costs one file, and what stood there before is gone."""
    opened(folder)
    reads.clear()
    (folder / "apples.md").write_text("# Oranges now\n\nAn orange is peeled.\n")
    corpus = opened(folder)
    assert reads == ["apples.md"]
    assert names(corpus, "orange") == ["apples.md"]
    assert names(corpus, "cellar") == []


def test_a_new_file_is_added(folder: Path, opened: Open, reads: list[str]) -> None:
    """A new note costs one file."""
    opened(folder)
    reads.clear()
    (folder / "deep" / "cherries.md").write_text("Cherries have stones.")
    assert names(opened(folder), "cherry stones") == ["cherries.md"]
    assert reads == ["cherries.md"]


def test_a_removed_file_vanishes(folder: Path, opened: Open, reads: list[str]) -> None:
    """Removed files are no longer found, without indexing again."""
    opened(folder)
    reads.clear()
    (folder / "apples.md").unlink()
    assert names(opened(folder), "apple") == ["pears.txt"]
    assert reads == []


def test_an_open_corpus_of_which_all_is_gone_is_refused(folder: Path, opened: Open) -> None:
    """A folder that was emptied has nothing to read, index or not."""
    opened(folder)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.unlink()
    with pytest.raises(InvalidInput, match="nothing to read"):
        opened(folder)


def test_the_version_changes_with_the_content(folder: Path, opened: Open) -> None:
    """Another text is another corpus: cached results of the old one do not answer."""
    before = opened(folder).options
    (folder / "apples.md").write_text("# All about apples\n\nAn apple a week.\n")
    after = opened(folder).options
    assert before["version"] != after["version"]
    assert before["corpus"] == after["corpus"] == str(folder.resolve())


def test_a_mere_touch_leaves_the_version(folder: Path, opened: Open) -> None:
    """A copy or a checkout with other times is the same corpus."""
    before = opened(folder).options
    for path in folder.rglob("*"):
        os.utime(path, ns=(1, 1))
    assert opened(folder).options == before


def test_content_that_comes_back_brings_its_version_back(folder: Path, opened: Open) -> None:
    """The version depends on the text, not on its history."""
    before, text = opened(folder).options, (folder / "apples.md").read_text()
    (folder / "apples.md").write_text("Something else for a while.")
    opened(folder)
    (folder / "apples.md").write_text(text)
    assert opened(folder).options == before


def test_the_version_does_not_depend_on_the_index(folder: Path, tmp_path: Path) -> None:
    """Two machines with the same files have the same version."""
    versions = {open_corpus(str(folder), tmp_path / name, quiet).options["version"] for name in ("one", "two")}
    assert len(versions) == 1


def test_an_interrupted_update_goes_on_where_it_stopped(folder: Path, tmp_path: Path, reads: list[str]) -> None:
    """Ctrl-C loses no file that was already indexed."""

    def interrupted(what: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_corpus(str(folder), tmp_path / "indexes", interrupted)
    assert len(reads) == 2
    corpus = open_corpus(str(folder), tmp_path / "indexes", quiet)
    assert sorted(reads) == ["apples.md", "pears.txt", "plums.rst"]
    assert len(names(corpus, "apple plum pear")) == 3


def test_progress_counts_up_to_the_end(folder: Path, tmp_path: Path) -> None:
    """Progress goes from 0 to the number of changed files."""
    told: list[tuple[str, int, int]] = []
    open_corpus(str(folder), tmp_path / "indexes", lambda *step: told.append(step))
    assert [(done, total) for _, done, total in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert all(str(folder.resolve()) in what for what, _, _ in told)


def test_progress_within_a_large_file_stays_below_the_end(tmp_path: Path) -> None:
    """Progress within a file of many documents never exceeds the total and ends at it."""
    told: list[tuple[int, int]] = []
    (tmp_path / "d.jsonl").write_text(lines(*({"text": f"Text number {n}."} for n in range(600))))
    open_corpus(str(tmp_path / "d.jsonl"), tmp_path / "indexes", lambda _, done, total: told.append((done, total)))
    assert told == [(0, 1), (0, 1), (0, 1), (1, 1)]


def test_an_up_to_date_corpus_tells_no_progress(folder: Path, opened: Open, tmp_path: Path) -> None:
    """Without work there is no progress bar."""
    opened(folder)
    told: list[object] = []
    open_corpus(str(folder), tmp_path / "indexes", lambda *step: told.append(step))
    assert told == []


def test_corpora_of_the_same_name_do_not_meet(tmp_path: Path, opened: Open) -> None:
    """Two folders called notes have an index each."""
    for owner in ("ann", "bob"):
        (tmp_path / owner / "notes").mkdir(parents=True)
        (tmp_path / owner / "notes" / f"{owner}.md").write_text(f"A note of {owner}.")
    ann, bob = opened(tmp_path / "ann" / "notes"), opened(tmp_path / "bob" / "notes")
    assert names(ann, "note") == ["ann.md"]
    assert names(bob, "note") == ["bob.md"]


# --- the bundled corpus


def test_the_bundled_corpus_knows_attribute_access(python_docs: Corpus) -> None:
    """The demo's question finds the topic that answers it."""
    question = "In which order does Python look up an attribute on an instance?"
    assert "pydoc:attribute-access" in [r["href"] for r in python_docs.search(question, 5)]


def test_the_bundled_corpus_is_deterministic(python_docs: Corpus, tmp_path: Path) -> None:
    """Another index of the same interpreter gives the same version and the same results in the same order."""
    again = open_corpus("python-docs", tmp_path, quiet)
    assert again.options == python_docs.options
    for query in ("attribute", "with statement context manager", "try except finally", "lambda"):
        assert again.search(query, 10) == python_docs.search(query, 10) == python_docs.search(query, 10)


def test_the_bundled_corpus_has_no_path_in_its_options(python_docs: Corpus) -> None:
    """Its key is the same on every machine with this interpreter."""
    assert python_docs.options["corpus"] == "python-docs"


# --- arguments that name no corpus


def test_no_argument_is_refused_with_both_forms(tmp_path: Path) -> None:
    """`--engine corpus` alone is answered by what may follow."""
    with pytest.raises(InvalidInput, match=r"corpus:python-docs or --engine corpus:PATH"):
        open_corpus("", tmp_path, quiet)


@pytest.mark.parametrize("argument", ["nowhere", "/nowhere/at/all", "a\0b", "~no-such-user-here/notes", "x" * 5_000])
def test_a_missing_path_is_refused(tmp_path: Path, argument: str) -> None:
    """A missing path is an error that names it."""
    with pytest.raises(InvalidInput, match="no such corpus"):
        open_corpus(argument, tmp_path, quiet)


def test_a_missing_path_is_told_with_where_we_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is shown whole, with what to do."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=r"no such corpus: notes .*looked for /.*/notes.*pass corpus:PATH"):
        open_corpus("notes", tmp_path, quiet)


def test_the_home_folder_may_be_written_as_a_tilde(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`corpus:~/notes` works where no shell has expanded it."""
    monkeypatch.setenv("HOME", str(folder.parent))
    assert open_corpus("~/notes", tmp_path / "indexes", quiet).options["corpus"] == str(folder.resolve())


@pytest.mark.parametrize("content", [{}, {"program.py": "x = 1"}, {"empty.md": "", "blank.txt": " \n\n"}])
def test_a_folder_with_nothing_to_read_is_refused(tmp_path: Path, opened: Open, content: dict[str, str]) -> None:
    """An empty corpus says which files it would read."""
    (tmp_path / "notes").mkdir()
    for name, text in content.items():
        (tmp_path / "notes" / name).write_text(text)
    with pytest.raises(InvalidInput, match=r"nothing to read in .*notes; put .*\.md .*\.jsonl files there"):
        opened(tmp_path / "notes")


def test_a_file_of_another_kind_is_refused(tmp_path: Path, opened: Open) -> None:
    """A spreadsheet is no corpus; the kinds that are one are named."""
    (tmp_path / "table.xlsx").write_bytes(b"PK")
    with pytest.raises(InvalidInput, match=r"table\.xlsx is not a corpus: a file must be one of \.md .*\.jsonl"):
        opened(tmp_path / "table.xlsx")


def test_an_index_folder_that_cannot_be_made_is_a_store_error(folder: Path, tmp_path: Path) -> None:
    """If the index cannot be stored, the message says what to change."""
    (tmp_path / "indexes").write_text("a file, where a folder should be")
    with pytest.raises(StoreError, match="choose another --data-dir"):
        open_corpus(str(folder), tmp_path / "indexes", quiet)


# --- unreadable files inside a corpus


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("binary.txt", bytes(range(256)) * 10),
        ("zeros.md", b"text\0\0\0text"),
        ("half.rst", b"\xff\xfea\0b"),
        ("broken.pdf", b"%PDF-1.4\nthis is no PDF"),
        ("empty.pdf", b""),
        ("cut.pdf", pdf("The quince is too hard to eat raw.")[:200]),
        ("filter.pdf", pdf("The quince", "/Filter /NoSuchDecode")),
        ("locked.pdf", LOCKED_PDF),
        ("scan.pdf", pdf("")),
        ("empty.html", b""),
    ],
)
def test_an_unreadable_file_is_named_once_and_the_others_are_indexed(
    folder: Path, opened: Open, warned: Callable[[], list[str]], name: str, content: bytes
) -> None:
    """One bad file costs one warning that names it, and nothing else."""
    (folder / name).write_bytes(content)
    assert names(opened(folder), "apple pear plum") != []
    [warning] = warned()
    assert warning.startswith(f"skipped {folder.resolve() / name}: ")
    assert warning.endswith("; fix or remove it")


def test_a_dangling_link_is_named_once(folder: Path, opened: Open, warned: Callable[[], list[str]]) -> None:
    """A link to nothing is skipped with a warning."""
    (folder / "gone.md").symlink_to(folder / "no-such-file.md")
    assert len(names(opened(folder), "apple pear plum")) == 3
    [warning] = warned()
    assert str(folder.resolve() / "gone.md") in warning


def test_a_link_that_leads_to_itself_is_named_once(folder: Path, opened: Open, warned: Callable[[], list[str]]) -> None:
    """A circle of links ends in a warning."""
    (folder / "circle.md").symlink_to(folder / "circle.md")
    assert len(names(opened(folder), "apple pear plum")) == 3
    [warning] = warned()
    assert str(folder.resolve() / "circle.md") in warning


def test_a_file_that_fails_while_it_is_read_is_named_once(
    folder: Path, opened: Open, warned: Callable[[], list[str]]
) -> None:
    """An error of the disk ends in a warning."""
    (folder / "memory.md").symlink_to("/proc/self/mem")  # its first byte cannot be read: EIO
    assert len(names(opened(folder), "apple pear plum")) == 3
    [warning] = warned()
    assert "memory.md" in warning


def test_a_pipe_in_the_folder_does_not_hang(folder: Path, opened: Open, warned: Callable[[], list[str]]) -> None:
    """Other than regular files are skipped with a warning: reading a pipe would wait for ever."""
    pipe = folder / "pipe.txt"
    os.mkfifo(pipe)
    thread = threading.Thread(target=opened, args=(folder,), daemon=True)
    thread.start()
    thread.join(timeout=3)
    hung = thread.is_alive()
    if hung:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))  # lets the reader go on
        thread.join(timeout=10)
    assert not hung
    [warning] = warned()
    assert str(pipe.resolve()) in warning


def test_a_file_that_vanishes_meanwhile_is_skipped(
    folder: Path, tmp_path: Path, warned: Callable[[], list[str]]
) -> None:
    """A note deleted between listing and reading costs a warning."""

    def deleting(what: str, done: int, total: int) -> None:
        (folder / "deep" / "pears.txt").unlink(missing_ok=True)

    corpus = open_corpus(str(folder), tmp_path / "indexes", deleting)
    assert sorted(names(corpus, "apple pear plum")) == ["apples.md", "plums.rst"]
    [warning] = warned()
    assert "pears.txt" in warning


def test_a_file_name_that_is_no_text_is_named_once(folder: Path, opened: Open, warned: Callable[[], list[str]]) -> None:
    """A name in another encoding cannot be cited; it is skipped with a warning."""
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md")).write_text("apple")
    assert len(names(opened(folder), "apple pear plum")) == 3
    [warning] = warned()
    assert "caf\ufffd.md" in warning


def test_a_folder_name_that_is_no_text_is_named_once(
    folder: Path, opened: Open, warned: Callable[[], list[str]]
) -> None:
    """Files in a folder with such a name are skipped, too, and the rest is indexed."""
    inner = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9"))
    inner.mkdir()
    (inner / "inner.md").write_text("apple")
    assert len(names(opened(folder), "apple pear plum")) == 3
    [warning] = warned()
    assert "caf\ufffd" in warning


def test_a_corpus_whose_own_name_is_no_text_is_refused(folder: Path, opened: Open) -> None:
    """A path in another encoding is an error of ours, not of a library."""
    root = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9"))
    root.mkdir()
    (root / "inner.md").write_text("apple")
    with pytest.raises(InvalidInput):
        opened(root)


def test_a_mended_file_is_indexed(folder: Path, opened: Open) -> None:
    """A file that was unreadable and is replaced is read the next time."""
    (folder / "quince.pdf").write_bytes(b"broken")
    opened(folder)
    (folder / "quince.pdf").write_bytes(pdf("The quince is too hard to eat raw."))
    assert names(opened(folder), "quince") == ["quince.pdf"]


def test_a_file_whose_permissions_are_mended_is_indexed(tmp_path: Path) -> None:
    """`chmod` changes neither size nor time of a file, and yet it is read the next time."""
    program = """
import os, sys
from pathlib import Path
from harness.sources.corpus.engine import open_corpus
base = Path(sys.argv[1])
for name in ("warm-up", "notes"):
    (base / name).mkdir()
    (base / name / "open.md").write_text("pears")
secret = base / "notes" / "secret.md"
secret.write_text("apples")
secret.chmod(0)
def found(folder):
    return len(open_corpus(str(base / folder), base / "indexes", lambda *step: None).search("apples", 5))
found("warm-up")  # imports what will be needed
(base / "indexes").chmod(0o777)
root = os.geteuid() == 0
if root:
    os.seteuid(65534)  # permissions do not bind the superuser
before = found("notes")
if root:
    os.seteuid(0)
secret.chmod(0o644)
if root:
    os.seteuid(65534)
print(before, found("notes"))
if root:
    os.seteuid(0)
"""
    with tempfile.TemporaryDirectory() as base:  # tmp_path lies under a folder that only its owner may enter
        Path(base).chmod(0o777)
        done = subprocess.run([sys.executable, "-c", program, base], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"]


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[1, 2]",
        '"text"',
        "5",
        "null",
        "{}",
        '{"title": "no text"}',
        '{"text": null}',
        '{"text": "\\ud800"}',
    ],
)
def test_a_bad_line_is_told_with_its_number(
    tmp_path: Path, opened: Open, warned: Callable[[], list[str]], line: str
) -> None:
    """A line that is no document is reported with its number; the lines around it are indexed."""
    file = tmp_path / "d.jsonl"
    file.write_text(lines({"text": "apples"}) + "\n" + line + "\n" + lines({"text": "more apples"}))
    assert len(opened(file).search("apples", 5)) == 2
    [warning] = warned()
    assert "the first is line 3" in warning
    assert str(file.resolve()) in warning


def test_many_bad_lines_are_one_warning(tmp_path: Path, opened: Open, warned: Callable[[], list[str]]) -> None:
    """A file of the wrong format fills no screen: the lines are counted."""
    file = tmp_path / "d.jsonl"
    file.write_text(lines({"text": "apples"}) + "not json\n" * 1_000)
    opened(file)
    [warning] = warned()
    assert "1000 lines" in warning


def test_an_incomplete_last_line_is_reported(tmp_path: Path, opened: Open, warned: Callable[[], list[str]]) -> None:
    """A file that was cut off while it was written loses its last line only."""
    file = tmp_path / "d.jsonl"
    file.write_text(lines({"text": "apples"}, {"text": "apples"})[:-5])
    assert len(opened(file).search("apples", 5)) == 1
    [warning] = warned()
    assert "line 2" in warning


# --- queries


@pytest.mark.parametrize(
    "query",
    [
        '" OR *',
        '"',
        "NEAR(",
        "NEAR(apple pear, 2)",
        "a AND NOT",
        "NOT",
        "OR OR OR",
        "-x",
        "*",
        "apple*",
        "^apple",
        "title:apple",
        "{title section} : apple",
        "apple + pear",
        "')); DROP TABLE words; --",
        "🦄",
        "👩\u200d🔬 🦄",
        "_",
        "___",
        "'",
        "don't",
        "²",
        "\u0301",
        "\U000e0001",
        "?!…",
        "\\",
        "%",
        "a" * 10_000,
        "word " * 2_000,
    ],
)
def test_an_odd_query_never_raises(folder: Path, opened: Open, query: str) -> None:
    """No operator, quote or symbol of a query is more than a word to look for."""
    assert isinstance(opened(folder).search(query, 5), list)


def test_an_operator_in_a_query_is_a_word(folder: Path, opened: Open) -> None:
    """`NOT` excludes nothing: a query is a question, not a program."""
    assert names(opened(folder), "prunes NOT plums") == ["plums.rst"]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=30), st.text(alphabet="aB\"'’*^(){}:+-_~\\|&,. \u0301²ª", max_size=30)))
@example("a’b 'c")
def test_no_query_raises(python_docs: Corpus, query: str) -> None:
    """Any query returns a list of at most `max_results` results."""
    assert len(python_docs.search(query, 3)) <= 3


def test_a_question_of_function_words_only_is_still_searched(python_docs: Corpus) -> None:
    """`with` and `not` are function words of English and topics of Python."""
    assert python_docs.search("with", 3) != []


# --- a damaged index


def damage_all(index: Path) -> None:
    """Replace the whole file."""
    index.write_bytes(b"this is not a database " * 500)


def damage_end(index: Path) -> None:
    """Cut off the second half."""
    os.truncate(index, index.stat().st_size // 2)


def damage_middle(index: Path) -> None:
    """Overwrite all but the first page."""
    data = index.read_bytes()
    index.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))


def damage_tables(index: Path) -> None:
    """Leave a sound database of the right version without its tables."""
    index.unlink()
    connection = sqlite3.connect(index)
    connection.execute(f"PRAGMA user_version = {FILE_VERSION}")
    connection.close()


def damage_version(index: Path) -> None:
    """Leave an index of another version of the program."""
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize("damage", [damage_all, damage_end, damage_middle, damage_tables, damage_version])
def test_a_damaged_or_older_index_is_rebuilt(
    folder: Path, opened: Open, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """The index is a copy: whatever happened to it, the corpus opens, with the same version and results."""
    for n in range(30):
        (folder / f"filler{n}.md").write_text(f"# Filler {n}\n\n" + " ".join(f"word{n}x{k}" for k in range(100)))
    before = opened(folder)
    options, results = before.options, before.search("apple pear plum", 5)
    [index] = (tmp_path / "indexes").glob("*.db")
    damage(index)
    after = opened(folder)
    assert after.options == options
    assert after.search("apple pear plum", 5) == results


def test_a_new_index_leaves_nothing_beside_it(folder: Path, opened: Open, tmp_path: Path) -> None:
    """An open corpus whose index was damaged has one index again, and no half of one, even if that was interrupted."""
    for n in range(30):
        (folder / f"filler{n}.md").write_text(f"# Filler {n}\n\n" + " ".join(f"word{n}x{k}" for k in range(100)))
    interrupting: list[bool] = []

    def progress(what: str, done: int, total: int) -> None:
        if interrupting and done == 5:
            raise KeyboardInterrupt

    corpus = open_corpus(str(folder), tmp_path / "indexes", progress)
    results = corpus.search("apple pear plum", 5)
    [index] = (tmp_path / "indexes").iterdir()
    damage_middle(index)
    interrupting.append(True)
    with pytest.raises(KeyboardInterrupt):
        corpus.search("apple pear plum", 5)
    interrupting.clear()
    assert corpus.search("apple pear plum", 5) == results
    assert list((tmp_path / "indexes").iterdir()) == [index]


# --- at the same time


def test_two_processes_may_index_the_same_corpus(folder: Path, tmp_path: Path) -> None:
    """Two processes that open a new corpus at once both succeed, and agree."""
    for n in range(30):
        (folder / f"filler{n}.md").write_text(f"# Filler {n}\n\nAn apple number {n}.")
    program = """
import sys
from pathlib import Path
from harness.sources.corpus.engine import open_corpus
corpus = open_corpus(sys.argv[1], Path(sys.argv[2]), lambda *step: None)
print(corpus.options["version"], len(corpus.search("apple", 50)))
"""
    command = [sys.executable, "-c", program, str(folder), str(tmp_path / "indexes")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "ab"]
    told = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    assert told[0] == told[1]
    assert told[0][0].split()[1] == "32"


def test_threads_may_index_the_same_corpus(folder: Path, tmp_path: Path) -> None:
    """Threads that open a new corpus at once all succeed, and agree."""
    gate = threading.Barrier(4)
    outcomes: list[object] = []

    def index() -> None:
        gate.wait()
        try:
            corpus = open_corpus(str(folder), tmp_path / "indexes", quiet)
            outcomes.append((corpus.options["version"], len(corpus.search("apple pear plum", 9))))
        except Exception as error:  # noqa: BLE001 - the test reports any exception
            outcomes.append(error)

    threads = [threading.Thread(target=index) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(outcomes)) == 1, outcomes
    assert outcomes[0][1] == 3  # type: ignore[index]


def test_opening_waits_while_another_process_makes_the_index(tmp_path: Path) -> None:
    """A lock held for a moment is waited for, from the first statement on."""
    path = tmp_path / "new.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    other.execute("CREATE TABLE parts (part)")

    def let_go() -> None:
        time.sleep(0.3)
        other.execute("ROLLBACK")
        other.close()

    thread = threading.Thread(target=let_go)
    thread.start()
    try:
        assert CorpusIndex(path).version() == ""
    finally:
        thread.join()


def test_a_search_goes_on_while_another_process_writes(folder: Path, opened: Open, tmp_path: Path) -> None:
    """Readers do not wait for a writer."""
    corpus = opened(folder)
    [index] = (tmp_path / "indexes").glob("*.db")
    writer = sqlite3.connect(index, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        assert names(corpus, "prunes") == ["plums.rst"]
    finally:
        writer.execute("ROLLBACK")
        writer.close()


def test_a_corpus_that_changed_under_a_search_is_no_answer(folder: Path, opened: Open) -> None:
    """Results of another text than the key names would be cached as its answer: an error says to run again."""
    before = opened(folder)
    (folder / "more.md").write_text("# More\n\nAn apple, a pear and a plum that were not there.")
    opened(folder)
    with pytest.raises(EngineUnavailable, match="try again"):
        before.search("apple pear plum", 5)


def test_threads_that_meet_a_damaged_index_all_get_the_whole_answer(folder: Path, opened: Open, tmp_path: Path) -> None:
    """One of them rebuilds it; none searches a half-built index."""
    for n in range(30):
        (folder / f"filler{n}.md").write_text(f"# Filler {n}\n\n" + " ".join(f"word{n}x{k}" for k in range(100)))
    corpus = opened(folder)
    results = corpus.search("apple pear plum", 5)
    [index] = (tmp_path / "indexes").glob("*.db")
    damage_middle(index)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: corpus.search("apple pear plum", 5), range(16)))
    assert all(each == results for each in found)
