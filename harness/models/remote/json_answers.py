"""Extraction of the JSON value in a model's answer, cleaned and checked against its schema."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import orjson

from harness.core.text import clean, shorten
from harness.errors import InvalidInput, ModelError

MAX_TRIED = 20
MAX_EXCERPT = 120

_FENCED = re.compile(r"```[\w-]*\s*\n(.*?)\n?\s*```", re.DOTALL)
_MARKS = re.compile(r'[{}\[\]"\\]')


def json_answer(text: str, schema: Mapping[str, Any], *, whole: bool) -> str:
    """Return the one JSON value of `text`, as compact JSON, that fits `schema` (JSON schema, draft 2020-12 by default).

    Markdown fences and prose around the outermost object or list are skipped; strings are cleaned. `whole`: the text
    was not cut off. At most 20 candidates are tried.

    Raises:
        ModelError: the text was cut off, is not JSON, or does not fit.
        InvalidInput: `schema` is not a JSON schema.
    """
    if not whole:
        raise ModelError(f"the answer was cut off before its JSON ended; raise max_tokens ({_excerpt(text)})")
    check = _checker(schema)
    wrong = ""
    for candidate in islice(_candidates(text), MAX_TRIED):
        try:
            value = _cleaned(orjson.loads(candidate))
            problem = check(value)
            if not problem:
                return orjson.dumps(value).decode()
        except orjson.JSONDecodeError:
            continue
        except (RecursionError, TypeError) as error:  # TypeError: orjson's depth limit when writing
            raise ModelError(f"the answer's JSON is nested too deeply ({_excerpt(text)}); try again") from error
        wrong = wrong or problem
    if wrong:
        raise ModelError(f"the answer does not fit the schema: {wrong}; try again, or another model")
    raise ModelError(f"the answer is not JSON ({_excerpt(text)}); try again, or another model")


def _candidates(text: str) -> Iterator[str]:
    """Yield candidates: the whole text, the content of a fence, then each outermost object or list."""
    yield text
    if fenced := _FENCED.search(text):
        yield fenced[1]
    yield from _outermost(text)


def _outermost(text: str) -> Iterator[str]:
    """Yield every outermost stretch from an opening bracket to its closing bracket.

    Brackets are only counted; the parser checks that their kinds match. A stretch that is never closed is skipped as a
    whole, so that no part of a broken value passes as the value.
    """
    depth, start, escaped, in_string = 0, 0, -1, False
    for mark in _MARKS.finditer(text):
        sign, at = mark[0], mark.start()
        if at == escaped or (depth == 0 and sign not in "{["):
            continue
        if in_string:
            escaped = at + 1 if sign == "\\" else -1
            in_string = sign != '"'
        elif sign == '"':
            in_string = True
        elif sign in "{[":
            start = start if depth else at
            depth += 1
        elif sign in "}]":
            depth -= 1
            if depth == 0:
                yield text[start : at + 1]


def _cleaned(value: Any) -> Any:
    """Return `value` with every string cleaned: JSON escapes can add characters that the text itself did not have."""
    match value:
        case str():
            return clean(value, len(value))
        case list():
            return [_cleaned(each) for each in value]
        case dict():
            return {clean(key, len(key)): _cleaned(each) for key, each in value.items()}
    return value


def _checker(schema: Mapping[str, Any]) -> Any:
    """Return a function that returns the problem of a value, "" if there is none."""
    from jsonschema.exceptions import SchemaError, best_match
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise InvalidInput(f"the schema is not a JSON schema: {shorten(error.message, MAX_EXCERPT)}") from error
    validator = kind(schema, registry=Registry())  # empty: the default one would fetch a $ref to a URL

    def problem(value: Any) -> str:
        try:
            error = best_match(validator.iter_errors(value))
        except Unresolvable as unresolvable:
            raise InvalidInput(
                f"the schema has a $ref to a definition that it lacks: {unresolvable.ref}"
            ) from unresolvable
        if error is None:
            return ""
        return f"{shorten(error.json_path, MAX_EXCERPT)}: {shorten(error.message, MAX_EXCERPT)}"

    return problem


def _excerpt(text: str) -> str:
    return f"it begins “{shorten(text, MAX_EXCERPT)}”" if text else "it is empty"
