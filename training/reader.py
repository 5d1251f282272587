"""Train the reader: `python -m training.reader --data DIR`. It takes 25 minutes on a GPU, days on two CPU cores; with
`--continued` it goes on from the shipped weights, about an hour on two CPU cores.
"""

import argparse
import dataclasses
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import torch
import transformers
from msgspec.structs import replace
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.pairs import read_lines
from benchmarks.reading import HELD_OUT_ARTICLES, is_held_out
from benchmarks.rows import entry_point, say
from harness.core.calibration import highest_threshold, lowest_threshold
from harness.core.reading_calibration import ReadingCalibration, sigmoid
from harness.core.support import LIKELIER
from harness.core.text import sentences
from harness.models.local.embedder import MiniLM
from harness.models.local.onnx import open_session
from harness.models.local.reader import NAME, WEIGHTS, ReaderRelease
from harness.models.local.tokenizer import tokenizer
from harness.ports import Embedder
from training.__main__ import THREADS, tell
from training.export import export, imported
from training.learning import Batch, learn, mean
from training.mixture import Mixture
from training.passes import SEED, Plan
from training.reader_model import (
    ANSWERS,
    HELPS,
    MAX_TOKENS,
    SUPPORT,
    TOKENS_A_BATCH,
    ReaderModel,
    reader_batches,
    reader_loss,
)
from training.reading import (
    HELPFUL,
    UNKNOWN,
    Reading,
    changed_sentences,
    held_out_sentences,
    in_context,
    question,
    questions,
    read_all,
)
from training.sources import ADDED, WRITTEN, read_sources
from training.teacher import HEAD_RATE, RATE, logits, taught, trained


@dataclass(frozen=True)
class ReadingPass:
    """Learning rates of a pass, how many times it reads everything, and how often each kind of pairs: a share, or
    times. Labelled pairs with more characters than `longest` are left out; `tokens` is the size of a batch.
    """

    plan: Plan
    epochs: int = 1
    questions: float = 1.0
    support: float = 1.0
    written: float = 1.0
    paws: float = 0.0
    same: float = 0.0
    changed: float = 0.0
    helpful: float = 1.0
    taught: float = 0.0
    longest: int = sys.maxsize
    tokens: int = TOKENS_A_BATCH


MOST_REFUSED = 0.1
"""Share of the answerable questions of SQuAD 2.0 that may be refused. Its questions are harder than most: each asks for
one detail of a passage.
"""
MOST_WRONG = 0.05
"""Share of texts that may be taken to support, or to contradict, a sentence wrongly."""
MEASURED = 8_000
"""Held-out readings that calibrate, or are reported: half of them each."""
WEIGHED = 8_000
"""Sentences that weigh the reader against similarity."""
READ_PASSAGES, READ_SENTENCES = 4, 24
"""Likest passages of the article, and their first sentences, that are read for a question to calibrate refusal."""
TEACHER = ReadingPass(Plan(SEED, rate=RATE, head_rate=HEAD_RATE), epochs=3, support=2, paws=0.5, same=0.2, changed=0.7)
"""Pass of the teacher over all that has labels."""
PASSES = {
    "taught": ReadingPass(
        Plan(SEED, rate=3e-4, head_rate=1e-3), epochs=2, support=2, paws=0.5, same=0.2, changed=0.5, taught=1
    ),
    "closing": ReadingPass(
        Plan(SEED + 2, rate=6e-5, head_rate=1e-4), support=2, paws=0.3, same=0.05, changed=0.2, taught=0.1
    ),
}
"""The first pass learns what the teacher makes of pairs with and without a label; the last reads again what has one."""
CONTINUED = ReadingPass(
    Plan(5, rate=1e-4, head_rate=3e-4, warm_up=0.05, smoothing=0.01),
    epochs=2,
    questions=0.09,
    support=0.2,
    written=0.09,
    longest=700,
    tokens=2_048,
)
"""Pass from the shipped weights over all sentences that help. It also reads some of the other labelled pairs, and
learns what these weights say of them (Hinton et al., 2015, arXiv:1503.02531), so that it does not forget; so does the
mean of the weights before and after (Wortsman et al., 2021, arXiv:2109.01903).
"""
SHIPPED = (128, 5)
"""Hidden units and outputs of the weights that ship: they do not know which sentences help."""
FROZEN = 2
"""Layers that do not learn in this pass."""
SHARES = (0.3, 0.7)
"""Shares of the weights before and after this pass in the result."""
HALF = 0.5
"""A text that is likelier than this to answer is taken to, where readings calibrate or measure."""
CHANGED = 6_000
"""Sentences that are changed: a little, and so that they say something else."""
QUERIES = 16_000
"""Questions without a passage that are read with near texts."""

