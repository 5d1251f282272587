"""Abbreviations and their meanings: found where a text defines them, and expanded in queries.

The finder follows Schwartz and Hearst, 2003 ("A simple algorithm for identifying abbreviation definitions in biomedical
text") but is stricter, because a wrong meaning costs more than a missed one: a long form whose initials spell the short
form is preferred to one that merely contains its letters, and every word except function words must contribute an
initial.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from harness.core.everyday_words import EVERYDAY_WORDS
from harness.core.keys import MAX_QUERY_CHARS
from harness.core.text import STOP_WORDS, one_line, stem, stems

MAX_PAIRS = 50
MAX_PLACES = 10_000
"""Most candidate places per text; a megabyte of medical abstracts has 3,000."""
MAX_CANDIDATES = 64
MAX_LONG = 120
"""Most characters of a long form, and of its distance from the short form."""
MIN_SHORT, MAX_SHORT = 2, 10

_SPELLINGS = str.maketrans({"‐": "-", "‑": "-", "\u00ad": None, "（": "(", "）": ")"})
_PARAGRAPHS = re.compile(r"\n\s*\n")
_HINT = re.compile("[(（]|short for|stand|acronym|abbreviation|initialism")
_SHORT = re.compile(r"[^\W_]+(?:[-&/][^\W_]+)*")
_LIST_MARKER = re.compile(r"[IVX]+")
_PLACE = re.compile(
    r"(?<![A-Za-z0-9_])\((?P<inside>[^()]{2,160})\)"  # after a letter it is a call: f(x)
    r"|\b(?P<spelled>short for|(?:stands?|standing) for|an? (?:acronym|abbreviation|initialism) (?:for|of)) "
)
_LEAD = re.compile(
    r"^(?:(?:i\.e\.|e\.g\.|or|aka|also|hereafter|abbreviated|short for|which|stands for|standing for|as|the|an?),? )+"
)
_LINKS = frozenset({"is", "was", "are", "which", "that", ""})
_BREAK = re.compile(r"[^\w\s,&/'’\"“”*`-]")
_EDGES = " ,\"'“”‘’*_`()-/"

_WORD = re.compile(r"\w+")
# Names with points or an at sign (example.org/API, .NET) are one word, whose parts are not expanded.
_TOKEN = re.compile(r"(?<![\w.@#$])\w+(?:[-&/.@]+\w+)*")
_OPENS = re.compile(r"\s*[(\[]\s*[\"'“‘]?")
_CLOSES = re.compile(r"[\"'”’]?\s*[)\]]")
_BESIDE = re.compile(r"[\s,:=/–—-]*[\"'“‘]?")


def find_abbreviations(text: str) -> list[tuple[str, str]]:
    """Return the (short, long) pairs that `text` defines, in order, each once, at most `MAX_PAIRS`.

    Recognised are `long form (SHORT)`, `SHORT (long form)`, `(long form, SHORT)` and, if the initials spell the short
    form, `SHORT is short for long form` and `SHORT stands for long form`.

    A short form is one word of 2 to 10 characters with a capital, returned as written but in the singular (`LLMs` gives
    `LLM`); a long form is casefolded, has at most `MAX_LONG` characters and min(n + 5, 2n) words for n letters and
    digits of the short form, begins with the first of these and does not contain the short form itself. List numerals
    ("II") and capitalised words ("Met") are not short forms. Accepts any text, in linear time; only the first
    `MAX_PLACES` candidate places are read.
    """
    hopeful = filter(_HINT.search, _PARAGRAPHS.split(text))  # most cached texts define nothing
    paragraphs = (one_line(paragraph.translate(_SPELLINGS)) for paragraph in hopeful)
    places = ((paragraph, place) for paragraph in paragraphs for place in _PLACE.finditer(paragraph))
    found: dict[tuple[str, str], None] = {}
    for paragraph, place in islice(places, MAX_PLACES):
        pair = _defined_at(paragraph, place)
        if pair:
            found.setdefault(pair)
            if len(found) == MAX_PAIRS:
                break
    return list(found)


def _defined_at(text: str, place: re.Match[str]) -> tuple[str, str] | None:
    before = text[max(0, place.start() - MAX_LONG) : place.start()]
    if place.start() > MAX_LONG:
        before = before.partition(" ")[2]  # the first word may be cut
    if place["spelled"]:
        return _spelled_out(_last_word(before), text[place.end() : place.end() + MAX_LONG])
    inside = _LEAD.sub("", place["inside"])
    head, _, tail = inside.rpartition(",")
    return (
        _pair(re.split("[,;:]", inside, maxsplit=1)[0], _words_before(before))
        or _within(_last_word(before), inside)
        or _pair(tail, _words_before(head))
    )


def _pair(written: str, words: list[str], *, loose: bool = True) -> tuple[str, str] | None:
    """Return the short form with the long form at the end of `words`, if they match.

    A long form of initials may cross commas ("environmental, social, and governance"), a loose one may not.
    """
    short = _short_form(written)
    letters = _letters(short)
    words = words[-min(len(letters) + 5, 2 * len(letters)) :] if short else []
    start = _start(letters, [_bare(word) for word in words], initials=True)
    if start is None and loose:
        clause = max((i + 1 for i, word in enumerate(words[:-1]) if word.endswith(",")), default=0)
        start = _start(letters, [_bare(word) for word in words[clause:]], initials=False)
        words = words[clause:]
    if start is None:
        return None
    long = " ".join(filter(None, map(_bare, words[start:])))
    if short != written.strip(_EDGES):
        long = _singular(long)
    return (short, long) if _is_meaning(long, short) else None


def _is_meaning(long: str, short: str) -> bool:
    """Return whether `long`, which spells `short`, adds meaning to it: not "the RAG system", "nixos" or "a_b"."""
    words, own = long.split(), short.casefold()
    if "_" in long or own in {*words, *_WORD.findall(long)} or (len(words) == 1 and long.startswith(own)):
        return False
    begins_plainly = words[0] not in STOP_WORDS or len(words) <= len(_letters(short))  # "to be determined" (TBD)
    return begins_plainly and len(short) < len(long) <= MAX_LONG


def _within(written: str, inside: str) -> tuple[str, str] | None:
    """Return the pair of `SHORT (long form)`: without matching initials, everything up to the first comma must be the
    long form.
    """
    words = _BREAK.split(inside, maxsplit=1)[0].split()
    clause = words[: next((i + 1 for i, word in enumerate(words) if word.endswith(",")), None)]
    pair = _pair(written, words, loose=False) or _pair(written, clause, loose=False)
    if not pair and (pair := _pair(written, clause)) and len(pair[1].split()) < len(clause):
        return None
    return pair


def _spelled_out(written: str, after: str) -> tuple[str, str] | None:
    """Return the pair of `SHORT stands for long form`: the fewest words whose initials spell the short form."""
    words = _BREAK.split(after, maxsplit=1)[0].split()
    missing = _letters(_short_form(written))
    for count, word in enumerate(words, start=1):
        for part in _WORD.findall(_bare(word)):
            if part[0] == missing[:1]:
                missing = missing[1:]
            elif part not in STOP_WORDS:
                return None
        if not missing:
            return _pair(written, words[:count], loose=False)
    return None


def _words_before(text: str) -> list[str]:
    return _BREAK.split(text.rstrip(_EDGES))[-1].split()


def _last_word(text: str) -> str:
    words = [word.strip(_EDGES) for word in text[-3 * MAX_SHORT :].split()]
    while words and words[-1] in _LINKS:
        words.pop()
    return words[-1] if words else ""


def _short_form(written: str) -> str:
    """Return the singular of a written short form; empty if it cannot be one."""
    short = _one(written.strip(_EDGES))
    fits = MIN_SHORT <= len(short) <= MAX_SHORT and any(map(str.isupper, short)) and _SHORT.fullmatch(short)
    ordinary = _LIST_MARKER.fullmatch(short) or (len(short) > MIN_SHORT and short[1:].islower())
    return short if fits and not ordinary else ""


def _one(short: str) -> str:
    """Remove the plural s of a short form: `LLMs`, but not `AIDS` or `K8s`."""
    return short[:-1] if len(short) > MIN_SHORT and short[-1] == "s" and short[-2].isupper() else short


def _singular(long: str) -> str:
    if long.endswith(("series", "species")):
        return long
    if long.endswith("ies"):
        return long[:-3] + "y"
    if long.endswith(("sses", "xes", "ches", "shes")):
        return long[:-2]
    return long[:-1] if long.endswith("s") and not long.endswith(("ss", "us", "is")) else long


def _bare(word: str) -> str:
    return word.strip(_EDGES).casefold()


def _letters(short: str) -> str:
    return "".join(filter(str.isalnum, short.casefold()))


def _start(letters: str, words: Sequence[str], *, initials: bool) -> int | None:
    """Return the start of the shortest long form at the end of `words`; its last word must contribute a letter.

    From the last word back: how many letters of the short form may be left for the words before?
    """
    left = {len(letters)}
    for index in reversed(range(len(words))):
        left = {rest for end in left for rest in _lent(letters[:end], words[index], initials=initials)}
        if index == len(words) - 1:
            left.discard(len(letters))
        if 0 in left and words[index][:1] == letters[0]:
            return index
        left.discard(0)
    return None


def _lent(letters: str, word: str, *, initials: bool) -> set[int]:
    """Return how many of `letters` can remain when `word` contributes the last of them.

    By initials, every part of a hyphenated word contributes its own; otherwise a word contributes the initial of one of
    its parts and any letters that follow, in order. Function words may contribute none.
    """
    parts = _WORD.findall(word)
    if initials:
        remain = {len(letters)}
        for part in reversed(parts):
            lends = {count - 1 for count in remain if count and part[0] == letters[count - 1]}
            remain = lends | remain if part in STOP_WORDS else lends
        return remain
    count = len(letters)
    for char in reversed(word):
        if count and char == letters[count - 1]:
            count -= 1
    firsts = {part[0] for part in parts} | ({"x"} if word.startswith("ex") else set())  # user experience (UX)
    lends = {first for first in range(count, len(letters)) if letters[first] in firsts}
    return lends | {len(letters)} if word in STOP_WORDS or not parts else lends


class _Meaning(Struct, frozen=True):
    """One meaning of a short form: its usual spelling, its stems, and the short form's spellings."""

    long: str
    sense: frozenset[str]
    written: frozenset[str]


