"""The reader without weights, with damaged ones, and with the shipped ones."""

import hashlib
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.reading_calibration import ReadingCalibration
from harness.errors import ReaderError
from harness.models.local import reader
from harness.models.local.reader import MAX_TOKENS, MAX_WINDOWS, MiniLMReader, ReaderRelease, _starts

PASSAGE = "The pool opens connections lazily. By default it holds at most ten of them."


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of the weights."""
    file = tmp_path / "reader.onnx"
    monkeypatch.setattr(reader, "WEIGHTS", file)
    for remembered in (reader._model, reader._release):
        remembered.cache_clear()
        monkeypatch.setattr(reader, remembered.__name__, remembered.__wrapped__)
    return file


def release(file: Path, content: bytes) -> None:
    """Write weights with what belongs to them."""
    file.write_bytes(content)
    calibration = ReadingCalibration("minilm-reader", "embedder", 0.1, 0.9, 0.9, (1.0, 1.0, 0.0), "nothing")
    made = ReaderRelease(hashlib.sha256(content).hexdigest(), (1.0, 0.0), (1.0, 0.0, 0.0, 0.0), calibration)
    file.with_suffix(".json").write_bytes(msgspec.json.encode(made))


def test_missing_weights_are_one_line(weights: Path) -> None:
    """It says what to do."""
    for use in (lambda: MiniLMReader().id, lambda: MiniLMReader().answers("a", ["b"])):
        with pytest.raises(ReaderError, match="reinstall research-harness"):
            use()


def test_weights_that_were_changed_are_refused(weights: Path) -> None:
    """Other weights would give other probabilities."""
    release(weights, b"the weights that were released")
    weights.write_bytes(b"other weights")
    with pytest.raises(ReaderError, match="not the released ones"):
        MiniLMReader().supports("a", ["b"])


def test_a_file_that_is_no_model_is_refused(weights: Path) -> None:
    """The message of onnxruntime is in one line."""
    release(weights, b"no model")
    with pytest.raises(ReaderError, match="cannot be loaded"):
        MiniLMReader().answers("a", ["b"])


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"sha256": 1}'])
def test_a_calibration_that_cannot_be_read_is_refused(weights: Path, content: bytes) -> None:
    """Nothing is guessed."""
    weights.touch()
    weights.with_suffix(".json").write_bytes(content)
    with pytest.raises(ReaderError, match="no usable calibration"):
        _ = MiniLMReader().calibration


@given(length=st.integers(0, 20_000), head=st.integers(1, 160))
def test_windows_cover_a_text_and_overlap(length: int, head: int) -> None:
    """Each window but the first begins in the one before; together they cover the text, up to the limit."""
    room = MAX_TOKENS - 3 - head
    starts = list(_starts(length, room))
    assert starts[0] == 0
    assert len(starts) <= MAX_WINDOWS
    assert all(0 < later - earlier < room for earlier, later in pairwise(starts))
    assert starts[-1] + room >= length or len(starts) == MAX_WINDOWS


def test_a_passage_that_answers_is_likelier_than_one_that_does_not() -> None:
    """The shipped weights separate an answer from another subject."""
    answer, other = MiniLMReader().answers("how many connections can the pool hold", [PASSAGE, "Cats sleep a lot."])
    assert answer > 0.5
    assert other < 0.1


@pytest.mark.slow
def test_a_probability_depends_on_the_pair_alone() -> None:
    """Neither the other texts of a list nor a second reading change it."""
    texts = [PASSAGE, "Cats sleep a lot.", PASSAGE * 40]
    together = MiniLMReader().answers("how many connections", texts)
    assert together == [MiniLMReader().answers("how many connections", [each])[0] for each in texts]
    support = MiniLMReader().supports("The pool holds ten connections.", texts)
    assert support == [MiniLMReader().supports("The pool holds ten connections.", [each])[0] for each in texts]


@pytest.mark.slow
def test_an_answer_in_a_long_text_is_found() -> None:
    """A text of many windows is as likely to answer as its best window."""
    long = "Cats sleep a lot. " * 400
    [buried] = MiniLMReader().answers("how many connections can the pool hold", [long + PASSAGE])
    [alone] = MiniLMReader().answers("how many connections can the pool hold", [long])
    assert buried > alone


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_strings_have_probabilities(first: str, second: str) -> None:
    """Empty ones, other scripts, control characters and broken Unicode, too."""
    [answers] = MiniLMReader().answers(first, [second])
    [support] = MiniLMReader().supports(first, [second])
    assert 0 <= answers <= 1
    assert abs(support.supports + support.contradicts + support.neither - 1) < 1e-9


def test_lone_surrogates_are_read() -> None:
    """Broken Unicode is read as a question mark."""
    assert 0 <= MiniLMReader().answers("a \ud800", ["\udfff b"])[0] <= 1


def test_the_card_and_the_calibration_are_of_these_weights() -> None:
    """Both name their digest; at most 25 MB travel with the package."""
    content = reader.WEIGHTS.read_bytes()
    card = reader.WEIGHTS.with_name("READER_CARD.md").read_text()
    assert hashlib.sha256(content).hexdigest() in card
    assert f"{len(content):,} bytes" in card
    assert MiniLMReader().id in card
    assert len(content) <= 25_000_000


def test_a_replay_reads_with_the_recorded_thresholds_or_not_at_all() -> None:
    """Other weights would give other probabilities."""
    same = replace(MiniLMReader().calibration, answers=0.99)
    recorded = MiniLMReader(recorded=same)
    assert (recorded.id, recorded.calibration.answers) == (MiniLMReader().id, 0.99)
    assert recorded.answers("how many connections", [PASSAGE]) == MiniLMReader().answers(
        "how many connections", [PASSAGE]
    )
    other = MiniLMReader(recorded=replace(same, reader="minilm-reader-before"))
    assert other.id == "minilm-reader-before"
    with pytest.raises(ReaderError, match="minilm-reader-before, which is not installed"):
        other.answers("how many connections", [PASSAGE])


def test_vectors_of_another_embedder_do_not_count() -> None:
    """Their cosines mean something else."""
    calibration = MiniLMReader().calibration
    mine = calibration.with_vectors_of(calibration.embedder)
    assert mine.relevance(0.5, 0.9) > mine.relevance(0.5, 0.1)
    assert calibration.with_vectors_of("other").relevance(0.25, 0.9) == pytest.approx(0.25)
