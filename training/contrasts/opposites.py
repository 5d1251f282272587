"""Words with an opposite: verbs in all their forms, adjectives, adverbs, nouns."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.antonyms import ADJECTIVES, NOUNS, PHRASES, VERBS
from training.contrasts.edit import Contrast, Edit
from training.contrasts.forms import plural, verb_forms
from training.words import written_like


def _table() -> dict[str, list[str]]:
    """Return every form of every word with its opposites, in the same form."""
    table: dict[str, list[str]] = {}
    for lines, forms in (
        (VERBS, verb_forms),
        (NOUNS, lambda noun: (noun, plural(noun))),
        (ADJECTIVES, lambda word: (word,)),
        (PHRASES, lambda phrase: (phrase,)),
    ):
        for pair in lines.split():
            one, two = pair.replace("_", " ").split("/")
            for a, b in zip(forms(one), forms(two), strict=True):
                if b not in table.setdefault(a, []):
                    table[a].append(b)
    return table


_TABLE = _table()
_ANY = re.compile(
    r"(?<![\w\-])(?:"
    + "|".join(re.escape(word) for word in sorted(_TABLE, key=len, reverse=True))
    + r")(?![\w\-]|['’](?!s\b))",
    re.IGNORECASE,
)
_DEGREE_ASKED = re.compile(r"\b(?:how|this|that)\s+$", re.IGNORECASE)
_FIXED = re.compile(
    r"""
    \b(?:(?:belly|body|arm|thigh|abdominal|face|lose|burn|trans|saturated|reduce|in|of|low|high|more|excess|
    chest|stomach)\sfat|fat\s(?:loss|burn\w*)|deep\svein|melting\spot|capital\sraise|hot\stopics?|
    heart\sattacks?|panic\sattacks?|(?:a|the|of|terror|terrorist|shark)\sattacks?|heat\smaps?|hard\s(?:disk|
    drive|copy|work)|high\s(?:court|commission|end|quality|resolution|tech|street)|north\s(?:korea|america|
    american|carolina|dakota|pole|face)|south\s(?:korea|america|africa|african|carolina|dakota|park|indian?|
    asian?|pole|american)|east\s(?:india|timor|asian?|coast)|west\s(?:bengal|indies|virginia|bank|wing|point|
    coast|ham)|middle\seast|(?:wild|kanye|mae|far|near)\s(?:west|east)|old\s\w+\syear|\w+\syears?\s(?:old|
    young)|small\stalk|big\s(?:data|bang|brother|boss|ben|deal|bazaar|ticket)|common\s(?:law|sense|core|man|
    stock|cold)|dead\ssea|deep\s(?:learning|web|neural)|dark\s(?:web|matter|energy|knight|souls|circles|side|
    net|horse)|public\s(?:school|relations|transport\w*|speaking|health|administration|policy|holiday|sector|
    key)|private\s(?:key|equity|limited)|social\s\w+|cold\s(?:war|fusion|play|turkey)|hot\s(?:dog|spot|star|
    girl\w*|guy\w*)|cool\s\w+|civil\s(?:engineer\w*|war|service\w*|rights|society)|criminal\s(?:minds|justice)|
    foreign\s(?:policy|language|affairs|minister|exchange|trade|direct)|natural\s(?:language|gas|selection|
    number\w*|science\w*|resources?|history)|artificial\s(?:intelligence|neural)|fast\s(?:food|and|track|
    furious)|low\slife|even\s(?!numbers?|functions?)\w+|odd\s(?:jobs?|one)|even|major\s(?!surgery|scale|chord|
    depress)\w+|minor\sin|active\s(?:directory|voice)|dynamic\sprogramming|positive\s(?:thinking|psychology|
    attitude)|negative\s(?:numbers?)|raw\s(?:data|material\w*)|global\s(?:warming|positioning|village)|
    solid\sstate|sweet\s(?:potato\w*|tooth|home|heart)|world\swars?|civil\swars?|star\swars?|gulf\swar|
    vietnam\swar|korean\swar|korean\swar|\w+\swar|acid\s(?:rain|reflux)|server\sside|sql\sserver|single\s\w+|
    software\sengineer\w*|software\sdevelop\w*|follow(?:ing)?\s(?:a|the|my|these|this|up|your|his|her|their|
    statements?|sentences?|instructions?)|followed\sby|the\sfollowing|following|leaving?\sthe|left|leaves|
    allow\sme|add\sup|adds?\sto|like[sd]?|liking|contracts?|contracted|contracting|cool|cools|cooled|
    slow\smotion|exclusive|show\s(?:me|up|off|that)|shows?|shown|showing|showed|pulls?\soff|push\s?ups?|
    pull\s?ups?|saves?|fired?|fires|firing|fillings?|fellow|sold\sout|online\s(?:course\w*|shopping|store)|
    join\sus|supply\schain|friend\s(?:of|zone|request)|added\s(?:to|sugar|value)|dull|tense|tenses|thins?|wets?|
    narrows?|narrowed|pack|packs|packed|tags?|pins?|pinned|base|bases|interviews?|questions?|answers?|wakes?|
    cause\sof|causes\sof|caused?\sby|the\scauses?|causes|cause|common|late|early\s(?:life|age|man|modern|days)|
    short\s(?:story|stories|film\w*|circuit\w*|sale|selling|term|answer)|defends?\smy|trusts?|loved?\s(?:ones?|
    story)|in\slove|love\s(?:story|life|marriage|letter|songs?|at)|make\slove|first\slove|true\slove|loves?|
    lost|lose\s(?:virginity|my|your)|won|gains?\s(?:on|from)|fall\s(?:of|season)|falls?\s(?:in|into|for)|
    falling\s(?:in|for)|fell\sin|rise\sof|rose|splits?\sthe\sbill|cured|dry\s(?:skin|cough|eyes?|ice|fruits?)|
    slow\scooker|student\s(?:loans?|visa|life)|teacher\straining|dinner|breakfast|summers?|winter|male|female|
    married|single|husband|wife)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WITH_TO = frozenset(
    "add added adding adds remove removed removing removes sold bought sell buy selling buying join "
    "import export upload download lend borrow "
    "insert delete connect disconnect connected disconnected attach detach allow "
    "allowed allows encourage discourage forbid".split()
)


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    low = text.lower()
    fixed = [match.span() for match in _FIXED.finditer(text)]
    for match in _ANY.finditer(text):
        if _DEGREE_ASKED.search(text[: match.start()]) or any(a <= match.start() < b for a, b in fixed):
            continue
        others = [other for other in _TABLE[match.group().lower()] if not re.search(rf"\b{re.escape(other)}\b", low)]
        if _bound(match, text):
            continue
        if others and not _named(match, text):
            yield Edit(*match.span(), written_like(chance.choice(others), match.group()))


def _bound(match: re.Match[str], text: str) -> bool:
    """Return whether a word is a part of a file name, or what goes with it does not go with its opposite."""
    before, after = text[: match.start()], text[match.end() :]
    if before[-1:] in set("._/@#") or after[:1] in set("_/@") or re.match(r"\.\w", after):
        return True
    if match.group().lower() in _WITH_TO:
        return bool(re.match(r"(?: \S+){0,6}? (?:to|from|into)\b", after))
    return False


def _named(match: re.Match[str], text: str) -> bool:
    """Return whether a word is part of a name: a capital within a sentence that has small letters."""
    before, after = text[: match.start()].rstrip(), text[match.end() :].lstrip()
    inside = bool(before) and before[-1] not in '.?!:"“(,'
    return match.group()[0].isupper() and (inside or after[:1].isupper()) and not text.istitle()


OPPOSITES = Contrast("opposites", _edits)