Floats = NDArray[np.float64]


def encoded(readings: Sequence[Reading]) -> list[tuple[list[int], list[int]]]:
    """Return word pieces and types of each reading."""
    pairs = _pieces().encode_batch([(each.first, each.second) for each in readings])
    return [(pair.ids, pair.type_ids) for pair in pairs]


@cache
def _pieces() -> Tokenizer:
    pieces = Tokenizer.from_str(tokenizer().to_str())
    pieces.enable_truncation(MAX_TOKENS, strategy="longest_first")
    return pieces


def repeated(reading: Reading, each: ReadingPass) -> int:
    """Return how often a pass reads this."""
    if reading.source != "taught" and len(reading.first) + len(reading.second) > each.longest:
        return 0
    if reading.source in {"paws", "same", "changed", HELPFUL, "taught"}:
        often: float = getattr(each, reading.source)
    elif reading.answers == UNKNOWN:
        often = each.support
    else:
        often = each.written if reading.source.startswith("written:") else each.questions
    return int(often) + is_held_out(f"{each.plan.seed} {reading.first} {reading.second}", often % 1)


def train(readings: Sequence[Reading], data: Path, work: Path, *, continued: bool = False) -> ReaderModel:
    """Train the teacher, then the reader pass after pass: from MiniLM, or `continued` from the shipped weights, which
    are its own teacher: then the mean of the weights before and after is the result. The weights after each pass are
    stored in `work`; a stored pass is not repeated, nor is what the teacher made of the pairs.
    """
    torch.manual_seed(SEED)
    model, before = ReaderModel.pretrained(), None
    if continued:
        model = shipped()
        model.freeze(FROZEN)
        before = deepcopy(model.state_dict())
    every = cache(lambda: _with_own(readings, model) if continued else _with_teacher(readings, data, work))
    for name, each in ({"continued": CONTINUED} if continued else PASSES).items():
        kept = work / f"reader-{name}.pt"
        if kept.exists():
            model.load_state_dict(torch.load(kept, weights_only=True, map_location="cpu"))
            say(f"{kept} is there: not trained again")
            continue
        chosen = _chosen(every(), each)
        say(f"pass {name}: {len(chosen):,} pairs, {dict(Counter(r.source.split()[0] for r in chosen))}")
        chance, batches = Random(each.plan.seed), list[Batch]()
        for _ in range(each.epochs):
            batches += reader_batches(chosen, _pieces(), chance, each.tokens)
        learn(model, batches, each.plan, kept.with_suffix(".part"), tell, reader_loss)
        torch.save(model.state_dict(), kept)
    if before is not None:
        model.load_state_dict(mean([before, model.state_dict()], SHARES))
    return model


def shipped() -> ReaderModel:
    """Return the shipped weights, with an output for what they have not learned yet."""
    model = ReaderModel.pretrained(*SHIPPED)
    imported(model, WEIGHTS)
    return model.grown()


def _chosen(readings: Sequence[Reading], each: ReadingPass) -> list[Reading]:
    return [reading for reading in readings for _ in range(repeated(reading, each))]


