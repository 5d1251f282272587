"""Budget of a research: tokens, and the cost of the model's completions."""

import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache
from harness.errors import InvalidInput
from harness.ports import Message
from harness.settings import GatheringSettings

CHARS_A_TOKEN = 4
MILLION = 1_000_000


class Budget(Struct, frozen=True):
    """Limits of one research; cached completions count as well, so that a repeated run ends the same way.

    `prices` are those of a token of prompts and of answers, `max_cost` is in the same currency, `answer_tokens` the
    longest answer. `None`: no limit.
    """

    max_tokens: int | None = None
    max_cost: float | None = None
    prices: tuple[float, float] = (0.0, 0.0)
    answer_tokens: int = 2_048

    def cost(self, cache: Cache) -> float:
        """Return the cost of the run's completions so far."""
        of_prompts, of_answers = self.prices
        answers = cache.answer_tokens
        return (cache.tokens - answers) * of_prompts + answers * of_answers

    def spent(self, cache: Cache) -> str:
        """Return what the run has spent of the limit that leaves it less, in words."""
        by_tokens = replace(self, max_cost=None).prompt_tokens(cache)
        if self.max_tokens is not None and by_tokens <= self.prompt_tokens(cache):
            return f"{cache.tokens:,} of {self.max_tokens:,} tokens are spent"
        return f"{self.cost(cache):.4g} of {self.max_cost or 0:.4g} are spent on the model"

    def prompt_tokens(self, cache: Cache, *, answers: int = 1) -> float:
        """Return the most tokens of prompts that still can be paid, with so many longest answers; infinity without a
        limit.
        """
        answered = answers * self.answer_tokens
        left = math.inf if self.max_tokens is None else self.max_tokens - cache.tokens - answered
        if self.max_cost is None:
            return left
        money = self.max_cost - self.cost(cache) - answered * self.prices[1]
        return min(left, money / self.prices[0] if self.prices[0] else math.copysign(math.inf, money))

    def allows(self, messages: Sequence[Message], cache: Cache, *, answers: int = 1) -> bool:
        """Return whether these messages, about `CHARS_A_TOKEN` characters a token, and so many answers can still be
        paid.
        """
        length = sum(len(each["content"]) for each in messages)
        return length / CHARS_A_TOKEN <= self.prompt_tokens(cache, answers=answers)


def budget_of(gathering: GatheringSettings, model: str, answer_tokens: int) -> Budget:
    """Return the budget of a research with a model; "" without one, where nothing is limited by cost.

    Raises:
        InvalidInput: a limit of cost, but no price of the model.
    """
    price = gathering.model_prices.get(model)
    if gathering.max_cost is not None and model and price is None:
        raise InvalidInput(
            f"max_cost needs the price of {model}: set model_prices to {model}=0.25/2, the cost of a million tokens of "
            "prompts and of answers"
        )
    prices = [float(each) / MILLION for each in (price or "0/0").split("/")]
    return Budget(gathering.max_tokens, gathering.max_cost if model else None, (prices[0], prices[1]), answer_tokens)
