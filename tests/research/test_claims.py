"""Claims checked against texts."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.support import SupportProbabilities
from harness.errors import InvalidInput
from harness.research.claims import MAX_CHARS, MAX_CLAIM, MAX_READ, ClaimSource, check_claim
from tests.fakes import WordEmbedder, WordReader

POOL = ClaimSource("pool.md", "The pool is lazy. It holds ten connections.\n\nCats sleep a lot.")


class SaidReader(WordReader):
    """A reader with a probability of support and of contradiction for each text that it knows."""

    def __init__(self, said: dict[str, tuple[float, float]]) -> None:
        super().__init__(least=0.6)
        self.said = said

    def supports(self, sentence: str, quotations: Sequence[str]) -> list[SupportProbabilities]:
        """See `Reader.supports`."""
        self.read += quotations
        found = [self.said.get(each, (0.1, 0.1)) for each in quotations]
        return [SupportProbabilities(yes, no, 1 - yes - no) for yes, no in found]


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


def checked(claim: str, said: dict[str, tuple[float, float]], *sources: ClaimSource) -> tuple[str, str, str, int]:
    """Return verdict, sentence and source, and how many sentences were read."""
    found = check_claim(claim, sources or [POOL], SaidReader(said), WordEmbedder(), silent)
    return found.verdict, found.sentence, found.source, found.read


def test_the_surest_sentence_decides() -> None:
    """A sentence that points back is read with the one before it."""
    joined = "The pool is lazy. It holds ten connections."
    assert checked("ten connections are held", {joined: (0.8, 0.1)}) == ("supports", joined, "pool.md", 3)
    assert checked("it is eager", {joined: (0.1, 0.7)})[:2] == ("contradicts", joined)
    both = {joined: (0.7, 0.1), "Cats sleep a lot.": (0.1, 0.85)}
    assert checked("ten connections are held", both)[:2] == ("contradicts", "Cats sleep a lot.")


def test_below_both_thresholds_it_is_neither() -> None:
    """The likest sentence is shown, with the reason."""
    found = check_claim(
        "several lazy cats", [POOL], SaidReader({"The pool is lazy.": (0.55, 0.2)}), WordEmbedder(), silent
    )
    assert (found.verdict, found.sentence, found.supports) == ("neither", "The pool is lazy.", 0.55)
    assert found.reasons == ["probability of support 0.55, needs 0.60"]


def test_words_that_contradict_are_never_support() -> None:
    """However sure the reader is: another number."""
    found = check_claim(
        "The pool holds twenty connections.",
        [ClaimSource("text", "The pool holds ten connections.")],
        SaidReader({"The pool holds ten connections.": (0.99, 0.0)}),
        WordEmbedder(),
        silent,
    )
    assert found.verdict == "neither"
    assert "number" in found.reasons[0]


def test_only_the_likest_sentences_are_read() -> None:
    """Reading is bounded, whatever the length of the text."""
    long = ClaimSource("long", "\n\n".join(f"Sentence {number} is about cats." for number in range(500)))
    wanted = ClaimSource("short", "Red apples are sweet.")
    verdict, sentence, source, read = checked("red apples", {"Red apples are sweet.": (0.9, 0)}, long, wanted)
    assert (verdict, sentence, source, read) == ("supports", "Red apples are sweet.", "short", MAX_READ)


@pytest.mark.parametrize(
    ("claim", "text", "message"),
    [
        (" ", "a b", "a claim is a sentence"),
        ("a" * (MAX_CLAIM + 1), "a b", "2,001"),
        ("a", " \n\n ", "no sentence"),
        ("a", "b" * (MAX_CHARS + 1), "name fewer"),
    ],
)
def test_what_cannot_be_checked_is_refused(claim: str, text: str, message: str) -> None:
    """One line says why."""
    with pytest.raises(InvalidInput, match=message):
        check_claim(claim, [ClaimSource("text", text)], WordReader(), WordEmbedder(), silent)


@given(st.text(min_size=1, max_size=60).filter(str.strip), st.text(max_size=200))
def test_any_texts_have_a_verdict(claim: str, text: str) -> None:
    """Whatever they contain."""
    sources = [ClaimSource("text", f"Some sentence. {text}")]
    found = check_claim(claim, sources, WordReader(), WordEmbedder(), silent)
    assert found.verdict in {"supports", "contradicts", "neither"}
    assert found.sentence


def test_a_part_of_a_sentence_does_not_support() -> None:
    """The reader must be sure of the whole sentence."""
    denied = "There is no evidence that vaccines cause autism."
    assert checked("vaccines cause autism", {denied: (0.5, 0.3)}, ClaimSource("text", denied))[0] == "neither"


def test_the_sentence_that_decides_is_short() -> None:
    """A text without sentences is not printed whole."""
    found = check_claim(
        "red apples", [ClaimSource("text", "red apples " * 5_000)], WordReader(), WordEmbedder(), silent
    )
    assert len(found.sentence) <= 2_000


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Der Tunnel ist nicht für Busse offen.", "neither"),
        ("Der Tunnel ist für Busse offen.", "supports"),
        ("Die Bäckerei verkauft Brot und Kuchen.", "neither"),
    ],
)
def test_in_another_language_only_a_repeated_sentence_supports(text: str, verdict: str) -> None:
    """The reader, which would see no negation there, is not asked, however sure it is; nothing is contradicted."""
    reader = SaidReader({text: (0.99, 0.99)})
    found = check_claim("Der Tunnel ist für Busse offen.", [ClaimSource("t", text)], reader, WordEmbedder(), silent)
    assert (found.verdict, reader.read) == (verdict, [])


def test_a_heading_in_another_language_is_no_part_of_a_sentence() -> None:
    """Without a blank line after it, too."""
    text = "# Urlaub\nJeder Mitarbeiter hat 30 Tage Urlaub im Jahr.\n## Reisen\nDie Pauschale beträgt 28 Euro."
    for claim in ("Jeder Mitarbeiter hat 30 Tage Urlaub im Jahr.", "Die Pauschale beträgt 28 Euro."):
        verdict, sentence, *_ = checked(claim, {}, ClaimSource("urlaub.md", text))
        assert (verdict, sentence) == ("supports", claim)
