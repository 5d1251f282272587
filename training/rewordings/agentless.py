"""Questions of means and cause, active and passive: `how can I remove rust` and `how can rust be removed`."""

import re
from random import Random

from training.rewordings.shape import LINKS, PREPOSITIONS

_VERBS = {
    pair.split("/")[0]: pair.split("/")[1]
    for pair in """
    remove/removed cure/cured treat/treated prevent/prevented fix/fixed repair/repaired improve/improved clean/cleaned
    reduce/reduced increase/increased install/installed delete/deleted recover/recovered convert/converted
    unlock/unlocked solve/solved measure/measured calculate/calculated make/made use/used prepare/prepared cook/cooked
    stop/stopped avoid/avoided control/controlled create/created build/built change/changed edit/edited
    download/downloaded open/opened sell/sold buy/bought produce/produced store/stored transfer/transferred
    extract/extracted test/tested detect/detected diagnose/diagnosed identify/identified prove/proved find/found
    save/saved replace/replaced connect/connected send/sent access/accessed configure/configured update/updated
    disable/disabled enable/enabled block/blocked restore/restored hide/hidden print/printed reset/reset boil/boiled
    translate/translated explain/explained define/defined determine/determined compute/computed estimate/estimated
    compare/compared combine/combined add/added verify/verified track/tracked trace/traced hack/hacked cancel/cancelled
    eat/eaten take/taken grow/grown lower/lowered strengthen/strengthened relieve/relieved kill/killed destroy/destroyed
    generate/generated implement/implemented integrate/integrated optimize/optimized analyze/analyzed
    manage/managed teach/taught learn/learned overcome/overcome eliminate/eliminated break/broken heal/healed
    decrease/decreased deactivate/deactivated activate/activated uninstall/uninstalled recycle/recycled
    """.split()
}
_CAUSES = {"cause": "caused", "treat": "treated", "cure": "cured", "prevent": "prevented", "trigger": "triggered",
    "damage": "damaged", "kill": "killed", "influence": "influenced",
    "replace": "replaced", "reduce": "reduced"}  # fmt: skip
_BASE_OF = {participle: base for base, participle in _VERBS.items()}
_HOW = re.compile(rf"how (?:can|do|could) (?:i|we|you|one) (?P<verb>{'|'.join(_VERBS)}) (?P<rest>.+)", re.IGNORECASE)
_HOW_PASSIVE = re.compile(
    rf"how (?:can|could) (?P<thing>.+?) be (?P<done>{'|'.join(_BASE_OF)})(?P<rest>(?: .+)?)", re.IGNORECASE
)
_MAY = re.compile(
    rf"(?:can (?:i|we|you|one)|is it possible to|is there (?:a|any) way to) (?P<verb>{'|'.join(_VERBS)}) (?P<rest>.+)",
    re.IGNORECASE,
)
_MAY_PASSIVE = re.compile(rf"can (?P<thing>.+?) be (?P<done>{'|'.join(_BASE_OF)})(?P<rest>(?: .+)?)", re.IGNORECASE)
_CAUSE = re.compile(
    rf"(?P<may>can|could|will|would|may) (?P<agent>.+?) (?P<verb>{'|'.join(_CAUSES)}) (?P<thing>.+)", re.IGNORECASE
)
_CAUSED = re.compile(
    rf"(?P<may>can|could|will|would|may) (?P<thing>.+?) be (?P<done>{'|'.join(_CAUSES.values())}) by (?P<agent>.+)",
    re.IGNORECASE,
)
_CUT = (
    (PREPOSITIONS - {"of"})
    | LINKS
    | frozenset("using to fast quickly easily online offline naturally permanently again without".split())
)
_NOT_THINGS = frozenset(
    """
    i you we they he she it me him them us this that these those myself yourself something someone somebody anything
    people someone everyone how what why who where which feel sleep guys girls women men her him
    more less up out off down and or is are was were do does can will not sure money sense fun friends love time what
    my your their our his her
    """.split()
)

_Turns = tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]
_TO_PASSIVE: _Turns = (
    (_HOW, ("how can {thing} be {done}{rest}", "how could {thing} be {done}{rest}")),
    (_MAY, ("can {thing} be {done}{rest}", "is it possible for {thing} to be {done}{rest}")),
)
_TO_ACTIVE: _Turns = (
    (
        _HOW_PASSIVE,
        ("how can i {verb} {thing}{rest}", "how do i {verb} {thing}{rest}", "how to {verb} {thing}{rest}"),
    ),
    (
        _MAY_PASSIVE,
        (
            "is it possible to {verb} {thing}{rest}",
            "is there a way to {verb} {thing}{rest}",
            "can you {verb} {thing}{rest}",
        ),
    ),
)


def turned(body: str, chance: Random) -> str | None:
    """Return a question of means, possibility or cause with its other voice, or `None` where its parts are unsure."""
    for pattern, forms in _TO_PASSIVE:
        active = pattern.fullmatch(body)
        parts = _parted(active["rest"]) if active else None
        if active and parts:
            return chance.choice(forms).format(thing=parts[0], done=_VERBS[active["verb"].lower()], rest=parts[1])
    for pattern, forms in _TO_ACTIVE:
        passive = pattern.fullmatch(body)
        if passive and _is_thing(passive["thing"]) and not re.match(r" (?:by|to)\b", passive["rest"]):
            said = passive.groupdict()
            return chance.choice(forms).format(**(said | {"verb": _BASE_OF[passive["done"].lower()]}))
    return _caused(body)


def _caused(body: str) -> str | None:
    cause = _CAUSE.fullmatch(body)
    if cause and _is_thing(cause["agent"]) and _is_thing(cause["thing"]):
        return f"{cause['may'].lower()} {cause['thing']} be {_CAUSES[cause['verb'].lower()]} by {cause['agent']}"
    caused = _CAUSED.fullmatch(body)
    if caused and _is_thing(caused["agent"]) and _is_thing(caused["thing"]):
        verb = next(base for base, done in _CAUSES.items() if done == caused["done"].lower())
        return f"{caused['may'].lower()} {caused['agent']} {verb} {caused['thing']}"
    return None


def _parted(rest: str) -> tuple[str, str] | None:
    """Cut what follows a verb into its object and the rest; `None` where the object is unsure."""
    words = rest.split()
    at = next((at for at, word in enumerate(words) if word.lower() in _CUT or word.lower().endswith("ly")), len(words))
    thing, after = " ".join(words[:at]), " ".join(words[at:])
    if words[-1].lower() in PREPOSITIONS or {"that", "who", "which"} & set(words) or thing.endswith("ing"):
        return None
    return (thing, f" {after}" if after else "") if _is_thing(thing) and "," not in rest else None


def _is_thing(said: str) -> bool:
    """Return whether `said` is one plain noun phrase."""
    words = {word.lower() for word in said.split()}
    return (
        1 <= len(said.split()) <= 5
        and not words & (_NOT_THINGS | (_CUT - {"with", "in"}))
        and not re.search(r"[,;:?\"]|\b\w+ing \w+ing\b|n't\b", said)
    )
