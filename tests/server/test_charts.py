"""Charts: valid SVG, same bytes for same data, readable on light and dark, safe labels."""

import re
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from typing import get_args

import matplotlib as mpl
import pytest
from harness_evals.verdicts import Status
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from starlette.testclient import TestClient

from harness.app import App
from harness.cache.usage import day_of
from harness.errors import NotFound
from harness.research.drawing import DARK, LIGHT, Look
from harness.server.pages import charts
from harness.server.pages.chart_routes import last_days
from harness.server.pages.charts import Total
from harness.server.responses.experiment_responses import TrialResponse

LOOKS = [Look(dark, narrow) for dark, narrow in product((False, True), repeat=2)]
RUN = "20261122-101500-abcdef"
SVG = "{http://www.w3.org/2000/svg}"
GROUNDS = {"light": ("#ffffff", "#fbfaf8"), "dark": ("#14171a", "#1c2024")}
"""Backgrounds of charts."""

DAYS: list[tuple[str, Mapping[str, int]]] = [
    ("20 Nov", {"exact": 4, "semantic": 2, "stale": 1, "no results": 1, "live": 6, "failed": 2}),
    ("21 Nov", {}),
    ("22 Nov", {"exact": 9, "live": 1}),
]


def trial(
    number: int,
    status: Status,
    score: float | None = None,
    baseline: float | None = None,
    low: float | None = None,
    high: float | None = None,
) -> TrialResponse:
    """Return an experiment with these scores."""
    return TrialResponse(
        number=number, description="", status=status, score=score, baseline=baseline, delta=None, low=low, high=high,
        p=None, tasks=1, seconds=1.0, live_calls=0, reasons=[], idea="", changed=[], commit="",
    )  # fmt: skip


TRIALS = [
    trial(1, "keep", 0.8, 0.7, 0.05, 0.15),
    trial(2, "discard", 0.7, 0.8, -0.15, -0.05),
    trial(3, "inconclusive", 0.81, 0.8, -0.02, 0.04),
    trial(4, "crash"),
]
DRAWN: dict[str, Callable[[Look], bytes]] = {
    "hit rates": lambda look: charts.hit_rates(DAYS, look),
    "amounts": lambda look: charts.amounts([("21 Nov", {"ddgs": 3, "pages": 4}), ("22 Nov", {})], "saved calls", look),
    "rounds": lambda look: charts.rounds([(1.0, 0.4), (0.3, 0.6), (0.08, 0.7)], (0.1, 0.65), look),
    "scores": lambda look: charts.scores(TRIALS, look),
    "totals": lambda look: charts.totals([Total("21 Nov", 0.7, 0.1, "a"), Total("22 Nov", 0.8, 0.1, "a")], look),
    "differences": lambda look: charts.differences({"T_A": 0.1, "closures": -0.2, "slots": 0.0}, look),
}


@cache
def drawn(name: str, look: Look) -> bytes:
    """Return a chart, drawn once for all tests."""
    return DRAWN[name](look)


def texts(svg: bytes) -> list[str]:
    """Return the texts of a chart."""
    return [each.text or "" for each in etree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("look", LOOKS, ids=str)
@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_is_an_image_of_its_size(name: str, look: Look) -> None:
    """SVG with selectable text, a transparent background, and no external resources."""
    svg = drawn(name, look)
    root = etree.fromstring(svg)
    width, height = look.size
    assert (root.get("width"), root.get("height")) == (f"{width * 0.75:g}pt", f"{height * 0.75:g}pt")
    assert len(texts(svg)) > 3
    assert {etree.QName(each).localname for each in root.iter(etree.Element)}.isdisjoint(
        {"script", "image", "metadata"}
    )
    links = [value for each in root.iter(etree.Element) for key, value in each.items() if key.endswith("href")]
    assert all(link.startswith("#") for link in links)
    assert b'style="fill: none"' in svg
    assert not re.search(rb"fill: #(fff|000)", svg)


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_text_is_readable_at_the_width_of_the_page(look: Look) -> None:
    """At least 11 CSS pixels, also on a page that is a tenth narrower, in system fonts."""
    styles = [each.get("style") for each in etree.fromstring(drawn("scores", look)).iter(f"{SVG}text")]
    sizes = [float(match[1]) for style in styles if (match := re.search(r"font-size: ([\d.]+)px", style))]
    assert len(sizes) == len(styles)
    assert min(sizes) * 96 / 72 * 0.9 >= 11
    assert all("font-family: system-ui, sans-serif" in style for style in styles)


def test_verdicts_differ_by_shape_too() -> None:
    """Each verdict has a different marker, and its name."""
    svg = drawn("scores", Look())
    assert {"keep", "discard", "inconclusive", "crash", "baseline"} <= set(texts(svg))
    shapes = {
        re.sub(r"\s+", " ", each.get("d", "")) for each in etree.fromstring(svg).iter(f"{SVG}path") if each.get("id")
    }
    assert len(shapes) >= 4
    assert len({marker for marker, _ in charts.MARKS.values()}) == len(charts.MARKS) == len(get_args(Status))


@pytest.mark.parametrize(("colours", "ground"), [(LIGHT, "light"), (DARK, "dark")], ids=["light", "dark"])
def test_colours_have_enough_contrast(colours: Mapping[str, str], ground: str) -> None:
    """Graphics 3 : 1 and text 4.5 : 1, as WCAG 2.2 requires; the grid is exempt."""
    for under, (name, colour) in product(GROUNDS[ground], colours.items()):
        wanted = {"ink": 4.5, "grid": 1.1}.get(name, 3.0)
        assert contrast(colour, under) >= wanted, (name, under)
    assert len(set(colours.values())) == len(colours)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_labels_from_outside_are_only_text() -> None:
    """No markup, no formulas; characters that the font or XML lacks are replaced or dropped."""
    hostile = {
        "<script>alert(1)</script>": 0.1,
        "$\\frac{1}{0}$": 0.2,
        "a&amp;b": 0.3,
        "x\x00\x08\u202ey": 0.4,
        "日本": 0.5,
    }
    svg = charts.differences(hostile, Look())
    assert b"<script" not in svg
    assert {"<script>alert(1)</scrip…", "$\\frac{1}{0}$", "a&amp;b", "xy", "??"} <= set(texts(svg))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(max_size=40), st.floats(-1, 1), min_size=1, max_size=5))