def _with_own(readings: Sequence[Reading], model: ReaderModel) -> list[Reading]:
    """Return the readings that the pass from the shipped weights reads, with what these say of those that are not about
    help.
    """
    known = [each for each in _chosen(readings, CONTINUED) if each.source != HELPFUL]
    found = logits(model, _pieces(), [(each.first, each.second) for each in known])
    found[:, HELPS] = np.nan
    own = [dataclasses.replace(each, taught=tuple(row)) for each, row in zip(known, found.tolist(), strict=True)]
    return [*own, *(each for each in readings if each.source == HELPFUL)]


def _with_teacher(readings: Sequence[Reading], data: Path, work: Path) -> list[Reading]:
    """Return all that the reader learns from: what has labels and what has none, with the teacher's logits."""
    kept, chance = work / "taught.msgpack", Random(SEED)
    if kept.exists():
        return msgspec.msgpack.decode(kept.read_bytes(), type=list[Reading])
    labelled = [*readings, *same_pairs(data), *changed_sentences(readings, chance, CHANGED)]
    teacher = trained(_chosen(labelled, TEACHER), TEACHER.plan, TEACHER.epochs, TEACHER.tokens, work / "teacher.pt")
    asked = [each.first for each in labelled if each.same != UNKNOWN]
    queries = list(dict.fromkeys(chance.sample(asked, min(QUERIES, len(asked)))))
    found = taught(labelled, queries, teacher, chance)
    kept.write_bytes(msgspec.msgpack.encode(found))
    return found


def same_pairs(data: Path) -> Iterator[Reading]:
    """Yield pairs of questions that were written for this project; none has a wording of an evaluation."""
    mixture = Mixture(read_sources(data, permitted=True), "train", SEED)
    for folder in (*WRITTEN, *ADDED):
        for pair in mixture.changed(mixture.written(folder)):
            yield questions(pair.a, pair.b, pair.same, "same")


def report(readings: Sequence[Reading], logits: Floats) -> str:
    """Return a table of AUC by source, for the readings that are held out."""
    from sklearn.metrics import roc_auc_score

    lines = []
    groups = defaultdict[str, list[int]](list)
    for place, each in enumerate(readings):
        groups[each.source].append(place)
        groups["all answers" if each.answers >= 0 else "all support"].append(place)
    for name, places in sorted(groups.items()):
        support = readings[places[0]].answers < 0
        values = np.exp(logits[places, SUPPORT])
        score = values[:, 0] / values.sum(1) if support else logits[places, ANSWERS]
        right = np.array(
            [(readings[place].support[0] if support else readings[place].answers) > HALF for place in places]
        )
        area = roc_auc_score(right, score) if 0 < right.mean() < 1 else float("nan")
        lines.append(f"{name:24} {len(places):6,} {right.mean():6.1%} AUC {area:.3f} mean {score.mean():.2f}")
    return "\n".join(lines)


def helpful_precision(readings: Sequence[Reading], logits: Floats) -> float:
    """Return the mean average precision of the sentences that are read for a question: those that help come first."""
    from sklearn.metrics import average_precision_score

    asked = defaultdict[str, list[tuple[bool, float]]](list)
    for each, logit in zip(readings, logits[:, HELPS].tolist(), strict=True):
        asked[each.first].append((each.helps > 0, logit))
    answered = [list(zip(*each, strict=True)) for each in asked.values() if any(helps for helps, _ in each)]
    return float(np.mean([average_precision_score(labels, scores) for labels, scores in answered]))


