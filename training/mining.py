"""Selection of hard examples: those that the current model gets wrong or is least sure of."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from harness.models.local.cross_encoder import MAX_TOKENS
from harness.models.local.tokenizer import tokenizer
from training.learning import alike, brief, device, on_device, padded
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
    fitting = [place for place, each in enumerate(encoded) if len(each.ids) <= MAX_TOKENS]
    found = np.zeros(len(examples))
    model.to(device()).eval()
    with torch.inference_mode(), brief():
        for group in alike([len(encoded[place].ids) for place in fitting], TOKENS_A_BATCH):
            chosen = [fitting[place] for place in group]
            rows = [(encoded[place].ids, encoded[place].type_ids) for place in chosen]
            found[chosen] = model(**on_device(padded(rows))).float().cpu().numpy()
    return found
