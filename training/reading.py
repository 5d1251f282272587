"""Training data of the reader: does a text answer a question; does a quotation support a sentence.

Public sets whose licence permits it (SQuAD 2.0, Climate-FEVER, PubMedQA, PAWS; see the model card), and what was
written for this project (`written/reader`). A part of each is held out by a hash of its article, claim or line, and
only measures.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

import numpy as np
import orjson

from benchmarks.pairs import read_lines
from benchmarks.reading import HELD_OUT_ARTICLES, HELD_OUT_CLAIMS, is_held_out
from harness.core.text import sentences
from harness.ports import Embedder
from training.contrasts import CONTRASTS
from training.rewordings import REWORDINGS, SMALL, Composed

WRITTEN = Path(__file__).parent / "written" / "reader"
OTHER_SENTENCES = 3
"""Sentences without the answer that are read with a question, for each with it."""
OTHER_PASSAGES = 0.3
"""Share of the written questions that are read with a passage about something else: an easy case."""
SUPPORTS, CONTRADICTS, NEITHER = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NOT_SUPPORTS, NOT_ASKED = (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)
CONTRADICTING = frozenset({"numbers", "dates", "versions", "negation", "opposites", "comparatives", "direction"})
"""Generated contrasts that a sentence cannot be true with; of others (names, roles) it is only not supported."""
LIGHT = frozenset({"synonyms", "voice", "contractions", "spelling", "number words", "abbreviations"})
"""Generated rewordings that suit a sentence, beside small changes."""
USEFUL = 0.7
"""Probability that a sentence with a condition or an example of the answer answers."""
OTHERS, OF_THEIR_PAGES = 5, 0.7
"""Sentences that do not help that are read with a question, or twice as many as those that do, and the share of them
that is from the same pages.
"""
UNTITLED = 0.12
"""Share of the sentences that are read without the title of their page."""
NEAR, NEAR_READ = 10, 2
"""Likest sentences of other subjects, by words and again by vectors, and how many of them are read with a question."""
ASKED_AT_ONCE = 500
"""Questions that are compared with all sentences at once."""
HELD_OUT_SUBJECTS = 0.12
"""Share of the subjects that are held out, with all their questions."""
UNKNOWN = -1.0
HELPFUL = "helpful"
"""Source of the sentences that help someone who asked, or do not."""
NOT_TAUGHT = (float("nan"),) * 6


@dataclass(frozen=True)
class Reading:
    """A question or sentence and the text that is read for it.

    `answers` is a probability, or `UNKNOWN` where that is not asked; `support` has a 1 for each class that may be right
    (supports, contradicts, neither), none where that is not asked; `same`, whether two questions have one answer, is
    like `answers`, and so is `helps`: whether a sentence helps someone who asked. `taught` has the six logits of
    another model, NaN where it was not asked. `source` names the set.
    """

    first: str
    second: str
    answers: float
    support: tuple[float, float, float]
    source: str
    held_out: bool = False
    same: float = UNKNOWN
    taught: tuple[float, ...] = NOT_TAUGHT
    helps: float = UNKNOWN


def question(first: str, second: str, answers: float, source: str, held_out: bool = False) -> Reading:
    """Return a reading for the question whether a text answers."""
    return Reading(first, second, float(answers), NOT_ASKED, source, held_out)


def sentence(first: str, second: str, answers: float, source: str, held_out: bool = False) -> Reading:
    """Return a reading for the questions whether a sentence answers, and whether it helps, which is as likely."""
    return replace(question(first, second, answers, source, held_out), helps=float(answers))


def helping(first: str, second: str, helps: float) -> Reading:
    """Return a reading for the question whether a sentence helps."""
    return Reading(first, second, UNKNOWN, NOT_ASKED, HELPFUL, helps=helps)


def questions(first: str, second: str, same: float, source: str) -> Reading:
    """Return a reading for the question whether two questions have one answer."""
    return Reading(first, second, UNKNOWN, NOT_ASKED, source, same=float(same))


def claim(
    first: str, second: str, support: tuple[float, float, float], source: str, *, held_out: bool = False
) -> Reading:
    """Return a reading for the question whether a quotation supports."""
    return Reading(first, second, UNKNOWN, support, source, held_out)


def in_context(title: str, heading: str, text: str) -> str:
    """Return a text as the reader gets it: after the title of its page and its heading."""
    place = " - ".join(each for each in (title, heading) if each)
    return f"{place}: {text}" if place else text


def squad(folder: Path, embedder: Embedder, chance: Random) -> Iterator[Reading]:
    """Yield passages with the questions that they answer or only seem to, their sentences, and like passages of the
    same article.
    """
    rows = list(read_lines(folder / "reading" / "squad2.jsonl.gz"))
    articles = defaultdict[str, list[str]](list)
    for row in rows:
        if row["passage"] not in articles[row["title"]]:
            articles[row["title"]].append(row["passage"])
    for title, passages in articles.items():
        asked = [row for row in rows if row["title"] == title]
        near = _nearest(embedder, [row["question"] for row in asked], passages)
        for row, order in zip(asked, near, strict=True):
            held_out = title in HELD_OUT_ARTICLES
            named = title.replace("_", " ") if chance.random() < 0.5 else ""
            text, passage = row["question"], row["passage"]
            yield question(text, in_context(named, "", passage), row["answerable"], "squad", held_out)
            other = next(passages[place] for place in order if passages[place] != passage)
            yield question(text, in_context(named, "", other), False, "squad article", held_out)
            split = list(sentences(passage))
            right = _sentence_at(split, passage, row["answers"][0][1]) if row["answerable"] else None
            if right is not None:
                yield sentence(text, in_context(named, "", right), True, "squad sentence", held_out)
            wrong = [each for each in split if each != right]
            for each in chance.sample(wrong, min(OTHER_SENTENCES, len(wrong))):
                yield sentence(text, in_context(named, "", each), False, "squad sentence", held_out)


def _sentence_at(split: Sequence[str], passage: str, start: int) -> str | None:
    for each in split:
        place = passage.find(each)
        if place <= start < place + len(each):
            return each
    return None


def pubmed(folder: Path, embedder: Embedder, chance: Random) -> Iterator[Reading]:
    """Yield questions with their own abstract's paragraphs, and with the likest of other abstracts."""
    rows = list(read_lines(folder / "retrieval" / "pubmedqa.jsonl.gz"))
    texts = [(number, text) for number, row in enumerate(rows) for text in row["contexts"]]
    near = _nearest(embedder, [row["question"] for row in rows], [text for _, text in texts])
    for number, (row, order) in enumerate(zip(rows, near, strict=True)):
        held_out = is_held_out(row["pmid"], 0.5)
        own = [place for place in order if texts[place][0] == number]
        others = [place for place in order if texts[place][0] != number][:8]
        yield question(row["question"], row["long_answer"], True, "pubmed", held_out)
        for place in own[:2]:
            yield question(row["question"], texts[place][1], True, "pubmed", held_out)
        for place in chance.sample(others, 4):
            yield question(row["question"], texts[place][1], False, "pubmed", held_out)


