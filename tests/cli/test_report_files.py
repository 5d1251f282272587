"""Files of reports: their form, by suffix or flag, and that they are written as a whole or not at all."""

import errno
import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import bibtexparser  # type: ignore[import-untyped]
import docx
import pytest
from bibtexparser.bparser import BibTexParser  # type: ignore[import-untyped]
from pypdf import PdfReader

from harness import settings
from harness.app import App
from harness.core.text import clean, one_line
from tests.cli.hostile import HOSTILE, fill
from tests.cli.hostile import RUN as HOSTILE_RUN
from tests.cli.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::Warning:bibtexparser", "ignore::Warning:pyparsing")

RUN = "20261122-101500-aaaaaa"
QUESTION = "What is bread?"
PAPER = {
    "number": 1, "title": "On bread", "url": "https://doi.org/10.1000/1", "authors": "Ada Lovelace", "date": "1843",
    "doi": "10.1000/1",
}  # fmt: skip
OLD = "an old report"


def keep(run: str = RUN, *, sentence: str = "Bread is baked.", **more: object) -> None:
    """Keep the record of a finished run with one sentence."""
    citation = {
        "section": "Answer", "paragraph": 0, "sentence": sentence, "quotation": sentence, "number": 1,
        "url": PAPER["url"], "similarity": 0.9, "verified": True,
    }  # fmt: skip
    record = {
        "question": QUESTION, "engines": [{"name": "ddgs"}], "uses": [], "state": "finished", "sources": [PAPER],
        "report": {"title": QUESTION, "citations": [citation], "sources": [PAPER]}, **more,
    }  # fmt: skip
    with App(settings.load({}).settings) as app:
        app.cache.runs.put(run, QUESTION, "ddgs", record)


def parsed(file: Path) -> list[dict[str, str]]:
    """Return the entries of a BibTeX file."""
    parser = BibTexParser(ignore_nonstandard_types=False)
    entries: list[dict[str, str]] = bibtexparser.loads(file.read_text(), parser).entries
    return entries


def is_form(form: str, content: bytes) -> bool:
    """Return whether the content of a file has a form, and the report or its source in it."""
    beginnings = {
        "markdown": b'---\nquestion: "What is bread?"\n',
        "html": b"<!doctype html>",
        "bib": b"@article{lovelace1843on,\n  title = {On bread},\n",
    }
    match form:
        case "json":
            return bool(json.loads(content)["run"] == RUN)
        case "csl":
            return [item["id"] for item in json.loads(content)] == ["lovelace1843on"]
        case "docx":
            return docx.Document(io.BytesIO(content)).paragraphs[0].text == QUESTION
        case "pdf":
            return QUESTION in PdfReader(io.BytesIO(content)).pages[0].extract_text()
        case _:
            return content.startswith(beginnings[form])


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.md", "markdown"),
        ("a", "markdown"),
        ("a.txt", "markdown"),
        ("json", "markdown"),
        ("a.html", "html"),
        ("a.htm", "html"),
        ("a.HTML", "html"),
        ("a.json", "json"),
        ("a.bib.json", "json"),
        ("a.csl.json", "csl"),
        ("a.CSL.JSON", "csl"),
        ("a.bib", "bib"),
        ("a.docx", "docx"),
        ("a.Docx", "docx"),
        ("a.pdf", "pdf"),
        ("a.PDF", "pdf"),
        ("a.pdf.md", "markdown"),
    ],
)
def test_the_suffix_chooses_the_form(harness: Program, tmp_path: Path, name: str, form: str) -> None:
    """In any case of its letters; nothing is printed."""
    keep()
    ended = harness("show", "-o", tmp_path / name)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert is_form(form, (tmp_path / name).read_bytes())


@pytest.mark.parametrize("flag", ["html", "json"])
@pytest.mark.parametrize("name", ["a.md", "a.html", "a.json", "a"])
def test_a_flag_forces_its_form(harness: Program, tmp_path: Path, flag: str, name: str) -> None:
    """Also for a file whose suffix names another text form."""
    keep()
    assert harness("show", f"--{flag}", "-o", tmp_path / name).code == 0
    assert is_form(flag, (tmp_path / name).read_bytes())