def test_any_label_gives_a_well_formed_image(by_task: dict[str, float]) -> None:
    """For any task name."""
    etree.fromstring(charts.differences(by_task, Look(narrow=True)))


@pytest.mark.parametrize(
    "draw",
    [
        lambda look: charts.hit_rates([("22 Nov", {"exact": 0})], look),
        lambda look: charts.amounts([("22 Nov", {})], "saved calls", look),
        lambda look: charts.rounds([], (0.1, 0.6), look),
        lambda look: charts.scores([], look),
        lambda look: charts.totals([], look),
        lambda look: charts.differences({}, look),
    ],
)
def test_no_data_is_an_error(draw: Callable[[Look], bytes]) -> None:
    """Not an empty chart."""
    with pytest.raises(NotFound, match="nothing to draw"):
        draw(Look())


@pytest.mark.parametrize(
    "draw",
    [
        lambda look: charts.hit_rates([("22 Nov", {"live": 1})], look),
        lambda look: charts.rounds([(1.0, 0.5)], (0.0, 1.0), look),
        lambda look: charts.scores([trial(1, "crash")], look),
        lambda look: charts.scores([trial(n, "keep", 0.5, 0.5, 0.0, 0.0) for n in range(1, 100)], look),
        lambda look: charts.totals([Total("22 Nov", 0.7, 0.0, "a")], look),
        lambda look: charts.differences({"a": 0.0}, look),
        lambda look: charts.differences({f"task {n}": n / 1_000 for n in range(500)}, look),
    ],
)
def test_little_and_much_can_be_drawn(draw: Callable[[Look], bytes]) -> None:
    """Without a warning; of many tasks, the largest differences."""
    written = texts(draw(Look(narrow=True)))
    assert len(written) < 60


@pytest.mark.slow
def test_parallel_drawing_is_safe() -> None:
    """The same data gives the same bytes; matplotlib's settings are restored."""
    before, charted = dict(mpl.rcParams), list(product(DRAWN, (LOOKS[0], LOOKS[3])))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: DRAWN[each[0]](each[1]), charted))
    assert found == [drawn(*each) for each in charted]
    assert dict(mpl.rcParams) == before


NOW = 1_795_305_600.0
"""22 Nov 2026."""


def test_a_range_ends_today_and_begins_with_the_first_counts() -> None:
    """Days without counts between them are shown; older counts, and days before the first one, are not."""
    counted = {"2025-12-31": {"live": 3}, "2026-11-17": {"exact": 1}, "2026-11-20": {"live": 2}}
    for days in (7, 30, 90):
        shown = last_days(counted, days, NOW)
        assert shown[0] == ("17 Nov", {"exact": 1})
        assert shown[-1] == ("22 Nov", {})
        assert [day for day, times in shown if times] == ["17 Nov", "20 Nov"]
        assert len(shown) == 6
    assert len(last_days(counted, 3, NOW)) == 3
    assert len(last_days({"2026-11-22": {"live": 1}}, 30, NOW)) == 1
    with pytest.raises(NotFound, match="nothing to draw"):
        last_days({"2025-12-31": {"live": 3}}, 30, NOW)


