"""Request formats of OpenAI-compatible endpoints, and which one to try after a refusal."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from harness.ports import Message

SchemaSupport: TypeAlias = Literal["json_schema", "json_object", "none"]

_WEAKER: Mapping[SchemaSupport, SchemaSupport] = {"json_schema": "json_object", "json_object": "none"}
_FORMAT_WORDS = ("response_format", "json_schema", "json_object")
_MAX_NAME_CHARS = 64


class RequestFormat(Struct, frozen=True):
    """One request format. `bound` names the field that limits tokens; `usage` asks for token counts."""

    schema_support: SchemaSupport = "json_schema"
    negotiable: bool = True
    bound: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage: bool = True

    def after(self, refusal: str, *, schema: bool) -> "RequestFormat | None":
        """Return the format to try next; `None` if `refusal`, the endpoint's message, mentions nothing that can change.

        `schema`: the refused request asked for a schema.
        """
        words = refusal.lower()
        if "stream_options" in words and self.usage:
            return msgspec.structs.replace(self, usage=False)
        if "max_completion_tokens" in words and self.bound == "max_tokens":
            return msgspec.structs.replace(self, bound="max_completion_tokens")
        weaker = _WEAKER.get(self.schema_support)
        if schema and self.negotiable and weaker and any(word in words for word in _FORMAT_WORDS):
            return msgspec.structs.replace(self, schema_support=weaker)
        return None

    def body(
        self,
        name: str,
        messages: Sequence[Message],
        parameters: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """Return the request body; `parameters` may contain `max_tokens`."""
        rest = {key: value for key, value in parameters.items() if key != "max_tokens"}
        body = {"model": name, "messages": list(messages), "stream": True, **rest}
        if "max_tokens" in parameters:
            body[self.bound] = parameters["max_tokens"]
        if self.usage:
            body["stream_options"] = {"include_usage": True}
        if schema is None:
            return body
        if self.schema_support == "json_schema":
            wanted = {"name": _schema_name(schema), "schema": dict(schema), "strict": True}
            return {**body, "response_format": {"type": "json_schema", "json_schema": wanted}}
        body["messages"] = _with_schema(messages, schema)
        return {**body, "response_format": {"type": "json_object"}} if self.schema_support == "json_object" else body


def _schema_name(schema: Mapping[str, Any]) -> str:
    """Return the schema's name in the characters that endpoints allow: letters, digits, - and _."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", str(schema.get("title", "")))[:_MAX_NAME_CHARS].strip("_") or "answer"


def _with_schema(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """Put the schema into the first system message: many models' templates allow no second one."""
    instruction = "Answer with one JSON value and nothing else. It must fit this JSON schema:"
    wanted = f"{instruction}\n{msgspec.json.encode(schema).decode()}"
    if messages and messages[0]["role"] == "system":
        return [Message(role="system", content=f"{messages[0]['content']}\n\n{wanted}"), *messages[1:]]
    return [Message(role="system", content=wanted), *messages]
