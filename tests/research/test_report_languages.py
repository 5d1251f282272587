"""Reports in the language of the question: headings, marks, limits, direction, sources in other languages, prompts."""

import re
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest
from msgspec.structs import replace

from harness.app import App
from harness.core.question_language import question_language
from harness.models.local.language_detector import CompactLanguageDetector
from harness.research.context_builder import ShownSource
from harness.research.draft import DraftCheck
from harness.research.evidence import Evidence, _in_own_language
from harness.research.figures import figures_of
from harness.research.gathering import Gathered, GatheredSource, Round, Search
from harness.research.model_writer import messages_for
from harness.research.outline import outline_messages
from harness.research.planner import KEY_POINTS, make_plan
from harness.research.prompts import in_language_of, prompt
from harness.research.quotation_support import BY_WORDS
from harness.research.report import DISAGREEMENTS, Citation, CitedSource, Report
from harness.research.report_files import as_docx
from harness.research.report_limits import limits_of, remark_of
from harness.research.reports import as_html, as_markdown
from harness.research.run_view import past_run
from harness.research.saved_report import SavedReport, saved_research
from harness.research.source_selection import with_languages
from harness.research.statements import statements
from harness.settings import Settings, WritingSettings
from tests.cli.program import Program

NOW = 1_763_000_000.0
GERMAN, CHINESE, ARABIC = "Wie wird Brot gebacken?", "面包是怎么烤的？", "كيف يخبز الخبز في الفرن؟"
ENGLISH = "How is bread baked?"
URL = "https://example.org/1"
TEXTS = {
    "en": "Bread is baked in a hot oven for about forty minutes. The dough has to rise twice before it is baked.",
    "de": "Brot wird in einem heißen Ofen etwa vierzig Minuten gebacken. Der Teig muss zuvor zweimal aufgehen.",
    "zh": "面包在高温烤箱中烘烤约四十分钟。面团在烘烤之前必须发酵两次，否则面包会又硬又重，不容易消化。",
    "ar": "يخبز الخبز في فرن ساخن نحو أربعين دقيقة. ويجب أن يختمر العجين مرتين قبل أن يوضع في الفرن الساخن.",
}


def cited(sentence: str, section: str = "Answer", *, number: int = 1, **more: Any) -> Citation:
    """Return a sentence that quotes its source."""
    quotation = more.pop("quotation", sentence)
    return Citation(section, more.pop("paragraph", 1), sentence, quotation, number, URL, 0.5, True, **more)


def report(question: str, *citations: Citation, sources: Sequence[CitedSource] = (), **more: Any) -> Report:
    """Return a report on a question."""
    listed = tuple(sources) or (CitedSource(1, "Source one", URL, read=True),)
    return Report(question, citations, listed, language=question_language(question), **more)


def saved(made: Report) -> SavedReport:
    """Return a report as it is saved."""
    return SavedReport(
        question=made.title, engine="corpus", plan=None, rounds=(), stop_reason="stagnation", sources=(),
        report=made, live_calls=0, cache_hits=0, research_cache="off", origin=None, answered={"exact": 2}, run="",
    )  # fmt: skip


def headings(markdown: str) -> list[str]:
    """Return the headings of a text."""
    return re.findall(r"^## (.*)$", markdown, re.MULTILINE)


@pytest.mark.parametrize(
    ("question", "names", "column", "checks"),
    [
        (ENGLISH, ["Answer", "Key points", "Where sources disagree", "Sources"], "| Source | Says | Date |", "3 of 3"),
        (GERMAN, ["Antwort", "Kernpunkte", "Wo die Quellen voneinander abweichen", "Quellen"],
         "| Quelle | Aussage | Datum |", "3 von 3 Zitaten bestätigt"),
        (CHINESE, ["回答", "要点", "来源分歧之处", "来源"], "| 来源 | 表述 | 日期 |", "3 条引文中 3 条已核实"),
        (ARABIC, ["الإجابة", "النقاط الرئيسية", "مواضع اختلاف المصادر", "المصادر"], "| المصدر | القول | التاريخ |",
         "الاقتباسات المتحقَّق منها: 3 من 3"),
    ],
)  # fmt: skip
def test_what_people_read_is_in_the_language_of_the_question(
    question: str, names: list[str], column: str, checks: str
) -> None:
    """Headings, columns and checks; JSON keeps the names."""
    made = report(question, cited("A."), cited("B.", KEY_POINTS), cited("C.", DISAGREEMENTS))
    text = made.markdown()
    assert headings(text) == names
    assert column in text
    assert made.checks.startswith(checks)
    sections = [each["section"] for each in saved(made).as_dict()["citations"]]
    assert sections == ["Answer", "Key points", "Where sources disagree"]