def calibrated(readings: Sequence[Reading], logits: Floats, digest: str, embedder: str) -> ReaderRelease:
    """Return the calibration on readings that training has not seen: probabilities by logistic regression (Platt,
    1999), thresholds of support by conformal risk control (Angelopoulos et al., 2022, arXiv:2208.02814): at most
    `MOST_WRONG` of the texts that do not support (or contradict) a sentence are taken to. Any text answers, and
    similarity does not count.
    """
    asked = np.array([each.answers for each in readings])
    answers = asked >= 0
    slope, intercept = _platt(logits[answers, ANSWERS, None], asked[answers] > HALF)
    support = [place for place, each in enumerate(readings) if sum(each.support) == 1]
    classes = np.array([readings[place].support for place in support]).argmax(1)
    of_support = _support_calibration(logits[support, SUPPORT], classes)
    powers = np.exp(of_support[0] * logits[support, SUPPORT] + np.array(of_support[1:]))
    probabilities = powers / powers.sum(1, keepdims=True)
    supports, contradicts = (
        max(LIKELIER, lowest_threshold(probabilities[classes != each, each].tolist(), MOST_WRONG)) for each in (0, 1)
    )
    calibration = ReadingCalibration(
        f"{NAME}-{digest[:8]}",
        embedder,
        0.0,
        round(supports, 4),
        round(contradicts, 4),
        (1.0, 0.0, 0.0),
        f"{answers.sum():,} readings for answers, {len(support):,} for support",
    )
    return ReaderRelease(digest, (slope, intercept), of_support, calibration)


def with_refusal(made: ReaderRelease, best: Sequence[float]) -> ReaderRelease:
    """Return the release with the threshold of relevance that refuses at most `MOST_REFUSED` of the questions, whose
    highest relevance is in `best`.
    """
    answers = round(highest_threshold(best, MOST_REFUSED), 4)
    on = f"{made.calibration.calibrated_on}, {len(best):,} questions for refusal"
    return replace(made, calibration=replace(made.calibration, answers=answers, calibrated_on=on))


