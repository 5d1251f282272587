"""Forms of English verbs and nouns."""

_IRREGULAR = {
    verb.split("/")[0]: (verb.split("/")[1], verb.split("/")[2])
    for verb in """
    buy/bought/bought begin/began/begun get/got/gotten find/found/found make/made/made take/took/taken
    choose/chose/chosen
    build/built/built keep/kept/kept speak/spoke/spoken give/gave/given go/went/gone hide/hid/hidden know/knew/known
    leave/left/left let/let/let lose/lost/lost put/put/put quit/quit/quit see/saw/seen sell/sold/sold send/sent/sent
    show/showed/shown shrink/shrank/shrunk sleep/slept/slept spend/spent/spent teach/taught/taught tell/told/told
    think/thought/thought throw/threw/thrown understand/understood/understood wake/woke/woken wear/wore/worn win/won/won
    write/wrote/written have/had/had come/came/come become/became/become set/set/set cut/cut/cut feel/felt/felt
    bring/brought/brought overcome/overcame/overcome hurt/hurt/hurt break/broke/broken grow/grew/grown fall/fell/fallen
    rebuild/rebuilt/rebuilt do/did/done run/ran/run say/said/said pay/paid/paid meet/met/met fix/fixed/fixed
    shed/shed/shed sit/sat/sat split/split/split deal/dealt/dealt eat/ate/eaten
    """.split()
}
_DOUBLED = frozenset(
    "stop get set put quit cut plan swap skip drop begin win let run ship shop chat grab permit occur shed".split()
)
_PLURALS = {"child": "children", "woman": "women", "man": "men", "person": "people", "wife": "wives", "life": "lives"}


VerbForms = tuple[str, str, str, str, str]
"""Base form, third person, past, participle and `-ing` form."""


def verb_forms(verb: str) -> VerbForms:
    """Return the forms of a verb, whose particles follow it."""
    base, _, rest = verb.partition(" ")
    tail = f" {rest}" if rest else ""
    past, participle = _IRREGULAR.get(base, (_with_ed(base), _with_ed(base)))
    return base + tail, _with_s(base) + tail, past + tail, participle + tail, _with_ing(base) + tail


def noun_forms(noun: str) -> tuple[str, str]:
    """Return singular and plural of a noun, whose attributes stand before it."""
    head, _, last = noun.rpartition(" ")
    plural = _PLURALS.get(last, _with_s(last))
    return noun, f"{head} {plural}".strip()


def _with_s(word: str) -> str:
    if word in {"do", "go"} or word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word == "have":
        return "has"
    return word[:-1] + "ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else word + "s"


def _with_ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + verb[-1] + "ed" if verb in _DOUBLED else verb + "ed"


def _with_ing(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return verb + verb[-1] + "ing" if verb in _DOUBLED else verb + "ing"
