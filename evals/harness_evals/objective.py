"""Objective of a comparison: the quality of a run, weighed against its cost, as `quality - 0.01*live_calls`."""

import ast
import operator
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from harness.errors import InvalidInput
from harness_evals.outcome import Cost

MAX_CHARS = 200
MAX_PARTS = 50
"""Numbers, names and operations of one objective."""
MAX_NUMBER = 1e6
QUALITY = "quality"
NAMES = (QUALITY, "live_calls", "seconds", "tokens")
_FORM = f"it is made of {', '.join(NAMES)}, numbers, + - * and parentheses, as in `quality - 0.01*live_calls`"

Formula: TypeAlias = Callable[[Mapping[str, float]], float]

_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
)


class Objective(Struct, frozen=True):
    """Formula of what is to be as high as possible; the empty one is the quality alone.

    Raises:
        InvalidInput: it is not a formula, or lacks the quality; the message has the part that is wrong.
    """

    text: str = ""

    def __post_init__(self) -> None:
        _parsed(self.text)

    def __bool__(self) -> bool:
        return bool(self.text.strip())

    def value(self, total: float, cost: Cost) -> float:
        """Return the value for a run with the score `total` (0..1) and this cost."""
        known = {QUALITY: total, "live_calls": cost.live_calls, "seconds": cost.seconds, "tokens": cost.tokens}
        return _parsed(self.text)(known)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Formula:
    if len(text) > MAX_CHARS:
        raise InvalidInput(f"the objective has {len(text):,} characters; at most {MAX_CHARS}")
    try:
        tree = ast.parse(text.strip() or QUALITY, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInput(f"the objective {text!r} cannot be read; {_FORM}") from None
    parts = list(ast.walk(tree))
    if len(parts) > 3 * MAX_PARTS:  # an operation is three nodes: itself, its sign, and the context of a name
        raise InvalidInput(f"the objective has more than {MAX_PARTS} parts; shorten it")
    formula = _formula(tree.body)
    if not any(isinstance(part, ast.Name) and part.id == QUALITY for part in parts):
        raise InvalidInput(f"the objective {text!r} lacks {QUALITY}, so that an empty report would be the best; add it")
    return formula


def _formula(node: ast.expr) -> Formula:
    match node:
        case ast.Name(id=name) if name in NAMES:
            return operator.itemgetter(name)
        case ast.Name(id=name):
            nearest = get_close_matches(name, NAMES, n=1, cutoff=0.0)[0]
            raise InvalidInput(f"the objective has {name!r}, which is not measured; did you mean {nearest}? {_FORM}")
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if abs(number) > MAX_NUMBER:
                raise InvalidInput(f"a number of the objective is beyond {MAX_NUMBER:,.0f}; choose a smaller one")
            return lambda _: float(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            of = _formula(operand)
            return lambda known: -of(known)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _formula(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATIONS:
            operation, one, other = _OPERATIONS[type(sign)], _formula(left), _formula(right)
            return lambda known: operation(one(known), other(known))
    raise InvalidInput(f"the objective has {ast.unparse(node)!r:.60}, which it may not; {_FORM}")
