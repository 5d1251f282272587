"""Probability that an excerpt helps someone who asked a question."""

from math import log, log1p

from harness.core.reading_calibration import log_odds, sigmoid

_OF_ANSWERS, _OF_CHUNK, _OF_RAREST = 0.85, 4.0, 0.85
"""Weights of the log-odds of answering, of the similarity of the chunk, and of the rarest word of the question."""
_OF_AGREEMENT, _MIDDLE_AGREEMENT = 1.0, 0.7
"""Weight of the logarithm of 1 + agreement, and the one that speaks neither for nor against an excerpt."""
_MIDDLE = 0.5
"""Similarity of a chunk that speaks neither for nor against its excerpts."""
_LACKS_KIND = 3.0
"""Lower log-odds of an excerpt without the kind of answer that is asked for, such as a number. Of the sentences of
WikiQA (Yang et al. 2015) that answer such a question, 11 of 300 lack it, of the others 2,988 of 6,427: a difference of
3.1.
"""
_OF_SAID, _LITTLE_SAID = 2.0, 0.4
"""Weight of the share of words that an earlier excerpt has, beyond a share that means nothing."""
_UNSURE = 0.002
"""Least doubt about what the reader says."""


def mean_odds(one: float, other: float) -> float:
    """Return the probability (0..1) whose log-odds are the mean of those of two readings of one text."""
    return sigmoid((log_odds(one, _UNSURE) + log_odds(other, _UNSURE)) / 2)


def helpfulness(
    answers: float,
    rank: int,
    *,
    has_rarest: bool,
    of_chunk: float,
    agreement: float | None = None,
    lacks_kind: bool = False,
) -> float:
    """Return how likely (0..1) an excerpt helps that answers with probability `answers` (0..1), has a rank (1 is the
    best), and is in a chunk with the cosine similarity `of_chunk` to the question. `agreement` is that of its best
    sentence with other sites, see `harness.core.agreement`; `None` where there are none. `lacks_kind`: the question
    asks for a kind of answer, such as a number, that it lacks.

    The form is that of a logistic regression on the labelled sentences of `benchmarks/helpful.py`. The weights are
    those, rounded, with which most of the sentences in reports help, and as many help as before (by cross-validation
    over questions 41 % instead of 37 %).
    """
    logit = _OF_ANSWERS * log_odds(answers, _UNSURE) + _OF_CHUNK * (of_chunk - _MIDDLE) - log(rank)
    if agreement is not None:
        logit += _OF_AGREEMENT * (log1p(agreement) - _MIDDLE_AGREEMENT)
    return sigmoid(logit + _OF_RAREST * has_rarest - _LACKS_KIND * lacks_kind)


def after_earlier(helps: float, said: float) -> float:
    """Return how likely (0..1) an excerpt that helps so likely by itself helps after earlier ones, of which one has the
    share `said` (0..1) of its words.
    """
    return sigmoid(log_odds(helps, _UNSURE) - _OF_SAID * max(0.0, said - _LITTLE_SAID))
