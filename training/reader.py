"""Train the reader: `python -m training.reader --data DIR`. It takes about an hour on two CPU cores with bfloat16."""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from benchmarks.pairs import read_lines
from benchmarks.reading import HELD_OUT_ARTICLES, is_held_out
from benchmarks.rows import say
from harness.core.text import sentences
from harness.models.local.embedder import MiniLM
from harness.models.local.onnx import open_session
from harness.models.local.reader import WEIGHTS, ReaderRelease
from harness.models.local.tokenizer import tokenizer
from harness.ports import Embedder
from training.__main__ import THREADS, tell
from training.export import export
from training.learning import in_batches, learn
from training.passes import SEED, Plan
from training.reader_model import ReaderModel, reader_loss
from training.reading import UNKNOWN, Reading, in_context, question, read_all

MAX_TOKENS = 256
"""Word pieces of a pair in training; longer texts are cut. The shipped reader reads up to 512."""


@dataclass(frozen=True)
class ReadingPass:
    """Learning rates of a pass; the share of the public questions that it reads; how often it reads pairs of support,
    and the written examples; whether it reads PAWS.
    """

    plan: Plan
    questions: float = 1.0
    support: int = 1
    written: int = 0
    paws: bool = False


MOST_REFUSED = 0.1
"""Share of the answerable questions of SQuAD 2.0 that may be refused. Its questions are harder than most: each asks for
one detail of a passage.
"""
READ_PASSAGES, READ_SENTENCES = 4, 24
"""Likest passages of the article, and their first sentences, that are read for a question to calibrate refusal."""
PASSES = {
    "public": ReadingPass(Plan(SEED, rate=6e-5, head_rate=6e-4), paws=True),
    "all": ReadingPass(Plan(SEED + 1, rate=8e-5, head_rate=2e-4), support=3, written=2),
    "closing": ReadingPass(Plan(SEED + 2, rate=5e-5, head_rate=1e-4), questions=0.3, support=1, written=2),
}
"""The first pass reads the public sets; the second also the written examples, and each pair of support three times:
there are few of them, and they are the hardest. The last reads mostly what is written.
"""

Floats = NDArray[np.float64]


def encoded(readings: Sequence[Reading]) -> list[tuple[list[int], list[int], list[float]]]:
    """Return word pieces, types and targets of each reading."""
    pieces = tokenizer()
    pieces.enable_truncation(MAX_TOKENS, strategy="only_second")
    pairs = pieces.encode_batch([(each.first, each.second) for each in readings])
    targets = [[each.answers, *each.support] for each in readings]
    return [(pair.ids, pair.type_ids, target) for pair, target in zip(pairs, targets, strict=True)]


def repeated(reading: Reading, each: ReadingPass) -> int:
    """Return how often a pass reads this."""
    if reading.source == "paws":
        return int(each.paws)
    often = each.support if reading.answers == UNKNOWN else 1
    if reading.source.startswith("written:"):
        return often * each.written
    chosen = reading.answers == UNKNOWN or is_held_out(f"pass {reading.first} {reading.second}", each.questions)
    return often * chosen


def train(readings: Sequence[Reading], work: Path) -> ReaderModel:
    """Train pass after pass. The weights after each are stored in `work`; a stored pass is not repeated."""
    torch.manual_seed(SEED)
    model = ReaderModel.pretrained()
    for name, each in PASSES.items():
        kept = work / f"reader-{name}.pt"
        if kept.exists():
            model.load_state_dict(torch.load(kept, weights_only=True))
            say(f"{kept} is there: not trained again")
            continue
        chosen = [reading for reading in readings for _ in range(repeated(reading, each))]
        say(f"pass {name}: {len(chosen):,} pairs")
        batches = in_batches(encoded(chosen), Random(each.plan.seed))
        learn(model, batches, each.plan, kept.with_suffix(".part"), tell, reader_loss)
        torch.save(model.state_dict(), kept)
    return model


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
        values = np.exp(logits[places, 1:])
        score = values[:, 0] / values.sum(1) if support else logits[places, 0]
        right = np.array([readings[place].support[0] if support else readings[place].answers for place in places])
        area = roc_auc_score(right, score) if 0 < right.mean() < 1 else float("nan")
        lines.append(f"{name:24} {len(places):6,} {right.mean():6.1%} AUC {area:.3f} mean {score.mean():.2f}")
    return "\n".join(lines)


