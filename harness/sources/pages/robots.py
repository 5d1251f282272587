"""Robots exclusion protocol (RFC 9309): which pages a site lets robots read."""

import re
import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import Struct

from harness.errors import PageError
from harness.storage.forks import reset_in_child

if TYPE_CHECKING:
    import httpx2

PRODUCT = "research-harness"
"""The product token that a robots.txt may name. The header `User-Agent` has it, too."""

MAX_RULES_BYTES = 500 * 1024
MAX_RULES_REDIRECTS = 5
RULES_SECONDS = 3_600.0
"""Seconds for which rules are held; RFC 9309 allows a day."""

UNREACHABLE_SECONDS = 60.0
"""Seconds before a site whose rules could not be read is asked again."""

MAX_ORIGINS = 100
"""Origins whose rules are held; the first one goes first."""

_PATH = "/robots.txt"
_AGENT = re.compile(r"user[-\s]*agent\s*[:\s]\s*(.*)", re.IGNORECASE)
_PRODUCT_NAME = re.compile(r"[a-z_-]*")


class Rules(Struct, frozen=True):
    """Rules of one site: `text` has the form of a robots.txt; if it is empty, everything is allowed. If the rules could
    not be read, `unreachable` says why, and nothing is allowed.
    """

    text: str = ""
    unreachable: str = ""


class _Origin:
    """Rules of one origin, until a time on the clock. `lock` is held while they are read."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.rules = Rules()
        self.until = float("-inf")


class Robots:
    """Rules of the origins that pages were read from, in memory. Safe from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.reset()
        reset_in_child(self)

    def reset(self) -> None:
        """See `Resettable`: other threads of the parent may be reading rules."""
        self._lock = Lock()
        self._origins: dict[str, _Origin] = {}

    def check(self, address: "httpx2.URL", read: Callable[["httpx2.URL"], Rules], timeout: float) -> None:
        """Check that the rules of the origin of `address` allow it. `read` gets the URL of rules that are not held,
        once for all threads that need them; they wait for at most `timeout` seconds.

        Raises:
            PageError: the rules refuse robots, or cannot be read now.
            Exception: whatever `read` raises; nothing is held then.
        """
        rules = self._rules(address, read, timeout)
        if rules.unreachable:
            raise PageError(
                f"its robots.txt cannot be read now ({rules.unreachable}), so robots may not read it; try again later, "
                "or set robots to false"
            )
        if not is_allowed(rules, address.raw_path.decode("ascii")):
            raise PageError(
                "its robots.txt refuses robots for this address; open it in a browser, or set robots to false"
            )

    def _rules(self, address: "httpx2.URL", read: Callable[["httpx2.URL"], Rules], timeout: float) -> Rules:
        location = address.copy_with(path=_PATH, query=None)
        origin = self._origin(str(location))
        if not origin.lock.acquire(timeout=timeout):
            raise PageError("its robots.txt did not answer in time; try again later, or set robots to false")
        try:
            if self._clock() >= origin.until:
                origin.rules = read(location)
                origin.until = self._clock() + (UNREACHABLE_SECONDS if origin.rules.unreachable else RULES_SECONDS)
            return origin.rules
        finally:
            origin.lock.release()

    def _origin(self, location: str) -> _Origin:
        with self._lock:
            origin = self._origins.setdefault(location, _Origin())
            if len(self._origins) > MAX_ORIGINS:
                del self._origins[next(iter(self._origins))]
            return origin


def rules_in(body: bytes) -> Rules:
    """Return the rules in the first `MAX_RULES_BYTES` of a robots.txt; a line that is cut there does not count.

    Names of other robots become one: the parser copies each rule for each robot of its group, so that 60 kB may take
    20 s and 0.5 GB.
    """
    text = body[:MAX_RULES_BYTES].decode("utf-8-sig", "replace")
    if len(body) > MAX_RULES_BYTES:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return Rules("\n".join(_with_known_robot(line.partition("#")[0].strip()) for line in text.splitlines()))


def _with_known_robot(line: str) -> str:
    found = _AGENT.fullmatch(line)
    if found is None:
        return line
    product = _PRODUCT_NAME.match(name := found[1].lower())
    ours = product is not None and product[0] == PRODUCT
    return f"User-agent: {PRODUCT if ours else '*' if name == '*' else 'other'}"


def is_allowed(rules: Rules, target: str) -> bool:
    """Return whether the rules allow `target`, the path and query of a URL: the longest matching rule of our group
    counts, else of the group for all; of two equally long ones the one that allows.
    """
    if not rules.text:
        return True
    from protego import Protego

    return Protego.parse(rules.text).can_fetch(f"http://host{target}", PRODUCT)
