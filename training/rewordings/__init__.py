"""Rewordings: variants of a question that ask for the same answer."""

from training.generator import Generator
from training.rewordings.abbreviations import Abbreviations
from training.rewordings.composed import Composed
from training.rewordings.contractions import Contractions
from training.rewordings.frames import Frames
from training.rewordings.genitive import Genitive
from training.rewordings.keywords import DroppedWords
from training.rewordings.letter_case import LetterCase
from training.rewordings.numbers import NumberWords
from training.rewordings.politeness import Politeness
from training.rewordings.punctuation import Punctuation
from training.rewordings.spelling import SPELLING
from training.rewordings.synonyms import SYNONYMS
from training.rewordings.templates import QuestionTemplates
from training.rewordings.typing_errors import TypingErrors
from training.rewordings.voice import Voice
from training.rewordings.word_order import WordOrder

__all__ = ["REWORDINGS", "Composed"]

REWORDINGS: tuple[Generator, ...] = (
    Politeness(),
    LetterCase(),
    Punctuation(),
    TypingErrors(),
    Contractions(),
    SPELLING,
    NumberWords(),
    WordOrder(),
    Genitive(),
    Voice(),
    QuestionTemplates(),
    DroppedWords(),
    Abbreviations(),
    SYNONYMS,
    Frames(),
)
"""One generator for every class of rewording."""
