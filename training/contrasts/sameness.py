"""Whether two names or terms may name one thing: aliases, synonyms, spellings, inflections, parts, initials."""

from functools import cache

from rapidfuzz.distance import Levenshtein

from harness.core.equivalence.lexicon import SYNONYMS
from harness.core.text import stem

SPELLING = 0.72
"""Names as alike in their letters as this may be spellings of one name."""

_ALIASES = tuple(
    frozenset(line.strip().split("/"))
    for line in """
    us/usa/america/united states/u.s/u.s.a/american/americans/united/states/united states of/the us/north america
    uk/united kingdom/britain/great britain/england/british/english
    india/bharat/hindustan/indian/indians
    bangalore/bengaluru
    bombay/mumbai
    madras/chennai
    calcutta/kolkata
    delhi/new delhi/ncr/delhi ncr
    new york/nyc/new york city/ny/york/manhattan
    los angeles/la
    san francisco/sf/bay area
    facebook/fb/meta
    javascript/js/ecmascript
    windows/microsoft windows
    mac/macbook/macos/os x/osx
    iphone/apple/ios/ipad
    android/google
    muslim/islam/muslims/islamic
    hindu/hinduism/hindus
    christian/christianity/christians
    jew/jewish/jews/judaism
    obama/barack/barack obama
    trump/donald/donald trump
    clinton/hillary/hillary clinton/hilary
    modi/narendra modi/narendra/pm modi/pm
    eu/europe/european/european union
    ussr/soviet/soviet union/russia
    china/prc/chinese
    uae/dubai/emirates
    holland/netherlands/dutch
    persia/iran
    burma/myanmar
    ai/artificial intelligence
    ml/machine learning
    tv/television
    iit/iits/iit bombay/indian institute
    cs/cse/computer science
    rbi/reserve bank
    covid/corona/coronavirus/ncov/virus
    ibuprofen/advil/motrin
    acetaminophen/tylenol/paracetamol
    lord of the rings/lotr
    game of thrones/got
    whatsapp/whats app
    s.a/sa/south africa
    tamil nadu/tn/tamil
    upsc/ias
    phone/mobile/smartphone/smart phone/cellphone/cell phone/mobile phone
    car/vehicle/automobile
    flu/influenza
    hypertension/blood pressure/high blood
    heart attack/heart disease/myocardial infarction
    ww2/wwii/world war/ww1/wwi/world war ii
    coding/programming/computer programming/software development
    fb/facebook
    girl/girls/girlfriend/woman/lady
    movie/film/movies/films/cinema
    picture/pictures/photo/photos/images/image
    guy/guys/man/dude/men/male
    job/jobs/career/work/employment
    """.strip().splitlines()
)


_GROUPS: dict[str, frozenset[int]] = {}
for _number, _group in enumerate(_ALIASES):
    for _name in _group:
        _GROUPS[_name] = _GROUPS.get(_name, frozenset()) | {_number}


@cache
def same_thing(one: str, two: str) -> bool:
    """Return whether two names, in small letters, may name the same thing."""
    if set(one.split()) & set(two.split()) or _GROUPS.get(one, frozenset()) & _GROUPS.get(two, frozenset()):
        return True
    if SYNONYMS.get(one, one) == SYNONYMS.get(two, two) or _initials(one) == two or _initials(two) == one:
        return True
    return _spelled_alike(one, two) or any(stem(a) == stem(b) for a in one.split() for b in two.split())


def _spelled_alike(one: str, two: str) -> bool:
    short, long = sorted((one.replace(" ", "").replace(".", ""), two.replace(" ", "").replace(".", "")), key=len)
    if stem(short) == stem(long) or (
        len(short) > 2 and long.startswith(short[: max(3, len(short) - 2)]) and len(short) > 3
    ):
        return True
    return len(short) > 3 and Levenshtein.normalized_similarity(short, long) >= SPELLING


def _initials(name: str) -> str:
    return "".join(word[0] for word in name.split()) if " " in name else ""
