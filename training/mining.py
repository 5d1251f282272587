"""Selection of hard examples: those that the current model gets wrong or is least sure of."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from harness.models.local.pair_reader import MAX_TOKENS
from harness.models.local.tokenizer import tokenizer
from training.learning import brief, device, on_device, padded
from training.model import CrossEncoder
from training.sources import Example

TOKENS_A_BATCH = 4_096


def hardest(model: CrossEncoder, examples: Sequence[Example], keep: int) -> list[Example]:
    """Return the `keep` examples with the greatest loss, except those whose label the model is almost sure to be wrong:
    the very worst include the generators' errors.
    """
    same = np.array([example.same for example in examples])
    logits = np.where(same, 1.0, -1.0) * scores(model, examples)
    order = np.argsort(logits, kind="stable")
    hard = [examples[place] for place in order if logits[place] > SURELY_WRONG]
    return hard[:keep]


SURELY_WRONG = -3.0


def scores(model: CrossEncoder, examples: Sequence[Example]) -> NDArray[np.float64]:
    """Return one logit per pair, of shape (pairs,); 0 for pairs that are too long."""
    words = tokenizer()
    encoded = [words.encode(*sorted((example.a, example.b))) for example in examples]
    order = sorted(range(len(encoded)), key=lambda place: len(encoded[place].ids))
    order = [place for place in order if len(encoded[place].ids) <= MAX_TOKENS]
    found = np.zeros(len(examples))
    model.to(device()).eval()
    done = 0
    with torch.inference_mode(), brief():
        while done < len(order):
            size = max(1, TOKENS_A_BATCH // len(encoded[order[min(done + 255, len(order) - 1)]].ids))
            chosen = order[done : done + size]
            rows = [(encoded[place].ids, encoded[place].type_ids) for place in chosen]
            found[chosen] = model(**on_device(padded(rows))).float().cpu().numpy()
            done += len(chosen)
    return found
