"""The forms of English words that a change needs: plurals, and the four forms of a verb."""

_PLURALS = {
    "man": "men",
    "woman": "women",
    "child": "children",
    "person": "people",
    "foot": "feet",
    "wife": "wives",
    "life": "lives",
    "tooth": "teeth",
    "mouse": "mice",
}
_PAST = {
    line.split()[0]: (line.split()[1], line.split()[-1])
    for line in """
    buy bought; sell sold; begin began begun; send sent; give gave given; take took taken; win won; lose lost; lend
    lent; rise rose risen; fall fell fallen; grow grew grown; shrink shrank shrunk; sleep slept; wake woke woken;
    find found; hide hid hidden; forget forgot forgotten; remember remembered; leave left; keep kept; spend spent;
    build built; break broke broken; learn learned; teach taught; hold held; make made; catch caught; throw threw
    thrown; sink sank sunk; float floated; freeze froze frozen; melt melted; tell told; wear wore worn; put put;
    hire hired; upload uploaded; fight fought; draw drew drawn; eat ate eaten; get got; rebuild rebuilt; overpay
    overpaid; speed sped; stand stood; sit sat; cut cut; read read; write wrote written; pay paid; rent rented; meet
    met; understand understood; misunderstand misunderstood; weaken weakened; strengthen strengthened; widen
    widened; stop stopped; permit permitted; admit admitted; omit omitted; ban banned; drop dropped; zip zipped;
    unzip unzipped; fasten fastened; plug plugged; unplug unplugged; forbid forbade forbidden; undo undid undone; do
    did done; shut shut; let let; quit quit; fit fit; hit hit; set set; bring brought; go went gone; come came come;
    run ran run; know knew known; think thought; say said; feel felt; become became become; show showed shown; speak
    spoke spoken; drive drove driven; fly flew flown
    """.strip().split(";")
}
_DOUBLING = frozenset(
    "stop permit admit omit ban drop zip unzip plug unplug forbid shut let quit fit hit set put cut "
    "get "
    "run begin win sit spin trim wrap commit submit log ship plan chat".split()
)


def plural(noun: str) -> str:
    """Return the plural of a noun."""
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith("y") and noun[-2:-1] not in set("aeiou"):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def third(verb: str) -> str:
    """Return a verb's form after `he` in the present."""
    irregular = {"do": "does", "go": "goes", "have": "has"}
    return irregular.get(verb) or plural(verb)


def gerund(verb: str) -> str:
    """Return a verb's form in `-ing`."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb in _DOUBLING:
        return verb + verb[-1] + "ing"
    return (
        verb[:-1] if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and len(verb) > 2 else verb
    ) + "ing"


def past(verb: str) -> tuple[str, str]:
    """Return a verb's past and its past participle."""
    if verb in _PAST:
        return _PAST[verb]
    if verb in _DOUBLING:
        made = verb + verb[-1] + "ed"
    elif verb.endswith("e"):
        made = verb + "d"
    elif verb.endswith("y") and verb[-2:-1] not in set("aeiou"):
        made = verb[:-1] + "ied"
    else:
        made = verb + "ed"
    return made, made


def verb_forms(verb: str) -> tuple[str, str, str, str, str]:
    """Return a verb itself, its third person, its form in `-ing`, its past and its past participle."""
    return (verb, third(verb), gerund(verb), *past(verb))