def test_the_headings_of_the_user_win() -> None:
    """A heading of the rules is shown; the other headings are translated."""
    made = report(GERMAN, cited("A."), cited("B.", KEY_POINTS), headings={"Answer": "Kurz gesagt"})
    assert headings(made.markdown()) == ["Kurz gesagt", "Kernpunkte", "Quellen"]


def test_a_source_in_another_language_is_marked_where_it_is_listed() -> None:
    """By its language, whatever the language of the question is."""
    other = CitedSource(1, "Bread", URL, read=True, language="en")
    assert "Webseite, auf Englisch, Seite gelesen" in report(GERMAN, cited("A."), sources=[other]).markdown()
    german = CitedSource(1, "Brot", URL, read=True, language="de")
    assert "page, in German, page read" in report(ENGLISH, cited("A."), sources=[german]).markdown()
    assert "language" not in saved(report(GERMAN, cited("A."))).as_dict()["sources"]


@pytest.mark.parametrize(
    ("citation", "mark"),
    [
        (cited("A.", page=3), "1, S. 3"),
        (cited("A.", supported=False), "1, nicht belegt"),
        (cited("A.", lacks=("2023", "3.12")), "1, erwähnt nicht: 2023 oder 3.12"),
        (cited("A ..."), "1, abgeschnitten"),
        (cited("A …", lacks=("2023",)), "1, erwähnt nicht: 2023, abgeschnitten"),
        (cited("A.", number=0), "ohne Quelle"),
    ],
)
def test_marks_of_sentences_are_translated(citation: Citation, mark: str) -> None:
    """In each form of the report."""
    made = report(GERMAN, citation)
    assert f"[{mark}]" in made.markdown()
    assert citation.mark_in("de") == mark


def test_limits_and_remarks_are_translated() -> None:
    """Counts have the forms of the language."""
    made = report(GERMAN, cited("A.", lacks=("2023",)), sources=[CitedSource(1, "T", URL, date="2020")])
    searches = (Search("brot", "ddgs", "failed", 0), Search("brot", "brave", "failed", 0))
    gathered = Gathered((), (Round(searches, (), 1.0, 0.5),), "limit of time")
    assert tuple(limits_of(make_plan(GERMAN), gathered, [], made, 0.5)) == (
        "Keine zitierte Stelle beantwortet die Frage: Nirgends erwähnt wird 2023.",
        "Die Suche endete vorzeitig: Zeitgrenze erreicht.",
        "2 Suchen sind fehlgeschlagen: ddgs, brave.",
        "1 von 1 zitierten Quellen lag nur als Auszug in Suchergebnissen vor und wurde nicht ganz gelesen.",
        "Die Quellen stammen aus: 2020.",
    )
    assert remark_of(made, [], 0.5).startswith(
        "keine gefundene Stelle beantwortet die Frage genau: nirgends erwähnt wird 2023"
    )


def test_a_figure_is_captioned_in_the_language_and_its_digits_are_separated_so() -> None:
    """JSON keeps the numbers."""
    texts = ["In 2019, Norland had about 4,100,000 people.", "In 2020, Norland had 4,150,000 people."]
    made = report("How did the population of Norland change?", *map(cited, texts))
    [figure] = figures_of(made)
    assert figure.caption_in("de") == "Zahlen zur Frage, nach Jahr. Quellen: [1]"
    assert [row.text_in("de") for row in figure.rows] == ["etwa 4.100.000", "4.150.000"]
    assert [row["value"] for row in figure.as_dict("de")["rows"]] == [4_100_000, 4_150_000]
    assert "| Jahr | Wert | Zitiert aus |" in replace(made, language="de").markdown()


# --- forms


def test_an_english_page_has_no_attributes_of_languages() -> None:
    """It is the page that it always was."""
    page = as_html(saved(report(ENGLISH, cited("A."))), NOW)
    assert '<html lang="en"><head>' in page
    assert "dir=" not in page
    assert page.count("lang=") == 1


