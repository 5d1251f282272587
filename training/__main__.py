"""Train the verifier: `python -m training --data DIR`. On two CPU cores it takes somewhat over an hour."""

import argparse
import time
from pathlib import Path

import msgspec
import torch
import transformers

from benchmarks.rows import say
from harness.verifiers.minilm import WEIGHTS, Release
from training.balance import shown
from training.export import export
from training.fitting import fit, read_all, thresholds, told
from training.learning import Plan, learn
from training.mining import hardest
from training.mixture import Amounts, Mixture
from training.model import CrossEncoder
from training.sources import Sources, read_sources

SEED = 2026
THREADS = 2
"""Fixed: another number of threads sums in another order, and the weights come out a little different."""
FIRST = Plan(seed=SEED)
SECOND = Plan(rate=3e-5, head_rate=1e-4, seed=SEED + 1)
FRESH = 0.5
"""How many fresh pairs are made for the second pass, compared with the first."""
KEPT = 0.3
"""The share of them that is hard enough to be read."""
TUNED = 0.08
"""How many generated pairs the rule is fitted on, compared with the first pass."""


def train(sources: Sources, work: Path, *, generated: bool, mined: bool) -> CrossEncoder:
    """Train in two passes; what a pass has come to is kept in `work`, and not done again."""
    model = CrossEncoder.pretrained()
    if not _restored(model, work / "first.pt"):
        _first(model, sources, work / "first.pt", generated=generated)
    if mined and not _restored(model, work / "second.pt"):
        _second(model, sources, work / "second.pt")
    return model


def _first(model: CrossEncoder, sources: Sources, kept: Path, *, generated: bool) -> None:
    mixture = Mixture(sources, "train", SEED)
    examples = mixture.labelled()
    if generated:
        made = mixture.generated(Amounts())
        print(shown(made))
        examples += made
    say(f"first pass: {len(examples):,} pairs")
    learn(model, examples, FIRST, kept.with_suffix(".part"), _tell)
    torch.save(model.state_dict(), kept)


def _second(model: CrossEncoder, sources: Sources, kept: Path) -> None:
    mixture = Mixture(sources, "train", SEED + 1)
    fresh = mixture.generated(Amounts().times(FRESH))
    hard = hardest(model, fresh, round(KEPT * len(fresh)))
    real = list(dict.fromkeys(mixture.labelled()))
    say(f"second pass: {len(hard):,} hard pairs of {len(fresh):,}, and the {len(real):,} labelled ones")
    learn(model, hard + real, SECOND, kept.with_suffix(".part"), _tell)
    torch.save(model.state_dict(), kept)


def release(sources: Sources, weights: Path, digest: str) -> Release:
    """Fit the rule that weighs what the model in `weights` says, and choose its thresholds: each is the highest that
    any of the labelled sets needs. Generated pairs choose none: a generator's errors would look like wrong answers.
    """
    tune, calibrate = (Mixture(sources, part, SEED) for part in ("tune", "calibrate"))
    fitted = fit(read_all(weights, [*dict.fromkeys(tune.labelled()), *tune.generated(Amounts().times(TUNED))]))
    print(told(fitted))
    pairs = list(dict.fromkeys(calibrate.labelled()))
    chosen: dict[float, float] = {}
    for family, found in thresholds(read_all(weights, pairs), fitted).items():
        print(f"thresholds on {family}:", ", ".join(f"{share:g}: {threshold:.3f}" for share, threshold in found))
        for share, threshold in found:
            chosen[share] = max(threshold, chosen.get(share, threshold))
    return Release(digest, fitted, tuple(sorted(chosen.items())), f"{len(pairs):,} labelled pairs of public sets")


def _restored(model: CrossEncoder, kept: Path) -> bool:
    if not kept.exists():
        return False
    model.load_state_dict(torch.load(kept, weights_only=True))
    say(f"{kept} is there: not trained again")
    return True


def _tell(step: int, steps: int, loss: float, seconds: float) -> None:
    left = seconds / step * (steps - step)
    say(f"step {step:,} of {steps:,}, loss {loss:.4f}, {seconds / 60:.0f} min, about {left / 60:.0f} min left")


def main() -> None:
    """Train, export, fit and measure, as the command line asks."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the data to learn from")
    parser.add_argument(
        "--work", type=Path, metavar="DIR", default=Path("build/training"), help="keeps finished passes"
    )
    parser.add_argument("--weights", type=Path, metavar="FILE", default=WEIGHTS, help="the file that is written")
    parser.add_argument("--without-generated", action="store_true", help="learn from labelled pairs only")
    parser.add_argument("--without-mining", action="store_true", help="one pass, without hard examples")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    arguments.work.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    sources = read_sources(arguments.data)
    model = train(
        sources,
        arguments.work,
        generated=not arguments.without_generated,
        mined=not arguments.without_mining,
    )
    digest = export(model, arguments.weights)
    say(f"{arguments.weights}: {arguments.weights.stat().st_size:,} bytes, {(time.monotonic() - began) / 60:.0f} min")
    made = release(sources, arguments.weights, digest)
    arguments.weights.with_suffix(".json").write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    print(f"SHA-256 {digest}")


if __name__ == "__main__":
    main()