def climate(folder: Path) -> Iterator[Reading]:
    """Yield claims with sentences of Wikipedia."""
    classes = {"SUPPORTS": SUPPORTS, "REFUTES": CONTRADICTS, "NOT_ENOUGH_INFO": NEITHER}
    for row in read_lines(folder / "reading" / "climate_fever.jsonl.gz"):
        held_out = is_held_out(row["claim"], HELD_OUT_CLAIMS)
        yield claim(row["claim"], row["evidence"], classes[row["label"]], "climate", held_out=held_out)


def paws(folder: Path) -> Iterator[Reading]:
    """Yield sentences with their rewordings, and with others of the same words that say something else."""
    for row in read_lines(folder / "query_pairs" / "paws.jsonl.gz"):
        held_out = is_held_out(row["a"], 0.5)
        yield claim(row["a"], row["b"], SUPPORTS if row["label"] else NOT_SUPPORTS, "paws", held_out=held_out)


def written_answers(chance: Random) -> Iterator[Reading]:
    """Yield passages that were written for this, with questions that they answer, nearly answer, or do not touch."""
    rows = list(_written("answers"))
    for row in rows:
        split: list[str] = row["sentences"]
        whole, held_out = " ".join(split), is_held_out("".join(split), 0.12)
        for text, right in row["answered"]:
            yield question(text, _placed(row, whole, chance), True, "written:passage", held_out)
            for place in right[:2]:
                read = in_context(row["title"], row["heading"], split[place])
                yield sentence(text, read, True, "written:sentence", held_out)
            wrong = [each for place, each in enumerate(split) if place not in right]
            for each in chance.sample(wrong, min(OTHER_SENTENCES, len(wrong))):
                yield sentence(text, _placed(row, each, chance), False, "written:sentence", held_out)
            other = chance.choice(rows)
            if other is not row and chance.random() < OTHER_PASSAGES:
                yield question(
                    text, _placed(other, " ".join(other["sentences"]), chance), False, "written:other", held_out
                )
        for kind, text in row["near"]:
            for each in (whole, chance.choice(split)):
                yield question(text, _placed(row, each, chance), False, f"written:near {kind}", held_out)