def test_an_arabic_page_is_written_from_right_to_left() -> None:
    """Its quotations keep their own direction, and addresses are from left to right."""
    sources = [CitedSource(1, "Bread", URL, language="en"), CitedSource(2, "خبز", "https://example.org/2")]
    made = report(ARABIC, cited("Bread is baked."), cited("يخبز الخبز.", number=2), sources=sources)
    page = as_html(saved(made), NOW)
    assert '<html lang="ar" dir="rtl">' in page
    assert '<q lang="en" dir="ltr">Bread is baked.</q>' in page
    assert '<q dir="auto">يخبز الخبز.</q>' in page
    assert f'<bdi dir="ltr"><a href="{URL}"' in page
    assert "<dt>محرك البحث</dt>" in page


def test_a_quotation_names_its_language_in_html() -> None:
    """Readers' programs speak it in that language; its direction is said only where it differs."""
    sources = [
        CitedSource(1, "Bread", URL, language="en"),
        CitedSource(2, "خبز", "https://example.org/2", language="ar"),
    ]
    made = report(GERMAN, cited("Bread is baked."), cited("يخبز الخبز.", number=2), sources=sources)
    page = as_html(saved(made), NOW)
    assert '<html lang="de"><head>' in page
    assert '<q lang="en">Bread is baked.</q>' in page
    assert '<q lang="ar" dir="rtl">يخبز الخبز.</q>' in page


@pytest.mark.parametrize("tag", ['"><script>alert(1)</script>', "../../x", "{x}", "de\0", "a" * 5_000])
def test_a_damaged_language_of_a_record_is_english(tag: str) -> None:
    """A record may come from another user's file: its tag opens no file, and no element."""
    made = replace(report(ENGLISH, cited("A."), sources=[CitedSource(1, "T", URL, language=tag)]), language=tag)
    page = as_html(saved(made), NOW)
    assert '<html lang="en"><head>' in page
    assert "<script" not in page
    assert headings(as_markdown(saved(made), NOW)) == ["Answer", "Sources"]


def test_a_word_document_names_its_language() -> None:
    """In its properties; headings as in the other forms."""
    with zipfile.ZipFile(BytesIO(as_docx(saved(report(GERMAN, cited("A."))), NOW))) as file:
        assert b"<dc:language>de</dc:language>" in file.read("docProps/core.xml")
        text = file.read("word/document.xml").decode()
    assert "Antwort" in text
    assert "Über diesen Bericht" in text


def test_a_record_of_an_older_version_is_read_as_english() -> None:
    """It has neither the language of the report nor those of its sources."""
    old = msgspec.to_builtins(report(ENGLISH, cited("A.")))
    del old["language"]
    read = msgspec.convert(old, Report)
    assert (read.language, read.sources[0].language) == ("", "")
    assert headings(read.markdown()) == ["Answer", "Sources"]


# --- sources


def test_a_source_knows_its_language_where_it_is_not_that_of_the_question() -> None:
    """So that gatherings in one language are as they were. Where the question's is not known, no source has one."""
    sources = [GatheredSource(f"https://example.org/{tag}", tag, (text,)) for tag, text in TEXTS.items()]
    detector = CompactLanguageDetector()

    def found(question: str) -> dict[str, str]:
        return {each.title: each.language for each in with_languages(question, sources, detector)}

    assert found(GERMAN) == {"en": "en", "de": "", "zh": "zh", "ar": "ar"}
    assert found(ENGLISH) == {"en": "", "de": "de", "zh": "zh", "ar": "ar"}
    assert set(found("Kubernetes Helm").values()) == {""}
    assert with_languages(GERMAN, sources, None) == sources
    assert b"language" not in msgspec.json.encode(sources[0])


def excerpt(language: str, score: float, part: int = 0) -> Evidence:
    """Return an excerpt of a source in a language."""
    source = GatheredSource(URL, "T", ("A.",), language=language)
    return Evidence(("A.",), source, "d", 0, 0, score, score, part=part)