def calibrated(readings: Sequence[Reading], logits: Floats, digest: str, best: Floats) -> ReaderRelease:
    """Return the calibration on readings that training has not seen, by logistic regression (Platt, 1999).

    `best` are the highest logits that any sentence has for questions that can be answered. `least` is the probability
    below which at most `MOST_REFUSED` of them are, as conformal prediction counts (Vovk et al., 2005).
    """
    from sklearn.linear_model import LogisticRegression

    asked = np.array([each.answers for each in readings])
    answers = asked >= 0
    fitted = LogisticRegression(C=1e6).fit(logits[answers, :1], asked[answers])
    slope, intercept = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    lowest = np.sort(best)[int(MOST_REFUSED * (len(best) + 1)) - 1]
    support = [place for place, each in enumerate(readings) if sum(each.support) == 1]
    return ReaderRelease(
        digest,
        (round(slope, 4), round(intercept, 4)),
        _support_calibration(logits[support, 1:], np.array([readings[place].support for place in support]).argmax(1)),
        round(float(1 / (1 + np.exp(-(slope * lowest + intercept)))), 4),
        f"{answers.sum():,} readings for answers, {len(support):,} for support, {len(best):,} questions for refusal",
    )


def best_logits(weights: Path, data: Path, embedder: Embedder) -> Floats:
    """Return, for each answerable held-out question of SQuAD 2.0 that calibrates, the highest logit of a sentence."""
    rows = [row for row in read_lines(data / "reading" / "squad2.jsonl.gz") if row["title"] in HELD_OUT_ARTICLES]
    found = []
    for title in sorted(HELD_OUT_ARTICLES):
        passages = sorted({row["passage"] for row in rows if row["title"] == title})
        vectors = embedder.embed(passages)
        for row in rows:
            if row["title"] == title and row["answerable"] and is_held_out(f"half {row['question']}", 0.5):
                near = np.argsort(-(vectors @ embedder.embed([row["question"]])[0]))[:READ_PASSAGES]
                texts = [text for place in near for text in sentences(passages[place])][:READ_SENTENCES]
                named = [in_context(title.replace("_", " "), "", text) for text in texts]
                read = [question(row["question"], text, answers=False, source="") for text in named]
                found.append(exported_logits(weights, read)[:, 0].max())
    return np.array(found)


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
    for ids, types, _ in encoded(readings):
        inputs = {"input_ids": np.array([ids], dtype=np.int64), "token_type_ids": np.array([types], dtype=np.int64)}
        found.append(session.run(None, inputs)[0][0])
    return np.array(found, dtype=np.float64)


def main() -> None:
    """Run the command: train, export, calibrate, measure."""
    parser = argparse.ArgumentParser(prog="python -m training.reader", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the data to learn from")
    parser.add_argument("--work", type=Path, metavar="DIR", default=Path("build/training"), help="keeps the state")
    parser.add_argument("--weights", type=Path, metavar="FILE", default=WEIGHTS, help="the file that is written")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    transformers.logging.set_verbosity_error()
    arguments.work.mkdir(parents=True, exist_ok=True)
    embedder = MiniLM()
    readings = read_all(arguments.data, embedder, SEED)
    learned = [each for each in readings if not each.held_out]
    held_out = [each for each in readings if each.held_out]
    say(f"{len(learned):,} pairs to learn, {len(held_out):,} held out")
    model = train(learned, arguments.work)
    digest = export(model, arguments.weights, output=torch.nn.Identity())
    say(f"{arguments.weights}: {arguments.weights.stat().st_size:,} bytes")
    logits = exported_logits(arguments.weights, held_out)
    half = np.array([is_held_out(f"half {each.first}", 0.5) for each in held_out])
    calibrating, measuring = (
        [each for each, chosen in zip(held_out, mask, strict=True) if chosen] for mask in (half, ~half)
    )
    best = best_logits(arguments.weights, arguments.data, embedder)
    made = calibrated(calibrating, logits[half], digest, best)
    arguments.weights.with_suffix(".json").write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    print(report(measuring, logits[~half]))
    print(f"SHA-256 {digest}, least {made.least}")


if __name__ == "__main__":
    main()
