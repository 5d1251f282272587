"""Training loop: one pass over examples in a seeded order, on the CPU or on a GPU."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from harness.models.local.cross_encoder import MAX_TOKENS
from harness.models.local.tokenizer import tokenizer
from training.passes import Plan
from training.sources import Example

TOKENS_A_BATCH = 2_048
"""Word pieces, with the padding. Pairs of like length share a batch, so there is little."""
POOLED = 64
"""Batches' worth of pairs that are sorted by length at a time: the larger, the less padding and the less chance."""


@dataclass(frozen=True)
class Batch:
    """Tensors of shape (pairs, tokens), and targets (0..1) of shape (pairs,) or (pairs, outputs)."""

    inputs: dict[str, Tensor]
    targets: Tensor


Row = tuple[list[int], list[int], Any]
"""Word pieces, types and target of a pair."""
Loss = Callable[[Tensor, Tensor, float], Tensor]
"""Loss of logits, targets, and the smoothing of the targets."""
Tell = Callable[[int, int, float, float], None]
"""Told now and then: steps done, all steps, the loss since the last time, seconds since the start."""


def pair_loss(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Return the loss of probabilities that two questions have the same answer."""
    return nn.functional.binary_cross_entropy_with_logits(logits, targets * (1 - 2 * smoothing) + smoothing)


def learn(model: Any, batches: Sequence[Batch], plan: Plan, kept: Path, tell: Tell, loss_of: Loss = pair_loss) -> None:
    """Train `model` (with `bert` and `head`) in place, one pass over `batches`.

    The state is stored in the file `kept` from time to time; an interrupted pass continues there, with the same result.
    """
    torch.manual_seed(plan.seed)
    model.to(device())
    head = list(model.head.parameters())
    body = [weights for weights in model.bert.parameters() if weights.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": plan.rate}, {"params": head, "lr": plan.head_rate}],
        weight_decay=plan.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, len(batches), plan.warm_up))
    model.train()
    parts = (model, optimizer, schedule)
    done = _restore(kept, parts)
    start, lost, since = time.monotonic(), 0.0, 0
    for step, batch in enumerate(batches[done:], start=done + 1):
        with brief():
            logits = model(**on_device(batch.inputs))
        loss = loss_of(logits.float(), batch.targets.to(device()), plan.smoothing)
        loss.backward()
        nn.utils.clip_grad_norm_(body + head, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        lost, since = lost + loss.item(), since + 1
        if step % 50 == 0 or step == len(batches):
            tell(step - done, len(batches) - done, lost / since, time.monotonic() - start)
            lost, since = 0.0, 0
            if step % 200 == 0:
                _keep(kept, parts, step)
    kept.unlink(missing_ok=True)
    model.eval()


def device() -> torch.device:
    """Return the GPU if there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def on_device(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the inputs where the model computes."""
    return {name: tensor.to(device()) for name, tensor in inputs.items()}


def brief() -> torch.autocast:
    """Return a context in which matrices are multiplied in bfloat16, if the GPU or processor can: over twice as fast,
    and thirty times slower on a processor that cannot. Weights and sums keep their precision.
    """
    if device().type == "cuda":
        return torch.autocast("cuda", torch.bfloat16)
    can = torch.cpu.get_capabilities()
    return torch.autocast("cpu", torch.bfloat16, enabled=bool(can.get("avx512_bf16") or can.get("amx_bf16")))


def mean(states: Sequence[Mapping[str, Tensor]], shares: Sequence[float] = ()) -> dict[str, Tensor]:
    """Return the mean of each tensor over several states of one model, with these `shares` (which add up to 1) or equal
    ones; tensors that are not trained are equal in all.
    """
    shares = shares or [1 / len(states)] * len(states)
    return {name: _mean([state[name] for state in states], shares) for name in states[0]}


def _mean(tensors: Sequence[Tensor], shares: Sequence[float]) -> Tensor:
    if not tensors[0].is_floating_point():
        return tensors[0]
    return torch.stack([tensor * share for tensor, share in zip(tensors, shares, strict=True)]).sum(dim=0)


def _keep(kept: Path, parts: Sequence[Any], step: int) -> None:
    states = [part.state_dict() for part in parts]
    unfinished = kept.with_suffix(".new")
    torch.save({"step": step, "chance": torch.get_rng_state(), "states": states}, unfinished)
    unfinished.replace(kept)


def _restore(kept: Path, parts: Sequence[Any]) -> int:
    """Restore the stored state; return the number of finished steps."""
    if not kept.exists():
        return 0
    found = torch.load(kept, weights_only=True, map_location="cpu")
    for part, state in zip(parts, found["states"], strict=True):
        part.load_state_dict(state)
    torch.set_rng_state(found["chance"])
    return int(found["step"])


def batched(examples: Sequence[Example], seed: int) -> list[Batch]:
    """Return batches of pairs of similar length in a seeded order, the two texts of each pair in random order."""
    words, chance = tokenizer(), Random(seed)
    rows = []
    for example in examples:
        pair = (example.a, example.b) if chance.random() < 0.5 else (example.b, example.a)
        encoded = words.encode(*pair)
        if len(encoded.ids) <= MAX_TOKENS:
            rows.append((encoded.ids, encoded.type_ids, example.target))
    return in_batches(rows, chance)


def in_batches(rows: list[Row], chance: Random, tokens: int = TOKENS_A_BATCH) -> list[Batch]:
    """Return batches of at most `tokens` word pieces, of rows (word pieces, types, target) of similar length, in random
    order.
    """
    chance.shuffle(rows)
    pooled, batches = POOLED * 64, list[Batch]()
    for start in range(0, len(rows), pooled):
        pool = sorted(rows[start : start + pooled], key=lambda row: len(row[0]))
        while pool:
            longest = len(pool[-1][0])
            size = max(1, tokens // longest)
            batches.append(_batch(pool[-size:]))
            del pool[-size:]
    chance.shuffle(batches)
    return batches


def _batch(rows: Sequence[Row]) -> Batch:
    return Batch(padded([(ids, types) for ids, types, _ in rows]), torch.tensor([target for *_, target in rows]))


def alike(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield the places of all texts, the longest first, those of similar length together: at most `tokens` word pieces
    at a time, with the padding.
    """
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    while order:
        size = max(1, tokens // lengths[order[-1]])
        yield order[-size:]
        del order[-size:]


def padded(rows: Sequence[tuple[list[int], list[int]]]) -> dict[str, Tensor]:
    """Return the inputs of the model: word pieces, mask and types, padded to the longest row."""
    longest = max(len(ids) for ids, _ in rows)
    return {
        "input_ids": torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in rows]),
        "attention_mask": torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in rows]),
        "token_type_ids": torch.tensor([types + [0] * (longest - len(types)) for _, types in rows]),
    }


def _rate(step: int, steps: int, warm_up: float) -> float:
    warm = max(1, math.ceil(steps * warm_up))
    return min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
