"""English words for what is measured."""

MEASURES = (
    "height|elevation|length|width|depth|distance|area|size|weight|mass|age|speed|price|cost|temperature|capacity"
)
"""Alternatives of a pattern: what nearly every thing of a kind has one figure for."""
