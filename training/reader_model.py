"""Reader: all-MiniLM-L6-v2 reads a question with a text, or a sentence with a quotation, as a cross-encoder.

One head gives six logits: does the text answer; supports, contradicts, neither; have both questions one answer; does a
sentence of the text help. It gets the state of the first token (Nogueira and Cho, 2019, arXiv:1901.04085) and the mean
of all states, which is what MiniLM was trained for; for a sentence in its passage, the mean of the sentence's states
(after Chirkova et al., 2025, arXiv:2501.16214, who label tokens).
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from training.learning import Batch, in_batches, padded
from training.model import WITHOUT_DROPOUT, pretrained_bert
from training.reading import UNKNOWN, Passage, Reading, question

CLS, SEP = 101, 102
"""Numbers of the word pieces before a pair and after each of its texts."""
OUTPUTS = 6
ANSWERS, SUPPORT, SAME, HELPS = 0, slice(1, 4), 4, 5
HIDDEN = 256
MAX_TOKENS = 256
"""Word pieces of a pair in training; longer texts are cut. The shipped reader reads up to 512."""
MAX_PASSAGE_TOKENS = 320
"""Word pieces of a question with a passage in training; the sentences beyond are left out."""
HELPING = 3.0
"""Weight of the loss of a sentence in its passage, compared with that of a pair: most do not help."""
TOKENS_A_BATCH = 16_384
TAUGHT = 0.25
"""Weight of the squared distance from the teacher's logits, compared with the loss of labels."""


class ReaderModel(nn.Module):
    """Model from the token ids of pairs, of shape (pairs, tokens), to logits of shape (pairs, spans, `OUTPUTS`)."""

    def __init__(self, bert: Any, hidden: int = HIDDEN, outputs: int = OUTPUTS) -> None:
        super().__init__()
        self.bert = bert
        self.types = hasattr(bert.config, "type_vocab_size")
        width = bert.config.hidden_size
        self.head = nn.Sequential(nn.Linear(2 * width, hidden), nn.GELU(), nn.Linear(hidden, outputs))

    @classmethod
    def pretrained(cls, hidden: int = HIDDEN, outputs: int = OUTPUTS) -> "ReaderModel":
        """Return MiniLM with an untrained head."""
        return cls(pretrained_bert(**WITHOUT_DROPOUT), hidden, outputs)

    def grown(self) -> "ReaderModel":
        """Return the model with one more output, which begins like the first one, from as many hidden units more."""
        first, _, last = self.head
        made = ReaderModel(self.bert, 2 * last.in_features, last.out_features + 1)
        none = torch.zeros_like(last.weight)
        made.head[0].weight.data = torch.cat([first.weight, first.weight]).detach()
        made.head[0].bias.data = torch.cat([first.bias, first.bias]).detach()
        rows = torch.cat([last.weight, none], dim=1), torch.cat([none[:1], last.weight[:1]], dim=1)
        made.head[2].weight.data = torch.cat(rows).detach()
        made.head[2].bias.data = torch.cat([last.bias, last.bias[:1]]).detach()
        return made

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor, spans: Tensor | None = None
    ) -> Tensor:
        """Return the logits. `spans`, of shape (pairs, spans, tokens), has the share of each token in each span;
        without it, a pair is one span.
        """
        types = {"token_type_ids": token_type_ids} if self.types else {}
        states = self.bert(input_ids=input_ids, attention_mask=attention_mask, **types).last_hidden_state
        if spans is None:
            mask = attention_mask.unsqueeze(1).to(states.dtype)
            spans = mask / mask.sum(-1, keepdim=True)
        means = spans.to(states.dtype) @ states
        return self.head(torch.cat([states[:, :1].expand(-1, means.shape[1], -1), means], dim=-1))

    def freeze(self, layers: int) -> None:
        """Let the first `layers` of the encoder, and its embeddings, stay as they are."""
        for part in (self.bert.embeddings, *self.bert.encoder.layer[:layers]):
            part.requires_grad_(requires_grad=False)


def of_pair(logits: Tensor) -> Tensor:
    """Return the logits of pairs, each read as one span, of shape (pairs, `HELPS`): what the shipped reader gives."""
    return logits[:, 0, :HELPS]


