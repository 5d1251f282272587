"""Pages that are files of the repository's root: contributing, releases, security, conduct."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = ("CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
"""Files that GitHub looks for at the root, and that the site shows, too."""

_LINK = re.compile(r"\]\((?:docs/)?([\w./-]+\.md)")


def root_pages() -> dict[str, str]:
    """Return each file as a page in lower case, with links as the site has them."""
    return {name.lower(): _LINK.sub(_in_the_site, (ROOT / name).read_text(encoding="utf-8")) for name in FILES}


def _in_the_site(link: re.Match[str]) -> str:
    target = link[1]
    return f"]({target.lower() if target in FILES else target}"
