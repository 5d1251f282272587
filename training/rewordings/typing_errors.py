"""Slips of the keyboard, and the usual wrong spellings."""

from collections.abc import Iterator
from functools import lru_cache
from random import Random

from training.rewordings.exchange import is_name
from training.rewordings.shape import is_common
from training.words import tokens, written_like

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: [other for other in row[max(0, at - 1) : at + 2] if other != key]
    + [
        next_row[there]
        for next_row in (_ROWS[(number + 1) % 3],)
        for there in (at,)
        if there < len(next_row) and number < 2
    ]
    for number, row in enumerate(_ROWS)
    for at, key in enumerate(row)
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORTEST = 5
_TRIES = 12
_MISSPELT = dict(
    pair.split("/")
    for pair in """
    receive/recieve believe/beleive definitely/definately separate/seperate tomorrow/tommorow until/untill
    government/goverment environment/enviroment beginning/begining necessary/neccessary occurred/occured
    occurrence/occurence really/realy which/wich because/becuase their/thier business/buisness calendar/calender
    difference/diffrence different/diffrent language/langauge relationship/realtionship restaurant/restaraunt
    successful/succesful weird/wierd friend/freind address/adress accommodation/accomodation achieve/acheive
    across/accross argument/arguement experience/experiance foreign/foriegn grammar/grammer guarantee/garantee
    happened/happend immediately/immediatly independent/independant interesting/intresting knowledge/knowlege
    library/libary maintenance/maintainance million/milion opinion/opinon particular/particlar people/poeple
    possible/posible probably/probly recommend/reccomend religious/religous schedule/schedual similar/similiar
    surprise/suprise through/throught together/togather truly/truely usually/usualy vegetable/vegatable
    whether/wether writing/writting without/witout symptoms/symtoms pregnant/pregant pregnancy/pregnacy
    diarrhea/diarhea headache/headach stomach/stomache medicine/medecine exercise/excercise surgery/surgury
    disease/desease doctor/docter muscle/muscel treatment/treatement period/peroid president/presidant
    university/univercity engineering/enginering college/collage computer/computor password/passward
    website/webiste software/sofware download/donwload install/instal internet/intenet science/sceince
    psychology/pyschology chemistry/chemisty physics/phisics mathematics/mathmatics history/histroy
    international/internatinal example/exmaple explain/expalin important/importent advantage/advantege
    available/availible question/quesion answer/anwser improve/imporve increase/incease develop/develope
    programming/programing salary/sallery interview/inteview preparation/preperation examination/examinaton
    career/carreer popular/populer beautiful/beatiful favorite/favourit expensive/expencive country/contry
    """.split()
)  # fmt: skip
_MISSPELT.pop("college")  # a collage is another thing
_OTHER_WORDS = frozenset(
    """
    bugle collage causal casual martial marital calvary cavalry diary dairy desert dessert loose lose quite quiet trail
    trial angel angle barley bowel bowels sliver uterus ureter ilium ileum dysphagia dysphasia prostrate prostate
    perfuse profuse palpation palpitation hypotension hypertension planing hoping hopping staring starring scared
    scarred
    latter later filing filling dinning canon cannon breath breathe cloths clothes moral morale personal personnel
    precede proceed principal principle stationary stationery weather whether wonder wander moister gaol goal chose
    choose chocked choked contant tranny sever severe fiend fired friend pubic public county country
    """.split()
)
"""Words to keep clear of, whether or not the vocabulary has them."""
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "y", "al")


class TypingErrors:
    """Writes one to three longer words with a slip: a neighbouring key, letters transposed, dropped or doubled, or a
    usual misspelling.

    A slip falls only in words that every reader knows, and never where the result is, or could as well have been meant
    as, another such word; never in numbers, names of more than a capital in front, or first letters.
    """

    name = "typing errors"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        pieces = tokens(text)
        places = [at for at, piece in enumerate(pieces) if _may_slip(piece) and not is_name(pieces, at)]
        slips = min(len(places), chance.choice([1, 1, 1, 2] if len(pieces) < 40 else [1, 2, 3]))
        changed = False
        for at in chance.sample(places, len(places)):
            if not slips:
                break
            wrong = _slipped(pieces[at].lower(), chance)
            if wrong is not None:
                pieces[at] = written_like(wrong, pieces[at])
                slips, changed = slips - 1, True
        return "".join(pieces) if changed else None


def _may_slip(word: str) -> bool:
    return (
        len(word) >= _SHORTEST
        and word.isascii()
        and word.isalpha()
        and (word[1:].islower() or word.isupper())
        and is_common(word.lower())
    )


def _slipped(word: str, chance: Random) -> str | None:
    if word in _MISSPELT and chance.random() < 0.6:
        return _MISSPELT[word]
    for _ in range(_TRIES):
        wrong = chance.choice((_neighbour, _transposed, _transposed, _dropped, _doubled))(word, chance)
        if wrong != word and _is_clear(wrong, word):
            return wrong
    return None


def _neighbour(word: str, chance: Random) -> str:
    at = chance.randrange(1, len(word))
    return word[:at] + chance.choice(_NEIGHBOURS[word[at]]) + word[at + 1 :]


def _transposed(word: str, chance: Random) -> str:
    at = chance.randrange(1, len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _dropped(word: str, chance: Random) -> str:
    at = chance.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _doubled(word: str, chance: Random) -> str:
    at = chance.randrange(1, len(word))
    return word[:at] + word[at] + word[at:]


@lru_cache(maxsize=100_000)
def _is_clear(wrong: str, meant: str) -> bool:
    """Return whether `wrong` is no word and one slip away from no common word but `meant` and its own forms."""
    if (
        wrong in _OTHER_WORDS
        or is_common(wrong)
        or any(wrong.endswith(ending) and is_common(wrong.removesuffix(ending)) for ending in _ENDINGS)
    ):
        return False
    return all(near == meant or _same_stem(near, meant) for near in _one_slip_away(wrong) if is_common(near))


def _same_stem(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return longer.startswith(shorter) and longer.removeprefix(shorter) in {"s", "es", "d", "ed"}


def _one_slip_away(word: str) -> Iterator[str]:
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in _LETTERS:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]
