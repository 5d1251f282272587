"""Answers from a corpus of notes: yes for a question in any order of words, no for other subjects."""

from pathlib import Path

import pytest

from harness.cache import Cache
from harness.models.local.embedder import MiniLM
from harness.research.result import Research
from harness.sources.corpus.engine import Corpus, open_corpus
from harness.storage.sqlite.store import SqliteStore
from tests.research.test_run import research, silent

NOTES = {
    "team": {
        "engineering.md": """# Notes

## Networking

Retries use exponential backoff with jitter, and stop after five attempts. Timeouts are two seconds for reads.

## Deployments

We deploy on Tuesdays and Thursdays. Two approvals are needed for each deployment. Hotfixes may go out at any time.

## Coffee machine

Descale the coffee machine every month with citric acid. Beans are ordered from the roastery around the corner.
""",
        "oncall.md": """# On-call rota

The on-call engineer changes every Monday at 9:00. Everybody on call answers pages within 15 minutes.

Swaps are agreed in the channel and entered in the calendar by the engineer who gives the shift away.
""",
        "release.md": """# Release checklist

Before a release, run the full test suite and update the changelog. Tag the commit and build the packages.

After the release, watch the error rate for an hour. If it doubles, roll back to the previous version at once.
""",
        "style.md": """# Style guide

Write short sentences in the active voice. Names of functions are verbs, names of classes are nouns.
""",
    },
    "operations": {
        "limits.md": """# API limits

The public API allows 100 requests per minute for each key. Above that it answers with status 429.

Uploads may have at most 25 MB. Larger files go through the bulk import.
""",
        "backup.md": """# Backups

The database is backed up every night at 02:00 to the second data centre. All backups are kept for 35 days.

A restore is rehearsed on the first Tuesday of each quarter; the last one took 40 minutes.
""",
        "access.md": """# Access to production

Access to the production servers is granted for eight hours by the security team. A ticket names the reason.

Passwords are rotated every 90 days and must have at least 14 characters.
""",
    },
    "kitchen": {
        "bread.md": """# Sourdough bread

Mix 500 g flour with 350 g water and 100 g starter. Let the dough rise for twelve hours at room temperature.
""",
        "rice.md": """# Rice

Rinse the rice until the water runs clear. Use one and a half cups of water for each cup of rice and simmer it.
""",
        "knives.md": """# Knives

Sharpen kitchen knives on a whetstone with 1000 grit every two months. Never put a knife into the dishwasher.
""",
    },
    "python": {
        "objects.md": """# Mutable and immutable objects

The value of a mutable object can change after it is created; lists, dictionaries and sets are mutable. The value of
an immutable object cannot change; numbers, strings and tuples are immutable.
""",
        "generators.md": """# Generators

A generator function contains a yield expression and returns an iterator when it is called. Generators save memory,
because no list of all the values is built.
""",
    },
}

PAIRS = [
    ("team", "what is our retry policy", "our policy for retries"),
    ("team", "how do we limit retries", "policy retries our"),
    ("team", "on which days do we deploy", "deploying days"),
    ("team", "how often should the coffee machine be descaled", "descaling the coffee machine: how often?"),
    ("team", "when does the on-call engineer change", "on-call engineer change, when"),
    ("team", "who's on call and how fast must they answer pages", "how fast must pages be answered by who is on call"),
    ("team", "what should I do before a release", "before releasing, what should be done"),
    ("team", "how do we name functions and classes", "naming of classes and functions"),
    ("operations", "what's the rate limit of our public API", "our public API's rate limits"),
    ("operations", "how large may an upload be", "max upload size"),
    ("operations", "how long are backups kept", "backups, kept for how long"),
    ("operations", "when was the last restore rehearsal", "rehearsal of restores"),
    ("operations", "how do I get access to production", "production access, how to get"),
    ("operations", "how often are passwords rotated", "password rotation"),
    ("operations", "what happens when I exceed the API limit", "exceeding the API’s limits"),
    ("kitchen", "how long does sourdough rise", "rise time of sourdough dough"),
    ("kitchen", "how much water does rice need", "rice water ratio"),
    ("kitchen", "how should I sharpen my knives", "knife sharpening"),
    ("python", "what's the difference between mutable and immutable objects", "difference immutable mutable objects"),
    ("python", "how do generators save memory", "memory saved by generators, how"),
]

UNANSWERED = [
    ("team", "what is our vacation policy"),
    ("team", "our policy for parental leave"),
    ("team", "when is the office closed"),
    ("team", "who won the world cup in 2018"),
    ("operations", "our policy for vacations"),
    ("operations", "which API does the weather service use"),
    ("operations", "what is the speed limit on motorways"),
    ("kitchen", "what is the boiling point of mercury"),
    ("python", "what's the difference between cats and dogs"),
    ("python", "how do I configure nginx"),
]


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    """Return the real one, loaded once."""
    return MiniLM()


@pytest.fixture(scope="module")
def corpora(embedder: MiniLM, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Corpus]:
    """Return the notes, each folder indexed by words and meaning."""
    opened = {}
    for name, notes in NOTES.items():
        folder = tmp_path_factory.mktemp(name)
        for file, text in notes.items():
            (folder / file).write_text(text)
        opened[name] = open_corpus(str(folder), tmp_path_factory.mktemp("index"), silent, embedder)
    return opened


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """Return one cache for all tests, so that each note is embedded once."""
    return Cache(SqliteStore(tmp_path_factory.mktemp("cache") / "harness.db"))


def answered_from(found: Research) -> str | None:
    """Return the name of the best excerpt's note, or `None` without a report."""
    return found.evidence[0].source.url.rpartition("/")[2] if found.report else None


def test_there_are_twenty_pairs() -> None:
    """Each of two different questions."""
    assert len({(corpus, *pair) for corpus, *pair in PAIRS}) == 20
    assert all(one != other for _, one, other in PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize(("corpus", "question", "reworded"), PAIRS, ids=[pair[1] for pair in PAIRS])
def test_a_question_is_answered_in_any_order_of_words(
    cache: Cache, corpora: dict[str, Corpus], embedder: MiniLM, corpus: str, question: str, reworded: str
) -> None:
    """Both wordings have a report, its best excerpt is from the same note, and neither ends without evidence."""
    found = [research(cache, corpora[corpus], embedder, question=each) for each in (question, reworded)]
    assert answered_from(found[0]) is not None
    assert answered_from(found[0]) == answered_from(found[1])
    assert "no evidence" not in {each.gathered.stop_reason for each in found}


@pytest.mark.parametrize(("corpus", "question"), UNANSWERED, ids=[question for _, question in UNANSWERED])
def test_other_subjects_are_not_answered(
    cache: Cache, corpora: dict[str, Corpus], embedder: MiniLM, corpus: str, question: str
) -> None:
    """Words shared by chance make no report."""
    found = research(cache, corpora[corpus], embedder, question=question)
    assert (found.report, found.gathered.stop_reason) == (None, "no evidence")


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Staging is restarted every Monday.", "when is staging restarted"),
        ("Staging is restarted every Monday.", "which day is the staging server rebooted"),
        ("The office closes at six.", "when does the office close"),
    ],
)
def test_a_short_sentence_is_quoted(
    cache: Cache, embedder: MiniLM, tmp_path: Path, sentence: str, question: str
) -> None:
    """Five words may be the whole answer."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text(f"# Notes\n\n{sentence}\n")
    found = research(cache, open_corpus(str(folder), tmp_path / "index", silent, embedder), embedder, question=question)
    assert found.report is not None
    assert [each.sentence for each in found.report.citations] == [sentence]