@pytest.mark.parametrize("flag", ["html", "json"])
@pytest.mark.parametrize("suffix", [".docx", ".pdf", ".bib", ".csl.json"])
def test_a_flag_and_another_form_conflict(harness: Program, tmp_path: Path, flag: str, suffix: str) -> None:
    """The error says what to do; nothing is written, and no research begins."""
    keep()
    file = tmp_path / f"a{suffix.upper()}"
    wanted = f"error: --{flag} does not write a {suffix} file; leave out --{flag}, or name a .{flag} file with --output"
    assert harness("show", f"--{flag}", "-o", file).one_line_error(2) == wanted
    assert harness("research", "x", f"--{flag}", "-o", file, "-e", "corpus:none").one_line_error(2) == wanted
    assert not file.exists()


def test_a_research_writes_every_form(harness: Program, notes: str, tmp_path: Path) -> None:
    """The first run and `show` of it write the same bytes where no date is in them."""
    question = ("How do retries use exponential backoff?", "-e", notes, "-q")
    for name in ("a.docx", "a.pdf", "a.bib", "a.csl.json", "a.json", "a.html"):
        ended = harness("research", *question, "-o", tmp_path / name)
        assert (ended.code, ended.out) == (0, ""), ended
    document = docx.Document(str(tmp_path / "a.docx"))
    assert "exponential backoff and stop after five failed attempts." in "\n".join(p.text for p in document.paragraphs)
    assert "exponential backoff" in PdfReader(tmp_path / "a.pdf").pages[0].extract_text()
    harness("show", "-o", tmp_path / "b.bib")
    assert (tmp_path / "b.bib").read_bytes() == (tmp_path / "a.bib").read_bytes() != b""


