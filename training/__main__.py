"""Train the verifier: `python -m training --data DIR`. It takes over two hours on two CPU cores with bfloat16."""

import argparse
import time
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

import msgspec
import torch
import transformers

from benchmarks.rows import entry_point, say
from harness.models.local.cross_encoder import WEIGHTS, Release
from training.balance import shown
from training.export import export
from training.fitting import described, fit, read_all, thresholds
from training.learning import batched, learn, mean
from training.mining import hardest
from training.mixture import Amounts, Mixture
from training.model import CrossEncoder
from training.passes import PASSES, PERMITTED_PASSES, SEED
from training.sources import WRITTEN, Example, Sources, read_sources

THREADS = 2
"""Fixed: another number of threads sums in another order, which changes the weights a little."""
TUNED = 0.08
"""Generated pairs that the rule is fitted on, as a share of those of the first pass."""


def train(sources: Sources, work: Path, passes: Sequence[str]) -> CrossEncoder:
    """Train pass after pass. The weights after each are stored in `work`; a stored pass is not repeated."""
    model = CrossEncoder.pretrained()
    for name in passes:
        kept = work / f"{name}.pt"
        if kept.exists():
            model.load_state_dict(torch.load(kept, weights_only=True, map_location="cpu"))
            say(f"{kept} is there: not trained again")
            continue
        each = (PASSES | PERMITTED_PASSES)[name]
        if begun := [work / f"{other}.pt" for other in each.begins if other in passes]:
            model.load_state_dict(mean([torch.load(kept, weights_only=True, map_location="cpu") for kept in begun]))
        examples = each.read(Mixture(sources, "train", each.plan.seed), partial(hardest, model))
        say(f"{name} pass: {len(examples):,} pairs, {_digest(examples)}")
        print(shown(examples), flush=True)
        learn(model, batched(examples, each.plan.seed), each.plan, kept.with_suffix(".part"), tell)
        torch.save(model.state_dict(), kept)
    return model


def _digest(examples: Sequence[Example]) -> str:
    """Return a digest of these pairs in this order, which shows whether another training reads the same."""
    lines = "".join(f"{pair.a}\t{pair.b}\t{pair.target:g}\n" for pair in examples)
    return sha256(lines.encode()).hexdigest()[:12]


def release(sources: Sources, weights: Path, digest: str) -> Release:
    """Fit the rule that weighs the probability of the model in `weights`, and choose its thresholds: each is the
    highest that any set of pairs needs. Generated pairs are not used for that: a generator's errors would look like
    wrong answers.
    """
    tune, calibrate = (Mixture(sources, part, SEED) for part in ("tune", "calibrate"))
    fitted = fit(read_all(weights, [*_known(tune), *tune.generated(Amounts().times(TUNED))]))
    print(described(fitted))
    pairs = _known(calibrate)
    chosen: dict[float, float] = {}
    for family, found in thresholds(read_all(weights, pairs), fitted).items():
        print(f"thresholds on {family}:", ", ".join(f"{share:g}: {threshold:.3f}" for share, threshold in found))
        for share, threshold in found:
            chosen[share] = max(threshold, chosen.get(share, threshold))
    calibrated_on = f"{len(pairs):,} pairs of public and written sets"
    return Release(digest, *fitted, tuple(sorted(chosen.items())), calibrated_on)


def _known(mixture: Mixture) -> list[Example]:
    """Return the labelled pairs, the look-alikes that readers graded, and the written pairs, each once."""
    written = [pair for folder in WRITTEN for pair in mixture.written(folder)]
    return list(dict.fromkeys([*mixture.labelled({}), *mixture.alike(), *written]))


def tell(step: int, steps: int, loss: float, seconds: float) -> None:
    """Report the progress of a pass."""
    left = seconds / step * (steps - step)
    say(f"step {step:,} of {steps:,}, loss {loss:.4f}, {seconds / 60:.0f} min, about {left / 60:.0f} min left")


@entry_point
def main() -> None:
    """Run the command: train, export, fit, measure."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the data to learn from")
    parser.add_argument(
        "--work", type=Path, metavar="DIR", default=Path("build/training"), help="keeps finished passes"
    )
    parser.add_argument("--weights", type=Path, metavar="FILE", default=WEIGHTS, help="the file that is written")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--passes", nargs="+", choices=PASSES, default=list(PASSES), help="only these passes, to see the effect of each"
    )
    which.add_argument(
        "--permitted",
        action="store_true",
        help="learn only from data whose licences permit weights that ship",
    )
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    arguments.work.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    sources = read_sources(arguments.data, permitted=arguments.permitted)
    passes = list(PERMITTED_PASSES) if arguments.permitted else arguments.passes
    model = train(sources, arguments.work, passes)
    digest = export(model, arguments.weights)
    say(f"{arguments.weights}: {arguments.weights.stat().st_size:,} bytes, {(time.monotonic() - began) / 60:.0f} min")
    made = release(sources, arguments.weights, digest)
    arguments.weights.with_suffix(".json").write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    print(f"SHA-256 {digest}")


if __name__ == "__main__":
    main()
