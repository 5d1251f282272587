"""Rewordings: variants of a question that ask for the same answer."""

from training.generator import Generator
from training.rewordings.abbreviations import Abbreviations
from training.rewordings.articles import Articles
from training.rewordings.composed import Composed
from training.rewordings.contractions import Contractions
from training.rewordings.frames import Frames
from training.rewordings.genitive import Genitive
from training.rewordings.keyword_order import KeywordOrder
from training.rewordings.keywords import DroppedWords
from training.rewordings.letter_case import LetterCase
from training.rewordings.numbers import NumberWords
from training.rewordings.plurals import Plurals
from training.rewordings.politeness import Politeness
from training.rewordings.punctuation import Punctuation
from training.rewordings.spelling import SPELLING
from training.rewordings.synonyms import SYNONYMS
from training.rewordings.templates import QuestionTemplates
from training.rewordings.typing_errors import TypingErrors
from training.rewordings.voice import Voice
from training.rewordings.word_order import WordOrder

__all__ = ["REWORDINGS", "SMALL", "SMALLEST", "Composed"]

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

SMALLEST: tuple[Generator, ...] = (Articles(), Contractions(), SPELLING)
"""Small changes that leave the order of words alone: whatever two questions differ in, they still differ in it."""

SMALL: tuple[Generator, ...] = (
    *SMALLEST,
    Abbreviations(),
    DroppedWords(),
    Genitive(),
    KeywordOrder(),
    NumberWords(),
    Plurals(),
    WordOrder(),
)
"""Changes of a word or a place: texts that look all but alike, and are the same question."""