@pytest.mark.parametrize(
    ("question", "given", "left"),
    [
        (GERMAN, [("", 0.6, 0), ("en", 0.5, 0)], [("", 0.6, 0)]),
        (GERMAN, [("en", 0.6, 0), ("", 0.5, 0)], [("en", 0.6, 0), ("", 0.5, 0)]),
        (GERMAN, [("en", 0.6, 0)], [("en", 0.6, 0)]),
        (GERMAN, [("", 0.2, 0), ("en", 0.15, 0)], [("", 0.2, 0), ("en", 0.15, 0)]),
        (GERMAN, [("", 0.6, 0), ("en", 0.5, 1)], [("", 0.6, 0), ("en", 0.5, 1)]),
        (ENGLISH, [("", 0.6, 0), ("de", 0.5, 0)], [("", 0.6, 0), ("de", 0.5, 0)]),
    ],
    ids=["own suffices", "own is worse", "own lacks", "own is not relevant", "another part", "english"],
)
def test_another_language_is_used_where_the_own_one_lacks(
    question: str, given: list[tuple[str, float, int]], left: list[tuple[str, float, int]]
) -> None:
    """Part by part of the question; an English report is as it was."""
    ranked = [excerpt(*each) for each in given]
    found = _in_own_language(ranked, question, lambda each: each.score >= 0.3)
    assert [(each.source.language, each.score, each.part) for each in found] == left


# --- with a model


def test_a_model_is_asked_for_the_language_of_the_question() -> None:
    """English prompts, which are keys of cached answers, are as they were."""
    shown, settings = [ShownSource(GatheredSource(URL, "T", ("A.",)), "A.")], WritingSettings()
    for question in (ENGLISH, "Kubernetes Helm"):
        plan = make_plan(question)
        expected = prompt("write", {}, headings=f"these headings, in this order: {', '.join(plan.sections)}")
        assert messages_for(plan, shown, settings)[0]["content"] == expected
    for ask in (messages_for, outline_messages):
        assert "Write your sentences in German." in ask(make_plan(GERMAN), shown, settings)[0]["content"]
    assert in_language_of("Яке місто є столицею України?").startswith("Write your sentences in Ukrainian.")


@pytest.mark.parametrize("heading", ["Answer", "Antwort", "ANTWORT:"])
def test_a_translated_heading_of_a_model_is_understood(heading: str) -> None:
    """Models translate the names, whatever they are asked."""
    check = DraftCheck(make_plan(GERMAN), [GatheredSource(URL, "T", (TEXTS["de"],))], {URL: 0.5}, BY_WORDS)
    text = f'## {heading}\nBrot wird im Ofen gebacken. [1: "Brot wird in einem heißen Ofen"]'
    draft = check.draft(text, True, list(statements(text)))
    assert [each.section for each in draft.citations] == ["Answer"]


def test_a_translated_list_of_sources_is_no_text() -> None:
    """The program writes its own."""
    text = '## Antwort\nBrot wird gebacken. [1: "Brot wird gebacken"]\n## Quellen\nEin Buch über Brot.\n'
    assert [each.sentence for each in statements(text)] == ["Brot wird gebacken."]


# --- the whole program


def test_a_run_remembers_the_languages(tmp_path: Path) -> None:
    """The report and its sources keep theirs: shown again, and replayed, it says the same."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bread.md").write_text(TEXTS["de"], encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", engine=(f"corpus:{tmp_path / 'notes'}",), read_pages=0)
    question = "How is the Brot in the Ofen gebacken?"
    with App(settings) as app:
        found = app.researcher(question=question).run(question)
        assert found.report is not None
        past = past_run(app.cache, found.id)
        assert (found.report.language, past.report) == ("en", found.report)
        assert [each.language for each in found.report.sources] == ["de"]
        assert orjson.dumps(past.as_dict()) == orjson.dumps(saved_research(found).as_dict())


def test_a_research_without_an_answer_says_so_in_the_language_of_the_question(harness: Program, tmp_path: Path) -> None:
    """With the closest sources."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bread.md").write_text(
        "# Segeln\n\nDer Wind weht heute stark aus Westen.\n", encoding="utf-8"
    )
    ended = harness("research", "Wie wird der Wind gemessen und wo?", "--engine", f"corpus:{tmp_path / 'notes'}")
    nothing = harness("research", GERMAN, "--engine", f"corpus:{tmp_path / 'notes'}")
    assert ended.code in {0, 1}
    assert nothing.code == 1
    assert "nichts gefunden" in nothing.err or "hat nichts gefunden" in nothing.err