def _platt(scores: Floats, labels: NDArray[np.bool_]) -> tuple[float, ...]:
    """Return the weights of the scores, of shape (readings, scores), and a constant, by logistic regression."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=1e6).fit(scores, labels)
    return tuple(round(float(each), 4) for each in (*fitted.coef_[0], fitted.intercept_[0]))


def with_similarity(
    made: ReaderRelease, held_out: Sequence[tuple[Reading, str]], logits: Floats, embedder: Embedder
) -> ReaderRelease:
    """Return the release with weights of the reader's log-odds and of similarity that say how likely a sentence states
    the answer, by logistic regression on sentences of pages that training has not seen. Pairs that share their words,
    as in SQuAD 2.0, would give similarity no weight.
    """
    slope, intercept = made.answers
    near = embedder.embed([each.first for each, _ in held_out]) * embedder.embed([text for _, text in held_out])
    signs = np.stack([slope * logits[:, ANSWERS] + intercept, near.sum(1)], axis=1)
    fitted = _platt(signs, np.array([each.helps == 1.0 for each, _ in held_out]))
    on = f"{made.calibration.calibrated_on}, {len(held_out):,} sentences for relevance"
    return replace(made, calibration=replace(made.calibration, weights=fitted, calibrated_on=on))


def best_relevance(weights: Path, data: Path, embedder: Embedder, made: ReaderRelease) -> list[float]:
    """Return, for each answerable held-out question of SQuAD 2.0 that calibrates, the highest relevance of a
    sentence.
    """
    rows = [row for row in read_lines(data / "reading" / "squad2.jsonl.gz") if row["title"] in HELD_OUT_ARTICLES]
    slope, intercept = made.answers
    found = []
    for title in sorted(HELD_OUT_ARTICLES):
        passages = sorted({row["passage"] for row in rows if row["title"] == title})
        split = [list(sentences(passage)) for passage in passages]
        vectors = embedder.embed(passages)
        of_sentence = {
            text: vector for texts in split for text, vector in zip(texts, embedder.embed(texts), strict=True)
        }
        for row in rows:
            if row["title"] == title and row["answerable"] and is_held_out(f"half {row['question']}", 0.5):
                [asked] = embedder.embed([row["question"]])
                near = np.argsort(-(vectors @ asked))[:READ_PASSAGES]
                texts = [text for place in near for text in split[place]][:READ_SENTENCES]
                named = [in_context(title.replace("_", " "), "", text) for text in texts]
                logits = exported_logits(weights, [question(row["question"], text, 0.0, "") for text in named])
                found.append(
                    max(
                        made.calibration.relevance(sigmoid(slope * logit + intercept), float(of_sentence[text] @ asked))
                        for text, logit in zip(texts, logits[:, ANSWERS], strict=True)
                    )
                )
    return found


def _support_calibration(logits: Floats, classes: NDArray[np.int64]) -> tuple[float, float, float, float]:
    """Return one slope and an intercept for each class, by gradient descent on the log loss."""
    slope, shifts = torch.ones(1, requires_grad=True), torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.LBFGS([slope, shifts], max_iter=200)
    given, wanted = torch.tensor(logits, dtype=torch.float32), torch.tensor(classes)

    def lost() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(given * slope + shifts, wanted)
        loss.backward()
        return loss

    optimizer.step(lost)
    values = [round(float(each), 4) for each in (*slope.detach(), *(shifts - shifts.mean()).detach())]
    return values[0], values[1], values[2], values[3]


@cache
def _session(weights: Path) -> Any:
    return open_session(weights.read_bytes())


def exported_logits(weights: Path, readings: Sequence[Reading]) -> Floats:
    """Return the logits of the exported model, which reads the pairs one by one."""
    session = _session(weights)
    found = []
    for ids, types in encoded(readings):
        inputs = {"input_ids": np.array([ids], dtype=np.int64), "token_type_ids": np.array([types], dtype=np.int64)}
        found.append(session.run(None, inputs)[0][0])
    return np.array(found, dtype=np.float64)


@entry_point
def main() -> None:
    """Run the command: train, export, calibrate, measure."""
    parser = argparse.ArgumentParser(prog="python -m training.reader", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the data to learn from")
    parser.add_argument("--work", type=Path, metavar="DIR", default=Path("build/training"), help="keeps the state")
    parser.add_argument("--weights", type=Path, metavar="FILE", default=WEIGHTS, help="the file that is written")
    parser.add_argument("--continued", action="store_true", help="go on from the shipped weights")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    transformers.logging.set_verbosity_error()
    arguments.work.mkdir(parents=True, exist_ok=True)
    embedder = MiniLM()
    readings = read_all(arguments.data, embedder, SEED)
    learned = [each for each in readings if not each.held_out]
    held_out = [each for each in readings if each.held_out]
    held_out = Random(SEED).sample(held_out, min(MEASURED, len(held_out)))
    say(f"{len(learned):,} pairs to learn, {len(held_out):,} held out")
    model = train(learned, arguments.data, arguments.work, continued=arguments.continued)
    digest = export(model, arguments.weights, output=torch.nn.Identity())
    say(f"{arguments.weights}: {arguments.weights.stat().st_size:,} bytes")
    logits = exported_logits(arguments.weights, held_out)
    half = np.array([is_held_out(f"half {each.first}", 0.5) for each in held_out])
    calibrating, measuring = (
        [each for each, chosen in zip(held_out, mask, strict=True) if chosen] for mask in (half, ~half)
    )
    made = calibrated(calibrating, logits[half], digest, embedder.id)
    helping = list(held_out_sentences(Random(SEED)))[:WEIGHED]
    of_helping = exported_logits(arguments.weights, [each for each, _ in helping])
    made = with_similarity(made, helping, of_helping, embedder)
    made = with_refusal(made, best_relevance(arguments.weights, arguments.data, embedder, made))
    arguments.weights.with_suffix(".json").write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    print(report(measuring, logits[~half]))
    precision = helpful_precision([each for each, _ in helping], of_helping)
    print(f"sentences that help, mean average precision: {precision:.3f}")
    print(f"SHA-256 {digest}, {made.calibration}")


if __name__ == "__main__":
    main()
