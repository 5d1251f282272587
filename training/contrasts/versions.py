"""Versions of a product: another one, where the number after a name is one."""

import re
from collections.abc import Iterator
from random import Random

from training.contrasts.edit import Contrast, Edit

PRODUCTS = tuple(
    line.strip()
    for line in """
    python|java|jdk|php|perl|ruby|rails|node|nodejs|node\\.js|angular|angularjs|react|vue|django|flask|laravel|
    symfony|spring|spring boot|hibernate|swift|kotlin|scala|go|golang|rust|c\\+\\+|c#|\\.net|\\.net core|
    asp\\.net|asp\\.net core|html|css|es|ecmascript|bootstrap|jquery|numpy|pandas|tensorflow|keras|pytorch|cuda|
    opencv|matlab|unity|unreal engine|windows|window|win|mac os|macos|os x|ios|android|ubuntu|debian|fedora|
    centos|rhel|red hat|linux mint|kernel|iphone|ipad|ipad mini|ipad air|ipod|apple watch|galaxy s|galaxy note|
    galaxy|note|pixel|nexus|moto g|moto x|moto e|oneplus|one plus|redmi|redmi note|mi|lumia|kindle|surface|
    surface pro|macbook|playstation|ps|xbox|nintendo|switch|chrome|firefox|safari|internet explorer|ie|edge|
    opera|office|excel|word|powerpoint|outlook|sharepoint|sql server|mysql|mariadb|postgresql|postgres|mongodb|
    redis|sqlite|oracle|elasticsearch|kafka|hadoop|spark|docker|kubernetes|photoshop|illustrator|autocad|
    solidworks|ansys|blender|maya|sap|wordpress|drupal|joomla|magento|visual studio|xcode|eclipse|intellij|
    android studio|bluetooth|usb|hdmi|directx|opengl|http|tls|ssl|ipv|wifi|snapdragon|core i|gta|fifa|
    call of duty|final fantasy|resident evil|fallout|halo|dota|the sims|civilization|gpt|chatgpt|llama|claude|
    gemini|service pack|api level|terraform|gradle|maven|junit|selenium|wpf|qt|gcc|clang|cmake|openssl|
    samsung galaxy s|galaxy tab
    """.strip().split("|")
)
"""Products with versions, as patterns."""

_NAMES = "|".join(sorted(PRODUCTS, key=len, reverse=True))
_VERSION = re.compile(
    rf"(?<![\w.])((?:{_NAMES})(?:[ -]?|\s+(?:version|v\.?)\s*)|\b(?:version|v\.?|release)\s?)"
    r"(\d{1,4}(?:\.\d{1,3}){0,3})(?![\d%]|\.\d|,\d|[/:]\d)(?!\s?(?:days?|weeks?|"
    r"months?|years?|hours?|"
    r"minutes?|times|percent|people|gb|mb|mg|inch|dollars|million|and up|"
    r"of\b))(\w{0,4})\b",
    re.IGNORECASE,
)
_LETTERED = re.compile(
    r"\b(vitamin\s+)([abcdek]\d{0,2})\b|\b(hepatitis\s+)([a-e])\b|\b(type\s+)([12])(?=\s+diabet)|"
    r"\b(core\s+)(i[3579])\b|\b(influenza\s+)([ab])\b|\b()([2345]g)\b|"
    r"\b(stage\s+)([1-4])(?=\s+(?:\w+\s+)?cancer)",
    re.IGNORECASE,
)
_SERIES = {
    "vitamin": "a b12 c d e k b6 d3 b1".split(),
    "hepatitis": "a b c d e".split(),
    "influenza": "a b".split(),
    "type": "1 2".split(),
    "core": "i3 i5 i7 i9".split(),
    "stage": "1 2 3 4".split(),
    "": "2g 3g 4g 5g".split(),
}
_EXISTING = {
    "windows": "7 8 10 11",
    "window": "7 8 10 11",
    "win": "7 8 10 11",
    "iphone": "4 5 6 7 8 11 12",
    "ps": "2 3 4 5",
    "playstation": "2 3 4 5",
    "html": "4 5",
    "gta": "4 5",
    "usb": "2.0 3.0",
    "directx": "9 11 12",
}
_YEARLY = re.compile(r"(?:19|20)\d\d$")


def _edits(text: str, chance: Random) -> Iterator[Edit]:
    for match in _VERSION.finditer(text):
        name, version, model = match.groups()
        if not re.match(r"(?:|s|c|x|e|t|xl|pro|plus|th)$", model, re.IGNORECASE) or _takes_no_number(name, text):
            continue
        real = [one for one in _EXISTING.get(name.strip(" -").lower(), "").split() if one not in text]
        yield Edit(*match.span(2), chance.choice(real) if real else _other(version, chance))
    for match in _LETTERED.finditer(text):
        series, kept = next(
            (one, two) for one, two in zip(match.groups()[::2], match.groups()[1::2], strict=True) if two
        )
        others = [other for other in _SERIES[series.strip().lower()] if other != kept.lower()]
        new = chance.choice(others)
        yield Edit(match.end() - len(kept), match.end(), new.upper() if kept.isupper() else new)


def _takes_no_number(name: str, text: str) -> bool:
    """Return whether a name that is also a common word stands small, where capitals stand elsewhere."""
    plain = name.strip(" -").lower()
    common = {
        "go",
        "note",
        "switch",
        "word",
        "edge",
        "spring",
        "office",
        "mi",
        "es",
        "node",
        "unity",
        "opera",
        "excel",
        "react",
    }
    return plain in common and not name[:1].isupper() and not text.islower()


def _other(version: str, chance: Random) -> str:
    """Return another version: the last part that tells one from another moves a little."""
    parts = version.split(".")
    place = min(1, len(parts) - 1) if chance.random() < 0.75 else 0
    value = int(parts[place])
    if _YEARLY.match(parts[place]):
        near = [value + step for step in (-6, -3, -2, -1, 1, 2, 3)]
    elif value >= 20 and len(parts) == 1:
        near = [value - 2, value - 1, value + 1, value + 2] if value < 100 else [value + 100, value - 100, value + 10]
    else:
        near = [value + step for step in (-2, -1, 1, 1, 2) if value + step >= (place == 0)]
    parts[place] = str(chance.choice([new for new in near if new >= 0] or [value + 1]))
    return ".".join(parts)


VERSIONS = Contrast("versions", _edits)
