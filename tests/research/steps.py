"""A model that writes a report in steps by a script."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from harness.ports import Completion, Message

Reply: TypeAlias = str | BaseException | Sequence[str | BaseException]
"""One answer each time, or one after the other, the last one again and again; an exception is raised."""


def outlined(*sections: tuple[str, str, list[int]]) -> str:
    """Return an outline of sections: heading, question and sources of each."""
    keys = ("heading", "question", "sources")
    return json.dumps({"sections": [dict(zip(keys, each, strict=True)) for each in sections]})


class Steps:
    """Answers the outline, each section by its question, the answer, and a report in one call ("whole"); `told` has
    the requests: the name of the step, with "again" for a revision, and the messages.
    """

    name, endpoint = "writer", "http://127.0.0.1/v1"
    parameters: Mapping[str, Any] = {}

    def __init__(self, outline: Reply, sections: Mapping[str, Reply], answer: Reply = "", whole: Reply = "") -> None:
        self.replies: dict[str, Reply] = {"outline": outline, "answer": answer, "whole": whole, **sections}
        self.told: list[tuple[str, Sequence[Message]]] = []

    @property
    def asked(self) -> list[str]:
        """The names of the steps so far."""
        return [name for name, _ in self.told]

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`."""
        step = "outline" if schema is not None else _step(messages)
        before = [name.removesuffix(" again") for name in self.asked].count(step)
        self.told.append((f"{step} again" if len(messages) > 2 else step, messages))
        reply = self.replies[step]
        if not isinstance(reply, str | BaseException):
            reply = reply[min(before, len(reply) - 1)]
        if isinstance(reply, BaseException):
            raise reply
        if on_text is not None:
            on_text(reply)
        return Completion(reply, True)

    def messages(self, step: str) -> Sequence[Message]:
        """Return the messages of the only call of a step."""
        [messages] = [told for name, told in self.told if name == step]
        return messages


def _step(messages: Sequence[Message]) -> str:
    rules, last = messages[0]["content"], messages[1]["content"].splitlines()[-1]
    if rules.startswith("You write one section"):
        return last.removeprefix("Write the section that answers: ")
    return "answer" if rules.startswith("You answer a question from the sentences") else "whole"
