"""Claims checked against texts: does any sentence of them support a claim, or contradict it?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.core.dangling import with_needed
from harness.core.foreign_text import is_english
from harness.core.support import MIN_COVERAGE, Support, SupportProbabilities, is_repeated, supports
from harness.core.text import sentences, shorten, stems
from harness.errors import InvalidInput
from harness.ports import Embedder, Progress, Reader
from harness.research.relevance import promise

_HEADING = re.compile(r"^(#{1,6} [^\n]*)$", re.MULTILINE)
MAX_CLAIM = 2_000
MAX_CHARS = 5_000_000
"""Characters of all texts together."""
MAX_SENTENCE = 2_000
"""Characters of the sentence that decides, as it is shown."""
MAX_EMBEDDED = 200
"""Sentences that are embedded: those that share most words with the claim."""
MAX_READ = 30
"""Sentences that the reader reads, the likest first."""

UNREAD = "no model reads its language, and it does not repeat the claim"
"""Why a sentence in another language does not support a claim with the same words: a negation would not show."""

Verdict: TypeAlias = Literal["supports", "contradicts", "neither"]


class ClaimSource(Struct, frozen=True):
    """A text and its name: a file, an address, or "text"."""

    name: str
    text: str


@dataclass(frozen=True)
class ClaimCheck:
    """Result of a check. `sentence` (data from `source`, never an instruction) decides; for "neither" it is the nearest
    one. `supports` and `contradicts` are the probabilities (0..1) for that sentence; `reasons` say why it does not
    support the claim although it is likely to. `read` counts the sentences that were read.
    """

    claim: str
    verdict: Verdict
    supports: float
    contradicts: float
    sentence: str
    source: str
    reasons: list[str]
    read: int


class _Read(Struct, frozen=True):
    """A sentence that was read with the claim."""

    source: str
    text: str
    probabilities: SupportProbabilities
    support: Support


def check_claim(
    claim: str, sources: Sequence[ClaimSource], reader: Reader, embedder: Embedder, progress: Progress
) -> ClaimCheck:
    """Read the likest sentences of the sources with the claim; the surest of those that decide gives the verdict.

    A sentence supports if nothing in its words contradicts, and the reader finds support, or it has all the claim's
    words (see `core.support`). It contradicts if the reader finds so, and the words agree or are others. One that
    points back ("It …") is read together with the sentence before it. The reader reads English: in other languages a
    sentence supports only the claim that it repeats, and none contradicts.

    Raises:
        InvalidInput: an empty or too long claim; no text, or too much.
        ReaderError: the reader is missing, damaged, or failed.
        EmbeddingError: the embedder failed.
    """
    if not claim.strip() or len(claim) > MAX_CLAIM:
        raise InvalidInput(f"a claim is a sentence of 1 to {MAX_CLAIM:,} characters; this one has {len(claim):,}")
    if sum(len(source.text) for source in sources) > MAX_CHARS:
        raise InvalidInput(f"the texts have more than {MAX_CHARS:,} characters; name fewer or shorter ones")
    likest = _likest(claim, [each for source in sources for each in _quotations(source)], embedder)
    if not likest:
        raise InvalidInput("there is no sentence to check the claim against; name a text with at least one")
    read = list[_Read]()
    for done, (source, text) in enumerate(likest):
        progress("reading sentences", done, len(likest))
        read.append(_Read(source, text, *_support(claim, text, reader)))
    progress("reading sentences", len(likest), len(likest))
    verdict, deciding = _decided(read, reader.calibration.contradicts)
    return ClaimCheck(
        claim,
        verdict,
        deciding.support.probability or 0.0,
        round(deciding.probabilities.contradicts, 4),
        shorten(deciding.text, MAX_SENTENCE),
        shorten(deciding.source, MAX_SENTENCE),
        [] if verdict == "contradicts" else list(deciding.support.reasons),
        len(read),
    )


def _support(claim: str, text: str, reader: Reader) -> tuple[SupportProbabilities, Support]:
    """Return the probabilities for a claim and a sentence, and whether the sentence supports it."""
    if is_english(claim) and is_english(text):
        [probabilities] = reader.supports(claim, [text])
        return probabilities, supports(claim, text, read=probabilities, by=reader.calibration, shared=1.0)
    support = supports(claim, text)
    if support.supported and not is_repeated(claim, text):
        support = replace(support, supported=False, reasons=(UNREAD,))
    sure = 1.0 if support.supported else 0.0
    return SupportProbabilities(sure, 0.0, 1.0 - support.coverage), replace(support, probability=sure)


def _decided(read: Sequence[_Read], contradicts: float) -> tuple[Verdict, _Read]:
    """Return the verdict, and the sentence that decides it."""

    def supporting(each: _Read) -> float:
        return (each.support.probability or 0.0) if each.support.supported else 0.0

    def contradicting(each: _Read) -> float:
        differs = each.support.contradicted or each.support.coverage < MIN_COVERAGE  # else the words would show it
        return each.probabilities.contradicts if differs and each.probabilities.contradicts >= contradicts else 0.0

    best, worst = max(read, key=supporting), max(read, key=contradicting)
    if supporting(best) > contradicting(worst):
        return "supports", best
    if contradicting(worst):
        return "contradicts", worst
    return "neither", max(read, key=lambda each: 1 - each.probabilities.neither)


def _quotations(source: ClaimSource) -> Iterator[tuple[str, str]]:
    """Yield the name of the source with each sentence, after the one that it needs."""
    for paragraph in _paragraphs(source.text):
        pieces = filter(None, map(str.strip, sentences(paragraph)))
        for piece, before in with_needed(pieces):
            yield source.name, f"{before} {piece}".lstrip()


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text. In other languages than English, where a sentence has to repeat the claim, a
    heading of Markdown is one of them; the reader of English has learned to read it with what follows.
    """
    for paragraph in text.split("\n\n"):
        yield from [paragraph] if is_english(paragraph) else _HEADING.split(paragraph)


def _likest(claim: str, held: Sequence[tuple[str, str]], embedder: Embedder) -> list[tuple[str, str]]:
    """Return the sentences that are likest to the claim, by words and by vectors, each once."""
    wanted = stems(claim)
    each = list({text: (name, text) for name, text in reversed(held)}.values())[::-1]
    shares = [len(wanted & stems(text)) / max(1, len(wanted)) for _, text in each]
    worded = sorted(range(len(each)), key=lambda place: -shares[place])[:MAX_EMBEDDED]
    if not worded:
        return []
    vectors = embedder.embed([claim, *(each[place][1] for place in worded)])
    near = dict(zip(worded, (vectors[1:] @ vectors[0]).tolist(), strict=True))
    best = sorted(worded, key=lambda place: -promise(near[place], shares[place]))
    return [each[place] for place in best[:MAX_READ]]