def reader_loss(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Return the mean loss of a batch. `targets` has the shape (pairs * spans, 2 * `OUTPUTS`): a probability or -1 (not
    asked) for "answers", "same answer" and "helps"; a 1 for each class of support that may be right; then the teacher's
    logits, NaN where it is not asked.
    """
    logits = logits.flatten(0, -2)
    lost = logits.new_zeros(())
    for output, weight in ((ANSWERS, 1.0), (SAME, 1.0), (HELPS, HELPING)):
        asked = targets[:, output] >= 0
        if asked.any():
            smooth = targets[asked, output] * (1 - 2 * smoothing) + smoothing
            lost = lost + weight * nn.functional.binary_cross_entropy_with_logits(
                logits[asked, output], smooth, reduction="sum"
            )
    classes = targets[:, SUPPORT]
    asked = classes.sum(-1) > 0
    if asked.any():
        probabilities = nn.functional.softmax(logits[asked, SUPPORT], dim=-1)
        right = (probabilities * classes[asked]).sum(-1)
        lost = lost - torch.log(right * (1 - smoothing) + smoothing / 3).sum()
    for part in (slice(ANSWERS, ANSWERS + 1), SUPPORT, slice(SAME, SAME + 1)):
        given = targets[:, OUTPUTS:][:, part]
        asked = ~given.isnan().any(-1)
        if asked.any():
            gap = logits[asked, part] - given[asked]
            if gap.shape[1] > 1:
                gap = gap - gap.mean(-1, keepdim=True)  # only the differences of these logits mean anything
            lost = lost + TAUGHT * gap.square().mean(-1).sum()
    given = (targets[:, [ANSWERS, SAME, HELPS]] >= 0).any(-1) | (classes.sum(-1) > 0)
    given |= ~targets[:, OUTPUTS:].isnan().all(-1)
    return lost / given.sum()  # not the spans that only fill up a batch


def targets(reading: Reading) -> list[float]:
    """Return what `reader_loss` reads of a reading."""
    return [reading.answers, *reading.support, reading.same, UNKNOWN, *reading.taught]


def reader_batches(
    readings: Sequence[Reading], tokens: Tokenizer, chance: Random, size: int = TOKENS_A_BATCH
) -> list[Batch]:
    """Return batches of at most `size` word pieces, of readings of similar length, in random order."""
    pairs = tokens.encode_batch([(each.first, each.second) for each in readings])
    rows = [(pair.ids, pair.type_ids, targets(each)) for pair, each in zip(pairs, readings, strict=True)]
    return in_batches(rows, chance, size)


class PassageRow(NamedTuple):
    """Word pieces and types of a question with a passage; the places of each sentence's word pieces, and whether it
    helps (0..1).
    """

    ids: list[int]
    types: list[int]
    spans: list[range]
    helps: list[float]


def passage_row(passage: Passage, pieces: Callable[[str], list[int]]) -> PassageRow:
    """Return a passage as the reader gets it: `pieces` returns the word pieces of a text. Sentences that do not fit are
    left out.
    """
    first = [CLS, *pieces(passage.question), SEP]
    second, spans = pieces(f"{passage.title}:"), list[range]()
    for text in passage.sentences:
        found = pieces(text)
        start = len(first) + len(second)
        if start + len(found) >= MAX_PASSAGE_TOKENS:
            break
        spans.append(range(start, start + len(found)))
        second = second + found
    types = [0] * len(first) + [1] * (len(second) + 1)
    return PassageRow([*first, *second, SEP], types, spans, list(passage.helps[: len(spans)]))


def passage_batches(
    passages: Sequence[Passage], tokens: Tokenizer, chance: Random, size: int = TOKENS_A_BATCH
) -> list[Batch]:
    """Return batches of at most `size` word pieces, of passages of similar length, in random order."""
    pieces = cache(lambda text: tokens.encode(text, add_special_tokens=False).ids)
    rows = [row for row in (passage_row(each, pieces) for each in passages) if row.spans]
    return in_batches(rows, chance, size, _passage_batch)


def _passage_batch(rows: Sequence[PassageRow]) -> Batch:
    inputs = padded([(row.ids, row.types) for row in rows])
    most = max(len(row.spans) for row in rows)
    inputs["spans"] = torch.zeros(len(rows), most, inputs["input_ids"].shape[1])
    unknown = targets(question("", "", UNKNOWN, ""))
    wanted = torch.tensor(unknown).repeat(len(rows), most, 1)
    for number, row in enumerate(rows):
        for place, (span, helps) in enumerate(zip(row.spans, row.helps, strict=True)):
            inputs["spans"][number, place, span.start : span.stop] = 1 / len(span)
            wanted[number, place, HELPS] = helps
    return Batch(inputs, wanted.flatten(0, 1))
