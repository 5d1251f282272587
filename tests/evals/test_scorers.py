"""Scorers: the meaning of each share, and its range."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness_evals.outcome import Cited, Cost, Outcome
from harness_evals.scorers import (
    FEWEST_WORDS,
    MOST_WORDS,
    NEEDS,
    RECALL_AT,
    SCORERS,
    WEIGHTS,
    citation_precision,
    citation_recall,
    first_sentence,
    length,
    nugget_all,
    nugget_vital,
    read_weights,
    refused,
    retrieval_recall,
    score,
    structure,
    weights_for,
)
from harness_evals.tasks import Nugget, Structure, Task, load_tasks
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidInput

TASKS = load_tasks()
VITAL = Nugget("the soup is hot", "vital", ("the soup is hot",), r"soup \w+ hot")
OKAY = Nugget("onions are in it", "okay", ("there are onions in it",))

texts = st.text(alphabet="ab _.\\'", max_size=12)
citations = st.lists(st.builds(Cited, texts, texts, texts, texts, st.booleans()), max_size=12)


def task(*, sections: Structure | None = None, **changed: tuple[str, ...] | tuple[tuple[str, ...], ...]) -> Task:
    """Return a task about soup."""
    fields: dict[str, object] = {"gold": ("a",), "same": ()} | changed
    return Task(
        "T_X", "Which soup?", sections or Structure(at_least=3), "research", "corpus:x", (VITAL, OKAY), split="tune",
        **fields,
    )  # fmt: skip


def outcome(*cited: Cited, sources: Sequence[str] = ()) -> Outcome:
    """Return a run of that task."""
    return Outcome("T_X", 0, sources=tuple(sources), citations=cited)


def cited(sentence: str, *, quotation: str = "", verified: bool = False, section: str = "Answer") -> Cited:
    """Return a sentence of a report."""
    return Cited(section, sentence, quotation, "a", verified)


def said(sentence: str) -> Outcome:
    """Return a run whose report is one sentence."""
    return outcome(cited(sentence))


def test_nuggets_are_counted_by_importance() -> None:
    """Recall of the vital ones, and of all."""
    assert (nugget_vital(task(), said("The soup is hot.")), nugget_all(task(), said("The soup is hot."))) == (1.0, 0.5)
    assert (nugget_vital(task(), said("There are onions in it.")), nugget_all(task(), said("No."))) == (0.0, 0.0)


@pytest.mark.parametrize("each", [each for each in TASKS if each.answerable], ids=lambda each: each.id)
def test_a_report_with_an_alias_of_every_nugget_says_all(each: Task) -> None:
    """Every nugget of the default tasks can be said."""
    sentences = [cited(nugget.aliases[0]) for nugget in each.nuggets]
    ran = Outcome(each.id, 0, citations=tuple(sentences))
    assert nugget_vital(each, ran) == nugget_all(each, ran) == 1.0


@given(citations, st.builds(Cited, texts, texts | st.just("The soup is hot."), texts, texts, st.booleans()), st.data())
def test_one_sentence_more_never_lowers_the_recall_of_nuggets(
    report: list[Cited], more: Cited, data: st.DataObject
) -> None:
    """At any position."""
    at = data.draw(st.integers(0, len(report)))
    longer = outcome(*report[:at], more, *report[at:])
    assert nugget_vital(task(), longer) >= nugget_vital(task(), outcome(*report))
    assert nugget_all(task(), longer) >= nugget_all(task(), outcome(*report))


def test_gold_sources_count_among_the_best_ten_found() -> None:
    """The eleventh is too late; a repeated URL counts once."""
    both = task(gold=("a", "b"))
    others = [f"x{number}" for number in range(RECALL_AT - 1)]
    assert retrieval_recall(both, outcome(sources=["a", "b"])) == 1.0
    assert retrieval_recall(both, outcome(sources=["b"])) == 0.5
    assert retrieval_recall(both, outcome(sources=[*others, "a", "b"])) == 0.5
    assert retrieval_recall(both, outcome(sources=["a", "a", *others, "b"])) == 0.5
    assert retrieval_recall(both, outcome()) == 0.0


def test_a_source_with_the_same_text_counts_as_the_gold_one() -> None:
    """As `compound` does for `with`, whose text it contains; another does not."""
    same = task(gold=("a", "b"), same=(("a", "copy"),))
    assert retrieval_recall(same, outcome(sources=["copy", "b"])) == 1.0
    assert retrieval_recall(same, outcome(sources=["a", "copy"])) == 0.5


def test_citation_recall_is_the_share_of_supported_sentences() -> None:
    """By at least one verified quotation; a sentence repeated in a section counts once."""
    report = [
        cited("One.", quotation="one", verified=True),
        cited("Two.", quotation="two"),
        cited("Two.", quotation="too", verified=True),
        cited("Three.", quotation="three"),
        cited("Four."),
    ]
    assert citation_recall(task(), outcome(*report)) == 0.5
    assert citation_recall(task(), outcome()) == 0.0


def test_citation_precision_is_the_share_of_supporting_quotations() -> None:
    """Unverified or repeated for the same sentence: superfluous. Two different supporting
    quotations are both precise.
    """
    report = [
        cited("One.", quotation="one", verified=True),
        cited("One.", quotation="another", verified=True),
        cited("One.", quotation="ONE", verified=True),
        cited("Two.", quotation="two"),
        cited("Three."),
    ]
    assert citation_precision(task(), outcome(*report)) == 0.5
    assert citation_precision(task(), said("Three.")) == 0.0


@pytest.mark.parametrize(
    ("wanted", "there", "share"),
    [
        (Structure(exactly=5), 5, 1.0), (Structure(exactly=5), 3, 0.6), (Structure(exactly=5), 6, 0.8),
        (Structure(exactly=5), 11, 0.0), (Structure(exactly=5), 0, 0.0), (Structure(at_least=3), 3, 1.0),
        (Structure(at_least=3), 9, 1.0), (Structure(at_least=3), 1, 1 / 3), (Structure(at_least=3), 0, 0.0),
    ],
)  # fmt: skip
def test_structure_falls_with_the_distance_from_the_number(wanted: Structure, there: int, share: float) -> None:
    """1 if the number of sections fits."""
    report = [cited("Soup.", section=str(number)) for number in range(there)]
    assert structure(task(sections=wanted), outcome(*report)) == pytest.approx(share)


@pytest.mark.parametrize(
    ("count", "share"),
    [(0, 0.0), (FEWEST_WORDS // 2, 0.5), (FEWEST_WORDS, 1.0), (MOST_WORDS, 1.0), (2 * MOST_WORDS, 0.5)],
)
def test_length_is_right_within_bounds_and_falls_outside(count: int, share: float) -> None:
    """Proportionally."""
    assert length(task(), said("soup " * count)) == pytest.approx(share)


@given(st.sampled_from(TASKS), citations, st.lists(texts, max_size=15))
def test_scores_are_shares(each: Task, report: list[Cited], sources: list[str]) -> None:
    """For any report, every scorer and the total are between 0 and 1."""
    scored = score(each, Outcome(each.id, 0, tuple(sources), tuple(report)))
    applying = {name for name in SCORERS if name not in NEEDS or NEEDS[name](each)}
    assert set(scored.values) == (applying if each.answerable else {"refused"})
    assert all(0 <= value <= 1 for value in [*scored.values.values(), scored.total])


def test_the_total_weighs_every_scorer_as_declared() -> None:
    """All scorers have weights with a sum of 1; the cost is reported, not weighed."""
    assert set(WEIGHTS) == set(SCORERS)
    assert math.fsum(WEIGHTS.values()) == pytest.approx(1)
    ran = Outcome("T_X", 0, ("a",), (cited("The soup is hot."),), Cost(3, 20, 1.5))
    scored = score(task(), ran)
    assert scored.total == math.fsum(WEIGHTS[name] * value for name, value in scored.values.items())
    assert scored.cost == Cost(3, 20, 1.5)
    assert score(task(), ran, {"nugget_all": 0.5, "retrieval_recall": 0.5}).total == 0.75


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"nugget_vitl": 1.0}, "no scorer 'nugget_vitl'; did you mean nugget_vital\\?"),
        ({"": 1.0}, "no scorer ''"),
        ({"length": -1.0, "structure": 2.0}, "the weight of length must be 0 to 1, not -1"),
        ({"length": math.nan}, "the weight of length must be 0 to 1, not nan"),
        ({"length": 0.5}, "the weights must be 1 together, not 0.5"),
        ({}, "the weights must be 1 together, not 0"),
    ],
)
def test_impossible_weights_are_refused(weights: dict[str, float], says: str) -> None:
    """The error for an unknown scorer suggests the nearest one."""
    with pytest.raises(InvalidInput, match=says):
        score(task(), outcome(), weights)


def test_a_failed_run_has_no_score() -> None:
    """It is a crash, not a bad score; neither has a run of another task."""
    with pytest.raises(InvalidInput, match=r"the run of T_X failed \(rate_limited: wait\)"):
        score(task(), Outcome("T_X", 0, error="rate_limited: wait"))
    with pytest.raises(InvalidInput, match="a run of T_Y cannot be scored as one of T_X"):
        score(task(), Outcome("T_Y", 0))


def test_weights_can_be_customised(tmp_path: Path) -> None:
    """A YAML file; a scorer that it omits has weight 0."""
    file = tmp_path / "weights.yaml"
    file.write_text("nugget_vital: 0.75\nstructure: 0.25\n")
    assert read_weights(file) == {"nugget_vital": 0.75, "structure": 0.25}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "nugget_vital: 0.5\nnugget_vitl: 0.5\n",
            "weights.yaml:2: no scorer 'nugget_vitl'; did you mean nugget_vital?",
        ),
        ("structure: much\n", "weights.yaml:1: the weight of structure is not a number"),
        ("length: 0.5\nstructure: 7\n", "weights.yaml:2: the weight of structure must be 0 to 1, not 7"),
        ("structure: 0.5\n", "weights.yaml: the weights must be 1 together, not 0.5"),
        ("", "weights.yaml: the weights must be 1 together, not 0"),
        ("- structure\n", "weights.yaml must hold"),
        ("{", "weights.yaml is not valid YAML near line"),
    ],
)
def test_invalid_weights_are_reported_with_their_line(tmp_path: Path, text: str, says: str) -> None:
    """Nothing is scored with them."""
    file = tmp_path / "weights.yaml"
    file.write_text(text)
    with pytest.raises(InvalidInput) as message:
        read_weights(file)
    assert says in str(message.value)


def test_a_task_without_an_answer_key_has_no_score_for_it() -> None:
    """Its total is that of the other scorers, in the proportion of their weights."""
    bare = Task("T_X", "Which soup?", Structure(at_least=1), "research", "corpus:x")
    scored = score(bare, said("The soup is hot."))
    assert set(scored.values) == {
        "citation_recall", "citation_precision", "structure", "length", "refused", "repeated_content", "self_contained",
    }  # fmt: skip
    weights = weights_for(bare)
    assert math.fsum(weights.values()) == pytest.approx(1)
    assert weights["structure"] / weights["length"] == pytest.approx(WEIGHTS["structure"] / WEIGHTS["length"])
    assert scored.total == pytest.approx(sum(weights[name] * value for name, value in scored.values.items()))


def test_the_first_sentence_answers_if_it_says_a_nugget() -> None:
    """Count nuggets of any importance; ignore later sentences."""
    assert first_sentence(task(), outcome(cited("There are onions in it."), cited("No."))) == 1.0
    assert first_sentence(task(), outcome(cited("No."), cited("The soup is hot."))) == 0.0
    assert first_sentence(task(), outcome()) == 0.0


def test_a_question_without_an_answer_is_scored_by_refusal_alone() -> None:
    """A report is wrong there, and no report is wrong for the other questions."""
    unanswerable = Task("T_X", "Which soup?", Structure(at_least=3), answerable=False)
    assert score(unanswerable, outcome()).values == {"refused": 1.0}
    assert score(unanswerable, said("The soup is hot.")).total == 0.0
    assert (refused(task(), said("No.")), refused(task(), outcome())) == (1.0, 0.0)
    with pytest.raises(ValueError, match="neither nuggets nor gold"):
        Task("T_X", "Which soup?", Structure(at_least=3), gold=("a",), answerable=False)
