"""Accessibility checks: violations found by axe, and horizontal overflow."""

from collections.abc import Sequence

from playwright.sync_api import Page


def serious(page: Page, rules: Sequence[str] | None = None) -> list[str]:
    """Return axe's serious and critical violations as `rule: element`; of all its rules, or of some."""
    from axe_playwright_python.sync_playwright import Axe

    only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    found = Axe().run(page, options={"resultTypes": ["violations"], **only}).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
