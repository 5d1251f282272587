"""The verifier that ships: a probability for any two texts, the same whichever comes first and whenever it is asked."""

import multiprocessing
import subprocess
import sys
import threading

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.equivalence.decision import FEATURES, REWORDED_FEATURES
from harness.models.local import cross_encoder
from harness.models.local.cross_encoder import MAX_TOKENS, MiniLMVerifier, PairReader, Release
from harness.models.local.onnx import digest

SAME = ("What is the best way to learn Python?", "how can i learn python best")
OTHER = ("how to enable ipv6 on linux", "how to disable ipv6 on linux")
TEXTS = st.text(st.characters(), max_size=300) | st.text("ab cd?1", max_size=10_000)


@pytest.fixture(scope="module")
def verifier() -> MiniLMVerifier:
    """One verifier, loaded once."""
    return MiniLMVerifier()


def test_it_distinguishes_a_rewording_from_an_opposite(verifier: MiniLMVerifier) -> None:
    """Unlike an embedding, it notices one word that reverses the question."""
    assert verifier.probability(*SAME) > 0.8
    assert verifier.probability(*OTHER) < 0.2


@settings(max_examples=60, deadline=None)
@given(a=TEXTS, b=TEXTS)
def test_any_two_texts_have_a_probability_in_either_order(a: str, b: str) -> None:
    """Empty, long, broken or foreign: 0..1, and the same with exchanged texts."""
    verifier = MiniLMVerifier()
    probability = verifier.probability(a, b)
    assert 0.0 <= probability <= 1.0
    assert abs(verifier.probability(b, a) - probability) <= 1e-6


@pytest.mark.parametrize("text", ["", "a", "\0", "\ud800 half", "word " * 2_000, "中文 🦄", "x" * 10_000])
def test_a_text_is_the_same_as_itself(verifier: MiniLMVerifier, text: str) -> None:
    """Whatever it is, and however it is spaced and capitalised."""
    assert verifier.probability(text, text) >= 0.99
    assert verifier.probability(f"  {text.upper().lower()} ", text.lower()) >= 0.99


def test_a_pair_that_is_too_long_has_probability_zero(verifier: MiniLMVerifier) -> None:
    """Two long texts that begin alike may differ in the unread part."""
    long = "tell me about the history of rome " * MAX_TOKENS
    assert verifier.probability(long, f"{long} and of carthage") == 0.0


def test_other_pairs_in_between_change_nothing(verifier: MiniLMVerifier) -> None:
    """Pairs are read one by one: in any batch, and again, a pair has the very same probability."""
    first = [verifier.probability(*pair) for pair in (SAME, OTHER)]
    again = [verifier.probability(*pair) for pair in (OTHER, ("a", "b"), SAME)]
    assert first == [again[2], again[0]]


def test_a_pair_is_read_in_an_order_of_its_own() -> None:
    """The very same is said, whichever text is named first, and however it is spaced and capitalised."""
    reader = PairReader(cross_encoder.WEIGHTS.read_bytes())
    said = reader.probability(*OTHER)
    assert said == reader.probability(*reversed(OTHER)) == reader.probability(*(f" {text.upper()}\n" for text in OTHER))


def test_many_threads_get_what_one_gets(verifier: MiniLMVerifier) -> None:
    """The model is loaded once, and shared."""
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(MiniLMVerifier().probability(*SAME))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {verifier.probability(*SAME)}


def test_another_process_gets_the_same(verifier: MiniLMVerifier) -> None:
    """Nothing depends on what a process did before."""
    program = (
        f"from harness.models.local.cross_encoder import MiniLMVerifier; print(MiniLMVerifier().probability(*{SAME!r}))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert float(told) == verifier.probability(*SAME)


def test_a_child_that_was_forked_after_loading_can_go_on(verifier: MiniLMVerifier) -> None:
    """A loaded model survives a fork."""
    expected = verifier.probability(*SAME)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_probability, SAME) == expected


def _probability(a: str, b: str) -> float:
    return MiniLMVerifier().probability(a, b)


def test_importing_it_costs_no_library() -> None:
    """Neither onnxruntime nor numpy is imported before the first pair."""
    program = (
        "import sys, harness.models.local.cross_encoder as m; m.MiniLMVerifier(); "
        "print({'onnxruntime', 'numpy', 'tokenizers'} & sys.modules.keys())"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "set()"


def test_the_weights_are_the_released_ones() -> None:
    """The JSON file has their digest and a weight for every feature, also for reworded questions."""
    release = msgspec.json.decode(cross_encoder.WEIGHTS.with_suffix(".json").read_bytes(), type=Release)
    assert digest(cross_encoder.WEIGHTS.read_bytes()) == release.sha256
    assert (len(release.weights), len(release.reworded)) == (1 + len(FEATURES), 1 + len(REWORDED_FEATURES))
    assert [share for share, _ in release.thresholds] == sorted(share for share, _ in release.thresholds)
    assert [height for _, height in release.thresholds] == sorted((t for _, t in release.thresholds), reverse=True)


def test_the_model_card_is_of_these_weights() -> None:
    """It names their digest, so it was updated with them."""
    card = cross_encoder.WEIGHTS.with_name("MODEL_CARD.md").read_text()
    assert digest(cross_encoder.WEIGHTS.read_bytes()) in card
    assert f"{cross_encoder.WEIGHTS.stat().st_size:,} bytes" in card
    assert MiniLMVerifier().id in card


def test_the_weights_are_small() -> None:
    """At most 25 MB travel with the package."""
    assert cross_encoder.WEIGHTS.stat().st_size <= 25_000_000
