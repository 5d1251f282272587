"""Reader: all-MiniLM-L6-v2 reads a question with a text, or a sentence with a quotation, as a cross-encoder.

One head gives four logits for both: does the text answer; supports, contradicts, neither. It gets the state of the
first token (Nogueira and Cho, 2019, arXiv:1901.04085) and the mean of all states, which is what MiniLM was trained for.
"""

import torch
from torch import Tensor, nn
from transformers import BertModel

from training.model import pretrained_bert

OUTPUTS = 4
HIDDEN = 128


class ReaderModel(nn.Module):
    """Model from the token ids of pairs, of shape (pairs, tokens), to logits of shape (pairs, `OUTPUTS`)."""

    def __init__(self, bert: BertModel, dropout: float = 0.1) -> None:
        super().__init__()
        self.bert = bert
        width = bert.config.hidden_size
        self.head = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(2 * width, HIDDEN),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(HIDDEN, OUTPUTS),
        )

    @classmethod
    def pretrained(cls) -> "ReaderModel":
        """Return MiniLM with an untrained head."""
        return cls(pretrained_bert())

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Return the logits."""
        states = self.bert(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1)
        return self.head(torch.cat([states[:, 0], mean], dim=-1))


def reader_loss(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Return the mean loss of a batch. `targets` has the shape (pairs, 4): 1, 0 or -1 (not asked) for "answers"; then
    a 1 for each class of support that may be right.
    """
    wanted, classes = targets[:, 0], targets[:, 1:]
    answers = wanted >= 0
    lost = logits.new_zeros(())
    if answers.any():
        smooth = wanted[answers] * (1 - 2 * smoothing) + smoothing
        lost = lost + nn.functional.binary_cross_entropy_with_logits(logits[answers, 0], smooth, reduction="sum")
    if not answers.all():
        probabilities = nn.functional.softmax(logits[~answers, 1:], dim=-1)
        right = (probabilities * classes[~answers]).sum(-1)
        lost = lost - torch.log(right * (1 - smoothing) + smoothing / 3).sum()
    return lost / len(targets)
