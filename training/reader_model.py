"""Reader: all-MiniLM-L6-v2 reads a question with a text, or a sentence with a quotation, as a cross-encoder.

One head gives six logits: does the text answer; supports, contradicts, neither; have both questions one answer; does a
sentence help someone who asked. It gets the state of the first token (Nogueira and Cho, 2019, arXiv:1901.04085) and the
mean of all states, which is what MiniLM was trained for.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from training.learning import Batch, in_batches
from training.model import WITHOUT_DROPOUT, pretrained_bert
from training.reading import Reading

OUTPUTS = 6
ANSWERS, SUPPORT, SAME, HELPS = 0, slice(1, 4), 4, 5
HIDDEN = 256
MAX_TOKENS = 256
"""Word pieces of a pair in training; longer texts are cut. The shipped reader reads up to 512."""
HELPING = 3.0
"""Weight of the loss of "helps": most sentences do not help."""
TOKENS_A_BATCH = 16_384
TAUGHT = 0.25
"""Weight of the squared distance from the teacher's logits, compared with the loss of labels."""


class ReaderModel(nn.Module):
    """Model from the token ids of pairs, of shape (pairs, tokens), to logits of shape (pairs, `OUTPUTS`)."""

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

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Return the logits."""
        types = {"token_type_ids": token_type_ids} if self.types else {}
        states = self.bert(input_ids=input_ids, attention_mask=attention_mask, **types).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1)
        return self.head(torch.cat([states[:, 0], mean], dim=-1))

    def freeze(self, layers: int) -> None:
        """Let the first `layers` of the encoder, and its embeddings, stay as they are."""
        for part in (self.bert.embeddings, *self.bert.encoder.layer[:layers]):
            part.requires_grad_(requires_grad=False)


def reader_loss(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Return the mean loss of a batch. `targets` has the shape (pairs, 2 * `OUTPUTS`): a probability or -1 (not asked)
    for "answers", "same answer" and "helps"; a 1 for each class of support that may be right; then the teacher's
    logits, NaN where it is not asked.
    """
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
    for part in (slice(ANSWERS, ANSWERS + 1), SUPPORT, slice(SAME, SAME + 1), slice(HELPS, HELPS + 1)):
        given = targets[:, OUTPUTS:][:, part]
        asked = ~given.isnan().any(-1)
        if asked.any():
            gap = logits[asked, part] - given[asked]
            if gap.shape[1] > 1:
                gap = gap - gap.mean(-1, keepdim=True)  # only the differences of these logits mean anything
            lost = lost + TAUGHT * gap.square().mean(-1).sum()
    return lost / len(targets)


def targets(reading: Reading) -> list[float]:
    """Return what `reader_loss` reads of a reading."""
    return [reading.answers, *reading.support, reading.same, reading.helps, *reading.taught]


def reader_batches(
    readings: Sequence[Reading], tokens: Tokenizer, chance: Random, size: int = TOKENS_A_BATCH
) -> list[Batch]:
    """Return batches of at most `size` word pieces, of readings of similar length, in random order."""
    pairs = tokens.encode_batch([(each.first, each.second) for each in readings])
    rows = [(pair.ids, pair.type_ids, targets(each)) for pair, each in zip(pairs, readings, strict=True)]
    return in_batches(rows, chance, size)
