"""Which embedders understand which languages, by their ids."""

import pytest

from harness.core.multilingual_vectors import ENCODER, ENGLISH, knows, knows_english_as, scale, understands
from harness.models.local.embedder import MiniLM
from harness.models.local.multilingual import Multilingual, UniversalEncoder


def test_the_ids_are_those_of_the_models() -> None:
    """The core cannot import them."""
    assert (MiniLM.id, UniversalEncoder.id) == (ENGLISH, ENCODER)
    assert Multilingual.id == f"{ENGLISH}+{ENCODER}"


@pytest.mark.parametrize("embedder", [ENCODER, Multilingual.id])
def test_vectors_of_the_encoder_decide_in_its_languages(embedder: str) -> None:
    """Not in Hindi, which it does not know, nor in English, which the reader reads."""
    assert knows(embedder, "zh")
    assert not knows(embedder, "hi")
    assert not knows(embedder, "")
    assert scale(embedder, "zh") > scale(embedder, "") == scale(ENGLISH, "zh") == 1.0


@pytest.mark.parametrize("embedder", [ENGLISH, "openai:model@endpoint"])
def test_vectors_of_others_were_not_measured(embedder: str) -> None:
    """So nothing is refused by them."""
    assert not knows(embedder, "zh")


@pytest.mark.parametrize(
    ("embedder", "language", "expected"),
    [
        (ENGLISH, "", True),
        (ENGLISH, "de", True),
        (ENGLISH, "zh", False),
        (ENGLISH, "hi", False),
        (Multilingual.id, "zh", True),
        (Multilingual.id, "hi", False),
        ("openai:model@endpoint", "hi", True),
    ],
)
def test_minilm_makes_noise_of_other_letters(embedder: str, language: str, expected: bool) -> None:
    """Such a question is searched by words; another model is trusted with it."""
    assert understands(embedder, language) == expected


def test_a_joined_model_knows_english_as_its_first_part() -> None:
    """Its calibration holds for the joined one; not the reverse, and not for a name that only begins so."""
    assert knows_english_as(ENGLISH, Multilingual.id)
    assert knows_english_as(ENGLISH, ENGLISH)
    assert not knows_english_as(Multilingual.id, ENGLISH)
    assert not knows_english_as(ENGLISH, f"{ENGLISH}-large")
