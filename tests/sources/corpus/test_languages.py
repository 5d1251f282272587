"""A folder of notes in several languages, searched by words, and by the meaning of an English question."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from harness.core.search_words import indexed_text
from harness.models.local.embedder import MiniLM
from harness.models.local.multilingual import Multilingual, UniversalEncoder
from harness.ports import Vectors
from harness.sources.corpus import corpus_index, database
from harness.sources.corpus.engine import Corpus, open_corpus

NOTES = {
    "urlaub.md": "Jeder Mitarbeiter hat dreißig Urlaubstage im Jahr, und die Anträge stellt man beim Büro.",
    "conges.md": "Chaque employé a trente jours de congés, et les demandes sont faites au bureau.",
    "假期.md": "每位员工每年有三十天假期，申请交给办公室。加班费按小时计算。",
    "отпуск.md": "Каждый сотрудник имеет тридцать дней отпуска, а заявления принимает канцелярия.",
    "إجازة.md": "لكل موظف ثلاثون يوما من الإجازة في السنة، وتقدم الطلبات إلى المكتب.",
    "retry.md": "The client of the service waits for a second and tries again; the third error is final.",
}
QUESTIONS = [
    ("Wie viele Urlaubstag hat ein Mitarbeiter?", "urlaub.md"),
    ("Combien de jour de congé a un employé ?", "conges.md"),
    ("员工有多少天假期？", "假期.md"),
    ("加班费", "假期.md"),
    ("费", "假期.md"),
    ("Сколько дней в отпусках у сотрудников?", "отпуск.md"),
    ("كم عدد أيام اجازه الموظفين؟", "إجازة.md"),
    ("How often does a client try again?", "retry.md"),
]


def quiet(what: str, done: int, total: int) -> None:
    """Take no note of progress."""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


def opened(folder: Path, tmp_path: Path) -> Corpus:
    """Open the folder."""
    return open_corpus(str(folder), tmp_path / "index", quiet)


def names(corpus: Corpus, query: str) -> list[str]:
    """Return the titles found, best first."""
    by_text = {text[:30]: name for name, text in NOTES.items()}
    return [by_text.get(result["body"][:30], "") for result in corpus.search(query, 10)]


@pytest.mark.parametrize(("question", "name"), QUESTIONS)
def test_a_question_finds_the_note_in_its_language(notes: Path, tmp_path: Path, question: str, name: str) -> None:
    """Other forms of its words, and words inside a run without spaces."""
    assert names(opened(notes, tmp_path), question)[:1] == [name]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["urlaub.md", "conges.md", "假期.md", "отпуск.md", "إجازة.md"])
def test_an_english_question_finds_a_note_in_another_language(tmp_path: Path, name: str) -> None:
    """No English note answers it, and no word is in common."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for each in (name, "retry.md"):
        (folder / each).write_text(NOTES[each])
    corpus = open_corpus(str(folder), tmp_path / "index", quiet, Multilingual())
    assert names(corpus, "How many days of holiday may an employee take?")[0] == name
    assert names(corpus, "How often does a client try again?")[0] == "retry.md"


def test_english_notes_are_searched_as_without_other_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same results as with MiniLM alone, and the encoder of other languages is not even loaded."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, text in enumerate((NOTES["retry.md"], "Bread is baked for an hour.", "The oven is hot by then.")):
        (folder / f"{number}.md").write_text(text)
    monkeypatch.setattr(UniversalEncoder, "embed", lambda self, texts: pytest.fail(f"{self.id} embeds {texts}"))
    questions = ["How long does a loaf take?", "retry", "Does it give up?"]
    found = [
        [open_corpus(str(folder), tmp_path / embedder.id, quiet, embedder).search(each, 3) for each in questions]
        for embedder in (MiniLM(), OnlyEnglish())
    ]
    assert found[0] == found[1]
    assert found[0][0]


class OnlyEnglish(Multilingual):
    """The joined model for texts that are all English: the other one gets none."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        return np.pad(MiniLM().embed(texts), ((0, 0), (0, UniversalEncoder.dimension)))


def test_a_changed_note_is_found_by_its_new_words_alone(notes: Path, tmp_path: Path) -> None:
    """The old words go with the passage, in every form; the index stays sound."""
    opened(notes, tmp_path)
    (notes / "假期.md").write_text("图书馆在城市的中心。")
    (notes / "urlaub.md").unlink()
    corpus = opened(notes, tmp_path)
    assert corpus.search("加班费", 10) == corpus.search("费", 10) == corpus.search("Urlaubstage", 10) == []
    assert [result["body"] for result in corpus.search("图书馆", 10)] == ["图书馆在城市的中心。"]
    (index,) = (tmp_path / "index").glob("*.db")
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def test_the_form_of_words_is_in_the_version_of_other_languages_alone(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cached results of an English corpus stay valid when words of other languages change."""
    english = tmp_path / "english"
    english.mkdir()
    (english / "retry.md").write_text(NOTES["retry.md"])
    before = [opened(folder, tmp_path).options["version"] for folder in (english, notes)]
    monkeypatch.setattr(corpus_index, "FORM", 99)
    after = [opened(folder, tmp_path / "later").options["version"] for folder in (english, notes)]
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_the_words_of_a_passage_are_formed_once(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stemming takes most of the time of indexing; the digest of a corpus and the index ask for the same texts."""
    formed = list[tuple[str, str]]()

    def noted(text: str, language: str) -> str:
        formed.append((text, language))
        return indexed_text(text, language)

    monkeypatch.setattr(database, "indexed_text", noted)
    database.indexed.cache_clear()
    open_corpus(str(notes), tmp_path / "index", quiet, None)
    assert len(formed) == len(set(formed)) >= len(NOTES)
