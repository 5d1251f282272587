"""Calls of the language model that words a report: through the cache, within the budget."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from harness.cache import Cache
from harness.ports import Completion, LanguageModel, Message
from harness.research.budget import Budget
from harness.research.draft import Draft, Unsupported
from harness.research.prompts import prompt
from harness.research.report import Citation
from harness.settings import PromptName, WritingSettings


class Writer(Struct, frozen=True):
    """Writer of a report: a language model whose answers have at most `answer_tokens`; without a model, the report is
    made of excerpts. `epoch` separates repetitions that are meant to differ; `on_text` gets the text as it comes;
    `budget` is that of the run.
    """

    model: LanguageModel | None = None
    settings: WritingSettings = WritingSettings()
    answer_tokens: int = 2_048
    epoch: str = ""
    on_text: Callable[[str], None] | None = None
    budget: Budget = Budget()

    @property
    def unsupported(self) -> Unsupported:
        """Treatment of sentences that no quotation supports."""
        return "drop" if self.settings.strict else "mark" if self.settings.marked else "replace"


class Written(Struct, frozen=True):
    """Text of a report by a model: the `citations` as the report shows them, none if nothing is usable; all that
    were `checked`; a remark on what was cut off or not written; and how often something was revised.
    """

    citations: Sequence[Citation]
    checked: Sequence[Citation]
    remark: str = ""
    revisions: int = 0


class Drafting(Struct, frozen=True):
    """Calls of one model for one report."""

    model: LanguageModel
    cache: Cache
    writer: Writer

    def answer(
        self,
        messages: Sequence[Message],
        on_text: Callable[[str], None] | None = None,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return the model's answer; `on_text` gets it as it comes.

        Raises:
            ModelError: see `CompletionCache.answer`; `OfflineMiss` likewise.
        """
        epoch = self.writer.epoch
        return self.cache.completions.answer(self.model, messages, schema=schema, epoch=epoch, on_text=on_text).value

    def allows(self, messages: Sequence[Message], *, answers: int = 1) -> bool:
        """Return whether these messages, and so many answers, can still be paid."""
        return self.writer.budget.allows(messages, self.cache, answers=answers)

    @property
    def spent(self) -> str:
        """The cost of the run so far, in words."""
        return self.writer.budget.spent(self.cache)

    def corrections(self, draft: Draft, problems: Sequence[str], name: PromptName) -> list[Message]:
        """Return the draft, as the model wrote it, and what is wrong with it."""
        listed = "\n".join(f"- {problem}" for problem in problems)
        return [
            {"role": "assistant", "content": draft.text},
            {"role": "user", "content": prompt(name, self.writer.settings.prompts, problems=listed)},
        ]