class Meanings:
    """Meanings of short forms, learned from (short, long) pairs; immutable.

    More frequent pairs weigh more. Long forms with the same stems are one meaning, in its most frequent spelling; ties
    are broken alphabetically, so that the order of the pairs never matters.

    A short form is recognised in a query as a whole word or as a part of a hyphenated one: as written; in any case if
    it has two letters and is not an everyday word (`WHO` and `MAP` only in capitals, and not in a query that is all
    capitals); and in the plural (`APIs`; in any case from three letters on). Definitions in the query itself take
    precedence.
    """

    __slots__ = ("_known",)

    def __init__(self, taught: Iterable[tuple[str, str]] = ()) -> None:
        grouped: dict[str, dict[frozenset[str], Counter[tuple[str, str]]]] = {}
        for short, long in taught:
            if sense := frozenset(stems(long) or _WORD.findall(long.casefold())):
                senses = grouped.setdefault(_one(short).casefold(), {})
                senses.setdefault(sense, Counter())[long, _one(short)] += 1
        self._known = {key: _by_weight(senses) for key, senses in grouped.items()}

    def of(self, short: str) -> tuple[str, ...]:
        """Return the distinct meanings of a short form, most frequent first; empty if unknown."""
        return tuple(meaning.long for meaning in self._matching(short))

    def expand(self, query: str) -> str:
        """Return `query` with every known short form replaced by its meaning.

        Of several meanings, the one that shares most stems with the rest of the query is used, none if they tie. If the
        meaning is already next to its short form, the short form is dropped. A query that would exceed
        `MAX_QUERY_CHARS` is not expanded.
        """
        decided = [(start, end, meanings[0].long) for start, end, meanings in self._read(query) if len(meanings) == 1]
        pieces: list[str] = []
        done = 0
        for start, end, text in sorted(edit for each in decided for edit in _edits(query, *each)):
            if start >= done:  # "RAG, RAG (…)" can request the same cut twice
                pieces += query[done:start], text
                done = end
        expanded = "".join(pieces) + query[done:]
        return expanded if len(expanded) <= max(len(query), MAX_QUERY_CHARS) else query

    def ambiguous_in(self, query: str) -> tuple[str, ...]:
        """Return the short forms of `query`, as written, with several meanings that its other words do not decide
        between; each once, in order.
        """
        return tuple(dict.fromkeys(query[start:end] for start, end, meanings in self._read(query) if len(meanings) > 1))

    @staticmethod
    def shorts_in(query: str) -> tuple[str, ...]:
        """Return possible short forms in `query`, casefolded and also in the singular: whole words of 2 to 10
        characters and the parts of hyphenated ones; each once, in order, at most `MAX_CANDIDATES`.
        """
        spans = (span for token in _TOKEN.finditer(query) for span in dict.fromkeys([token.span(), *_parts(token)]))
        forms = (form for start, end in spans for form in _forms(query[start:end]))
        return tuple(dict.fromkeys(map(str.casefold, filter(_may_be_short, forms))))[:MAX_CANDIDATES]

    def _read(self, query: str) -> Iterator[tuple[int, int, tuple[_Meaning, ...]]]:
        """Yield every known short form of `query`: start, end, and its remaining meanings."""
        known = Meanings(find_abbreviations(query))
        known._known = self._known | known._known
        words = [word for word in _WORD.findall(query) if not word.isdigit()]
        shouting = not any(map(str.islower, query)) and not all(map(known._matching, words))
        others = stems(query)
        for token in _TOKEN.finditer(query):
            for start, end in [token.span()] if known._matching(token[0]) else _parts(token):
                form = query[start:end]
                meanings = known._matching(form)
                if meanings and not (shouting and form.casefold() in EVERYDAY_WORDS):
                    yield start, end, _fitting(meanings, others)

    def _matching(self, form: str) -> tuple[_Meaning, ...]:
        """Return the meanings of a word: those of the short form written exactly so, else those in any case."""
        capitals = sum(map(str.isupper, form))
        for singular in _forms(form):
            known = self._known.get(singular.casefold(), ())
            everyday = not EVERYDAY_WORDS.isdisjoint((form.casefold(), singular.casefold()))
            exact = tuple(meaning for meaning in known if singular in meaning.written)
            if exact and (not everyday or capitals >= MIN_SHORT):
                return exact
            enough = 2 if singular == form else 3  # "gas" is not the plural of GA
            if known and not everyday and sum(map(str.isalpha, singular)) >= enough:
                return known
        return ()