@pytest.mark.parametrize("suffix", ["docx", "pdf", "bib", "csl.json"])
def test_only_text_forms_are_verified(harness: Program, tmp_path: Path, suffix: str) -> None:
    """The error of `verify` names the forms that it reads."""
    keep()
    file = tmp_path / f"a.{suffix}"
    assert harness("show", "-o", file).code == 0
    assert "only .json, .md and .html files can be verified" in harness("verify", file).one_line_error(2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.docx", "a.pdf", "a.bib", "a.csl.json"])
def test_hostile_text_is_written_as_text(harness: Program, tmp_path: Path, name: str) -> None:
    """Whatever an agent stored, each form is readable, and no character of it acts."""
    fill()
    file = tmp_path / name
    assert harness("show", HOSTILE_RUN, "-o", file).code == 0
    shown = clean(one_line(HOSTILE), 1_000)
    match file.suffix:
        case ".docx":
            texts = [part.text for part in docx.Document(str(file)).paragraphs]
            assert texts[0] == shown
        case ".pdf":
            reader = PdfReader(file)
            assert reader.metadata is not None
            assert "gpj.exe" in str(reader.metadata.title)
            assert "\x1b" not in reader.pages[0].extract_text()
        case ".bib":
            (entry,) = parsed(file)
            assert set(entry) == {"ENTRYTYPE", "ID", "title", "url", "urldate"}
            assert "gpj.exe" in entry["title"]
        case _:
            assert json.loads(file.read_text())[0]["title"] == shown


@pytest.mark.parametrize(("suffix", "error"), [("docx", 0), ("html", 0), ("md", 0), ("pdf", 2)])
def test_text_that_a_pdf_cannot_show_is_refused_there(
    harness: Program, tmp_path: Path, suffix: str, error: int
) -> None:
    """Other forms have it; the old PDF stays."""
    keep(sentence="面包是烤的。")
    file = tmp_path / f"a.{suffix}"
    file.write_text(OLD)
    ended = harness("show", "-o", file)
    assert ended.code == error
    assert (file.read_bytes() == OLD.encode()) == bool(error)
    if error:
        line = ended.one_line_error(2)
        assert "write a .docx or .html file" in line
        assert f"harness show {RUN} -o report.docx" in line


@pytest.mark.parametrize(("module", "suffix"), [("docx", "docx"), ("fpdf", "pdf"), ("uharfbuzz", "pdf")])
def test_a_missing_library_is_named_before_a_research(
    harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, suffix: str
) -> None:
    """Nothing is searched for a file that cannot be made."""
    monkeypatch.setitem(sys.modules, module, None)
    for command in (("show",), ("research", "x", "-e", "corpus:none")):
        error = harness(*command, "-o", tmp_path / f"a.{suffix}").one_line_error(2)
        assert f"install it with: pip install 'research-harness[{suffix}]'" in error
    keep()
    assert harness("show", "-o", tmp_path / "a.md").code == 0


def left(folder: Path) -> list[str]:
    """Return the names of all files of a folder but its data."""
    return sorted(each.name for each in folder.iterdir() if each.name not in {"data", "config"})


FAILURES: list[tuple[BaseException, int, str]] = [
    (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 2, "No space left on device"),
    (KeyboardInterrupt(), 130, ""),
]


@pytest.mark.parametrize("name", ["a.md", "a.docx", "a.pdf", "a.json", "a.bib"])
@pytest.mark.parametrize(("failure", "code", "told"), FAILURES, ids=["full-disk", "ctrl-c"])
def test_an_old_file_stays_until_the_new_one_is_complete(
    harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str,
    failure: BaseException, code: int, told: str,
) -> None:  # fmt: skip
    """A full disk or Ctrl-C leaves it as it was, and nothing next to it."""
    keep()
    (tmp_path / name).write_text(OLD)

    def fail(_: int) -> None:
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        patched.setattr(os, "_exit", sys.exit)  # Ctrl-C ends the process at once
        ended = harness("show", "-o", tmp_path / name)
    assert (ended.code, told in ended.err) == (code, True)
    assert (left(tmp_path), (tmp_path / name).read_text()) == ([name], OLD)
    if code == 2:
        assert f"cannot write {tmp_path / name}: " in ended.err
        assert f"harness show {RUN} -o FILE" in ended.err
    assert harness("show", "-o", tmp_path / name).code == 0
    assert (left(tmp_path), (tmp_path / name).read_bytes() == OLD.encode()) == ([name], False)


def test_a_device_is_written_to(harness: Program) -> None:
    """It is not replaced by a file, and a full one is an error."""
    keep()
    assert "No space left on device" in harness("show", "-o", "/dev/full").one_line_error(2)
    assert harness("show", "-o", "/dev/null").code == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_folder_that_cannot_be_written_is_an_error(harness: Program, tmp_path: Path) -> None:
    """So is one that is missing, and a file that is a folder; the error names the file."""
    keep()
    (tmp_path / "file").write_text(OLD)
    (tmp_path / "folder.pdf").mkdir()
    for file in (
        Path("/proc/a.docx"),
        tmp_path / "none" / "a.md",
        tmp_path / "file" / "a.bib",
        tmp_path / "folder.pdf",
    ):
        assert f"cannot write {file}: " in harness("show", "-o", file).one_line_error(2)
    assert left(tmp_path) == ["file", "folder.pdf"]


def test_a_replaced_file_keeps_its_permissions(harness: Program, tmp_path: Path) -> None:
    """A private file stays private, and a symbolic link leads to the same file."""
    keep()
    private, link = tmp_path / "private.md", tmp_path / "link.md"
    private.write_text(OLD)
    private.chmod(0o600)
    link.symlink_to(private)
    assert harness("show", "-o", link).code == 0
    assert link.is_symlink()
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert private.read_text().startswith("---\n")


@pytest.mark.parametrize("name", ["a.md", "a.docx", "a.pdf", "a.bib", "a.csl.json", "a.html"])
def test_a_run_without_a_report_writes_no_file(harness: Program, tmp_path: Path, name: str) -> None:
    """The exit code and the message are those without a file; only JSON has its state."""
    keep(report=None)
    (tmp_path / "old").write_text(OLD)
    ended = harness("show", "-o", tmp_path / name)
    assert (ended.code, "found no answer" in ended.err, left(tmp_path)) == (1, True, ["old"])
    assert harness("show", "-o", tmp_path / "a.json").code == 1
    told: Any = json.loads((tmp_path / "a.json").read_text())
    assert (told["state"], told["report"]) == ("finished", None)


@pytest.mark.parametrize("name", ["a.docx", "a.pdf", "a.bib", "a.csl.json"])
def test_a_report_without_sentences_is_a_file(harness: Program, tmp_path: Path, name: str) -> None:
    """It has no source and no error."""
    keep(report={"title": QUESTION, "citations": [], "sources": []})
    assert harness("show", "-o", tmp_path / name).code == 0
    content = (tmp_path / name).read_bytes()
    assert content == {"a.bib": b"", "a.csl.json": b"[]\n"}.get(name, content)
    assert not name.endswith((".docx", ".pdf")) or is_form(name.rpartition(".")[2], content)


def test_help_names_the_suffixes(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both commands have it, in lines that fit a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    for command in ("show", "research"):
        lines = harness(command, "--help").out.splitlines()
        begin = next(place for place, line in enumerate(lines) if "--output FILE" in line)
        said = " ".join(line.strip() for line in lines[begin : begin + 6])
        assert all(suffix in said for suffix in (".html", ".json", ".docx", ".pdf", ".bib", ".csl.json", "Markdown"))
        assert max(map(len, lines[begin : begin + 6])) <= 80