def test_the_smallest_parts_of_an_amount_are_drawn_together() -> None:
    """Five have a colour; the others are one part, so that no call is missing."""
    parts = {f"engine {number}": number for number in range(1, 10)}
    written = texts(charts.amounts([("21 Nov", parts), ("22 Nov", {"engine 9": 2})], "saved calls", Look()))
    assert {f"engine {number}" for number in range(5, 10)} <= set(written)
    assert {"others", "saved calls"} <= set(written)
    assert "engine 4" not in written
    assert "others" not in texts(charts.amounts([("21 Nov", {"a": 1})], "saved calls", Look()))


@pytest.mark.slow
def test_the_charts_of_saved_calls_and_of_the_library_are_served(client: TestClient, app: App) -> None:
    """By engine and by kind of source; 404 without data."""
    for address in ("/charts/saved.svg", "/charts/library.svg"):
        assert client.get(address).status_code == 404
    for _ in range(2):
        app.cache.searches.answer(
            "retries", lambda query, most: [{"href": "https://example.org", "body": "They stop."}]
        )
    app.cache.usage.flush()
    assert {"ddgs", "saved calls"} <= set(texts(client.get("/charts/saved.svg?days=7").content))
    assert {"search results", "passages read"} <= set(texts(client.get("/charts/library.svg?narrow=1").content))
    assert client.get("/charts/saved.svg?days=0").status_code == 400


def test_without_matplotlib_tables_have_the_numbers(
    client: TestClient, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page shows open tables instead of charts; a chart says what to install."""
    store = app.store.usage
    for ago, saved in ((0, 3), (1, 4)):
        store.add("default", day_of(app.cache.now - ago * 86_400), {"exact": saved})
    page = client.get("/cache", headers={"Accept": "text/html"}).text
    assert "/charts/cache.svg" in page
    assert "<details open>" not in page
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    page = client.get("/cache", headers={"Accept": "text/html"}).text
    assert "/charts/" not in page
    assert "<details open>" in page
    for address in ("/charts/cache.svg", "/charts/library.svg"):
        app.cache.searches.put("retries", [{"href": "https://example.org", "body": "They stop."}])
        refused = client.get(address)
        assert refused.status_code == 400
        assert "research-harness[charts]" in refused.json()["message"]
    assert client.get("/library", headers={"Accept": "text/html"}).status_code == 200


def test_the_chart_of_the_cache_is_served(client: TestClient, app: App) -> None:
    """In the requested look, cached for a minute, with its own policy; 404 without data."""
    missing = client.get("/charts/cache.svg")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    for _ in range(2):
        app.cache.searches.answer(
            "best practices for rag pipelines", lambda query, most: [{"href": "https://example.org"}]
        )
    app.cache.usage.flush()
    light, dark = client.get("/charts/cache.svg"), client.get("/charts/cache.svg?dark=1&narrow=1")
    assert light.headers["content-type"] == "image/svg+xml"
    assert light.headers["cache-control"] == "private, max-age=60"
    assert light.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'"
    assert {"exact", "live", "answers"} <= set(texts(light.content))
    assert DARK["ink"].encode() in dark.content
    assert LIGHT["ink"].encode() in light.content
    assert etree.fromstring(dark.content).get("width") == "270pt"
    assert client.get("/charts/cache.svg?dark=maybe").status_code == 400


def test_the_rounds_of_a_research_are_served(client: TestClient, app: App) -> None:
    """With the limits at which it stops; 404 for an unknown run."""
    app.researcher().run("How do retries use exponential backoff, and who invented it?", run=RUN)
    svg = client.get(f"/charts/runs/{RUN}.svg")
    assert {"novelty", "score", "stops below 0.1", "stops from 0.8", "round", "1"} <= set(texts(svg.content))
    assert client.get("/charts/runs/20260101-000000-abcdef.svg").status_code == 404
    assert client.get("/charts/runs/..%2f..%2fetc.svg").status_code == 404


def test_without_the_extra_a_page_has_its_table(client: TestClient, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """No broken images; the address of an image says what to install."""
    app.researcher().run("How do retries use exponential backoff, and who invented it?", run=RUN)
    assert f"/charts/runs/{RUN}.svg" in client.get(f"/runs/{RUN}").text
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = client.get(f"/runs/{RUN}")
    assert shown.status_code == 200
    assert "/charts/" not in shown.text
    assert "<caption>Rounds of searches</caption>" in shown.text
    refused = client.get(f"/charts/runs/{RUN}.svg")
    assert refused.status_code == 400
    assert "pip install 'research-harness[charts]'" in refused.json()["message"]