def _by_weight(senses: dict[frozenset[str], Counter[tuple[str, str]]]) -> tuple[_Meaning, ...]:
    """Return the meanings of one short form, most frequent first."""
    meanings: list[_Meaning] = []
    for sense, taught in senses.items():
        spellings = Counter(long for long, _ in taught.elements())
        usual = min(spellings, key=lambda long: (-spellings[long], long))
        meanings.append(_Meaning(usual, sense, frozenset(short for _, short in taught)))
    return tuple(sorted(meanings, key=lambda each: (-senses[each.sense].total(), each.long)))


def _fitting(meanings: tuple[_Meaning, ...], others: set[str]) -> tuple[_Meaning, ...]:
    """Return the one meaning that shares most stems with the other words of a query, or all if there is a tie."""
    shared = [len(meaning.sense & others) for meaning in meanings]
    best = max(shared)
    return (meanings[shared.index(best)],) if best and shared.count(best) == 1 else meanings


def _edits(query: str, start: int, end: int, long: str) -> list[tuple[int, int, str]]:
    """Return the edits (start, end, text) for the short form at `start`..`end`: replace it with `long`, or remove it if
    `long` is next to it.
    """
    wanted = [stem(word) for word in _WORD.findall(long.casefold())]
    before = [*_WORD.finditer(query, max(0, start - 2 * MAX_LONG), start)][-len(wanted) :]
    if [stem(word[0].casefold()) for word in before] == wanted:
        left, closing = before[-1].end(), _CLOSES.match(query, end)
        if closing and _OPENS.fullmatch(query, left, start):
            return [(left, closing.end(), "")]
        return [(left, end, "")] if _BESIDE.fullmatch(query, left, start) else []
    after = [*_WORD.finditer(query, end, end + 2 * MAX_LONG)][: len(wanted)]
    if [stem(word[0].casefold()) for word in after] == wanted:
        right, closing = after[0].start(), _CLOSES.match(query, after[-1].end())
        if closing and _OPENS.fullmatch(query, end, right):
            return [(start, right, ""), (*closing.span(), "")]
        return [(start, right, "")] if _BESIDE.fullmatch(query, end, right) else []
    return [(start, end, long)]


def _parts(token: re.Match[str]) -> list[tuple[int, int]]:
    """Return the positions of the parts of a word like `RAG-based` or `TCP/IP`; none in a name like
    `example.org/API`.
    """
    if "." in token[0] or "@" in token[0]:
        return []
    return [(token.start() + part.start(), token.start() + part.end()) for part in _WORD.finditer(token[0])]


def _forms(word: str) -> tuple[str, ...]:
    """Return the word and, if it ends like a plural, its possible singular."""
    return (word, word[:-1]) if word.endswith("s") and not word.endswith("ss") else (word,)


def _may_be_short(form: str) -> bool:
    if not MIN_SHORT <= len(form) <= MAX_SHORT or not _SHORT.fullmatch(form) or not any(map(str.isalpha, form)):
        return False
    return form.casefold() not in EVERYDAY_WORDS or sum(map(str.isupper, form)) >= MIN_SHORT
