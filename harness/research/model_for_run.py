"""Language model for one run: after an outage the run continues without it."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.cache import Use
from harness.core.tables import COMPLETIONS
from harness.errors import ModelUnavailable
from harness.ports import Completion, LanguageModel, Message


class ModelForRun:
    """A `LanguageModel` that is not called again after it was unavailable, or once its answers have taken
    `max_seconds`: a run waits for a dead or very slow endpoint only once.

    Cached answers are not affected, because the cache is read first. Make one per run.
    """

    def __init__(self, model: LanguageModel, max_seconds: float) -> None:
        self.name = model.name
        self.endpoint = model.endpoint
        self.parameters = model.parameters
        self._model = model
        self._outage: ModelUnavailable | None = None
        self._max_seconds = max_seconds
        self._spent = 0.0

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`."""
        if self._outage is not None:
            raise ModelUnavailable(str(self._outage))
        if self._spent >= self._max_seconds:
            raise ModelUnavailable(
                f"{self.name} has taken {self._spent:.0f} s in this run; allow it more with model_total_timeout"
            )
        began = time.monotonic()
        try:
            return self._model.complete(messages, schema=schema, on_text=on_text)
        except ModelUnavailable as error:
            self._outage = error
            raise
        finally:
            self._spent += time.monotonic() - began


def model_outage(uses: Iterable[Use]) -> str:
    """Return why the model was unavailable in a run, empty if it was available."""
    prefix = f"{ModelUnavailable.code}: "
    failed = (use.error for use in uses if use.how == "failed" and use.table == COMPLETIONS)
    return next((error.removeprefix(prefix) for error in failed if error.startswith(prefix)), "")