def helpful_sentences(chance: Random, near: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Iterator[Reading]:
    """Yield questions with the sentences about their subject that help, with some of the others, and with some of those
    `near` it (see `near_sentences`).
    """
    for row in _subjects(held_out=False):
        for asked in row["questions"]:
            helps = _helps(asked)
            others = {*_others(row["passages"], helps, chance)}
            for page in row["passages"]:
                for name, text in page["sentences"].items():
                    if name in helps or name in others:
                        titled = chance.random() >= UNTITLED
                        read = in_context(page["title"], page["heading"], text) if titled else text
                        yield helping(asked["q"], read, helps.get(name, 0.0))
            likest = near.get(asked["q"], ())
            read_too = chance.sample(likest, min(NEAR_READ, len(likest)))
            yield from (helping(asked["q"], text, 0.0) for text in read_too)


def held_out_sentences(chance: Random) -> Iterator[tuple[Reading, str]]:
    """Yield questions about the subjects that are held out, subject after subject in random order, with every sentence
    about them, and each sentence without its title.
    """
    rows = _subjects(held_out=True)
    for row in chance.sample(rows, len(rows)):
        for asked in row["questions"]:
            helps = _helps(asked)
            for page in row["passages"]:
                for name, text in page["sentences"].items():
                    read = in_context(page["title"], page["heading"], text)
                    yield helping(asked["q"], read, helps.get(name, 0.0)), text


def _subjects(*, held_out: bool) -> list[dict[str, Any]]:
    return [row for row in _written("helpful") if is_held_out(row["subject"], HELD_OUT_SUBJECTS) is held_out]


def _helps(asked: Mapping[str, Any]) -> dict[str, float]:
    """Return the sentences that help someone who asked this, by name, and how likely each answers."""
    return {**dict.fromkeys(asked["useful"], USEFUL), **dict.fromkeys(asked["core"], 1.0)}


def _others(pages: Sequence[Mapping[str, Any]], helps: Mapping[str, float], chance: Random) -> list[str]:
    """Return the names of some sentences that do not help: most of them from the pages of those that do."""
    most, near, far = max(OTHERS, 2 * len(helps)), list[str](), list[str]()
    for page in pages:
        names = page["sentences"].keys()
        (far if helps.keys().isdisjoint(names) else near).extend(names - helps.keys())
    chosen = chance.sample(sorted(near), min(len(near), round(most * OF_THEIR_PAGES)))
    return chosen + chance.sample(sorted(far), min(len(far), most - len(chosen)))


def near_sentences(embedder: Embedder) -> dict[str, list[str]]:
    """Return, for each written question, the likest sentences about other subjects, by words (TF-IDF) and by vectors:
    a search finds such ones for a question that nothing answers.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = _subjects(held_out=False)
    texts = [
        (number, in_context(page["title"], page["heading"], text), text)
        for number, row in enumerate(rows)
        for page in row["passages"]
        for text in page["sentences"].values()
    ]
    subjects, about = np.array([number for number, *_ in texts]), defaultdict[str, list[int]](list)
    for number, row in enumerate(rows):
        for each in row["questions"]:
            about[each["q"]].append(number)
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    words = vectorizer.fit_transform([read for _, read, _ in texts])
    vectors, found = embedder.embed([text for *_, text in texts]), defaultdict[str, list[str]](list)
    every = list(about)
    for start in range(0, len(every), ASKED_AT_ONCE):
        asked = every[start : start + ASKED_AT_ONCE]
        own = np.array([np.isin(subjects, about[text]) for text in asked])
        for likeness in ((vectorizer.transform(asked) @ words.T).toarray(), embedder.embed(asked) @ vectors.T):
            places = np.argpartition(np.where(own, 1.0, -likeness), NEAR)[:, :NEAR]
            for text, likest in zip(asked, places, strict=True):
                found[text] += [texts[place][1] for place in likest if subjects[place] not in about[text]]
    return found


def _placed(row: Mapping[str, Any], text: str, chance: Random) -> str:
    """Return a text with its title and heading, in seven of ten cases."""
    return in_context(row["title"], row["heading"], text) if chance.random() < 0.7 else text


def _written(name: str) -> Iterator[dict[str, Any]]:
    for file in sorted(WRITTEN.glob(f"{name}*.jsonl")):
        yield from map(orjson.loads, file.read_bytes().splitlines())


def written_support() -> Iterator[Reading]:
    """Yield quotations that were written for this, with sentences that they support, contradict, or neither."""
    for row in _written("supports"):
        held_out = is_held_out(row["quotation"], 0.12)
        for text in row["supports"]:
            yield claim(text, row["quotation"], SUPPORTS, "written:support", held_out=held_out)
        for kind, text in row["contradicts"]:
            yield claim(text, row["quotation"], CONTRADICTS, f"written:contradicts {kind}", held_out=held_out)
        for kind, text in row["neither"]:
            yield claim(text, row["quotation"], NEITHER, f"written:neither {kind}", held_out=held_out)


def changed_sentences(readings: Sequence[Reading], chance: Random, number: int) -> Iterator[Reading]:
    """Yield sentences with themselves a little reworded (supported), with a contrast (not supported), and with the
    passage that they are from (supported): people write most of a report in the words of its sources.
    """
    reworded = Composed([*SMALL, *(each for each in REWORDINGS if each.name in LIGHT)], 1, 3)
    passages = list(dict.fromkeys(each.second for each in readings if each.source in {"squad", "written:passage"}))
    for passage in chance.sample(passages, min(number, len(passages))):
        sentence = chance.choice(list(sentences(passage)))
        yield claim(sentence, passage, SUPPORTS, "changed")
        variant = reworded.vary(sentence, chance)
        if variant:
            yield claim(variant, chance.choice((sentence, passage)), SUPPORTS, "changed")
        for contrast in chance.sample(CONTRASTS, len(CONTRASTS)):
            if other := contrast.vary(variant or sentence, chance):
                label = CONTRADICTS if contrast.name in CONTRADICTING else NOT_SUPPORTS
                yield claim(other, chance.choice((sentence, passage)), label, "changed")
                break


def _nearest(embedder: Embedder, asked: Sequence[str], texts: Sequence[str]) -> Iterable[Sequence[int]]:
    """Return, for each question, the places of the texts, the likest first."""
    similarity = embedder.embed(asked) @ embedder.embed(texts).T
    order: Any = np.argsort(-similarity, axis=1)
    return order


def read_all(folder: Path, embedder: Embedder, seed: int) -> list[Reading]:
    """Return all readings, those that are held out, too."""
    chance = Random(seed)
    return [
        *squad(folder, embedder, chance),
        *pubmed(folder, embedder, chance),
        *climate(folder),
        *paws(folder),
        *written_answers(chance),
        *written_support(),
        *helpful_sentences(chance, near_sentences(embedder)),
    ]
