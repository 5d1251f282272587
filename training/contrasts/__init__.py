"""Contrasts: ways to turn a question into one that reads much the same and asks for another answer."""

from training.contrasts.asking import ASKING
from training.contrasts.aspects import ASPECTS
from training.contrasts.audience import AUDIENCE
from training.contrasts.comparatives import COMPARATIVES
from training.contrasts.dates import DATES
from training.contrasts.direction import DIRECTION
from training.contrasts.names import Names
from training.contrasts.negation import NEGATION
from training.contrasts.numbers import NUMBERS
from training.contrasts.opposites import OPPOSITES
from training.contrasts.roles import ROLES
from training.contrasts.scope import SCOPE
from training.contrasts.units import UNITS
from training.contrasts.versions import VERSIONS
from training.generator import Generator

CONTRASTS: tuple[Generator, ...] = (
    NUMBERS,
    UNITS,
    DATES,
    VERSIONS,
    NEGATION,
    OPPOSITES,
    COMPARATIVES,
    DIRECTION,
    SCOPE,
    ASPECTS,
    ASKING,
    AUDIENCE,
    ROLES,
)
"""The contrasts that need no data; `Names` is learned from texts."""

__all__ = ["CONTRASTS", "Names"]
