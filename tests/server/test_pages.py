"""The pages: they show the data of the API, and texts from outside stay text."""

import time
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.core.freshness import DAY
from harness.identity import Identity
from harness.server.api.research_jobs import ResearchJobs
from harness.server.pages.history_page import PAGE_SIZE
from tests.server.test_research_api import NOWHERE, QUESTION, begin, ended

pytestmark = pytest.mark.usefixtures("embedder")

RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop after five attempts."}
HTML = {"Accept": "text/html"}
EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"
NO_ROUND = {"searches": [], "pages": [], "novelty": 1.0, "score": 0.1}
VOID = {"meta", "link", "input", "br", "img", "source", "hr", "wbr"}


class Page(HTMLParser):
    """Parsed page: tags with attributes, text; unclosed elements are an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a tag."""
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice: {attrs}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the open element."""
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Record a text."""
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All text, on one line."""
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all such tags."""
        return [attributes for name, attributes in self.tags if name == tag]

    def links(self, start: str = "") -> list[str]:
        """Return the URLs of the links that start so."""
        return [str(each["href"]) for each in self.all("a") if str(each.get("href")).startswith(start)]


def shown(client: TestClient, address: str, status: int = 200, **how: Any) -> Page:
    """Load a page, by GET or another `method`, and check that it is valid, runs no inline script and loads nothing from
    outside.
    """
    method = how.pop("method", "GET")
    answer = client.request(method, address, headers={**HTML, **how.pop("headers", {})}, **how)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.text)
    if "<html" in answer.text:
        assert len(page.all("h1")) == len(page.all("main")) == len(page.all("title")) == 1
        assert page.all("html")[0]["lang"] == "en"
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids)), "an id twice"
    for tag, attributes in page.tags:
        assert tag not in {"iframe", "object", "embed", "style", "base"}
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        loaded = attributes.get("src") or attributes.get("srcset") or (tag == "link" and attributes.get("href"))
        assert not loaded or loaded.startswith(("/static/", "/charts/")), loaded
        assert tag != "script" or attributes.get("src")
        if tag == "a":
            assert str(attributes["href"]).startswith(("/", "#", "http://", "https://")), attributes
        if tag == "a" and str(attributes["href"]).startswith("http"):
            assert "noopener" in str(attributes["rel"])
        assert tag != "form" or str(attributes["action"]).startswith("/")
        assert tag != "img" or attributes["alt"]
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text
    assert "\u202e" not in page.text
    return page


def evil(app: App) -> None:
    """Store entries whose texts are all hostile."""
    app.cache.searches.put(EVIL, [{"title": EVIL, "href": "javascript:alert(1)", "body": EVIL}], engine=EVIL)
    app.cache.searches.put("other", [{"title": EVIL, "href": f"https://e.org/{EVIL}", "body": EVIL}])
    app.knowledge.write(EVIL.replace("\u202e", ""), EVIL, tags=["'\"><b>"], agent=EVIL[:100])
    citation = {
        "section": EVIL, "paragraph": 1, "sentence": EVIL, "quotation": "quoted", "number": 1,
        "url": f"https://e.org/{EVIL}", "similarity": 0.5, "verified": True,
    }  # fmt: skip
    source = {"number": 1, "title": EVIL, "url": "javascript:alert(1)", "language": EVIL}
    record = {
        "question": EVIL, "engines": [{"name": EVIL}], "state": "finished", "model": {"name": EVIL},
        "report": {"title": EVIL, "citations": [citation], "sources": [source], "writer": EVIL, "remark": EVIL,
                   "language": EVIL},
        "sources": [source], "quoted": {f"https://e.org/{EVIL}": [f"{EVIL} quoted {EVIL}"]},
        "stop_reason": "score met", "answered": {EVIL[:-1]: 1},
        "origin": {"question": EVIL, "similarity": 0.9, "age": 1.0},
        "rounds": [{"searches": [{"query": EVIL, "engine": EVIL, "answered_by": "live", "results": 1}], "pages": [],
                    "novelty": 0.5, "score": 0.5}],
    }  # fmt: skip
    app.cache.runs.put(NOWHERE, EVIL, EVIL, record)


# --- all pages


def test_nothing_from_outside_is_markup(client: TestClient, app: App) -> None:
    """Searches, results, quotations and documents are text on every page; only web URLs are links."""
    evil(app)
    addresses = ["/", "/cache", "/knowledge", "/experiments", "/login", f"/runs/{NOWHERE}", "/nowhere"]
    addresses += [f"/entries/{each.source}/{each.id}" for each in app.history.page().items if each.source == "search"]
    addresses += [f"/knowledge/{each.id}" for each in app.history.page(source="knowledge").items]
    for address in addresses:
        page = shown(client, address, 404 if address == "/nowhere" else 200)
        assert not [each for each in page.links() if each.startswith("javascript")]
    run = client.get(f"/api/runs/{NOWHERE}").json()
    assert run["citations"][0]["sentence"] == EVIL, "the whole run was read"
    assert "quoted" in shown(client, f"/runs/{NOWHERE}").text


@pytest.mark.slow
def test_typed_text_is_not_markup(client: TestClient) -> None:
    """In URLs and forms."""
    for parameters in (
        {"q": EVIL},
        {"source": EVIL[:20]},
        {"since": EVIL[:60]},
        {"q": EVIL, "part": "1"},
        {"offset": EVIL},
    ):
        bad = not set(parameters) <= {"q", "part"}
        shown(client, "/", 400 if bad else 200, params=parameters)
    shown(client, "/cache", params={"q": EVIL})
    shown(client, "/knowledge", params={"tag": EVIL[:50], "agent": EVIL})
    shown(client, "/" + EVIL.replace("/", ""), 404)
    shown(client, "/runs/" + EVIL.replace("/", ""), 400)
    page = Page(client.post("/login", data={"token": EVIL}, headers=HTML).text)
    assert "alert" not in page.text
    assert Page(client.post("/research", data={"question": " "}, headers=HTML).text).all("h1")


def test_empty_pages_say_what_to_do(client: TestClient) -> None:
    """Before the first search, research or document."""
    assert "harness search" in shown(client, "/").text
    assert "Nothing is cached yet" in shown(client, "/cache").text
    assert "knowledge_write" in shown(client, "/knowledge").text
    assert "No matches" in shown(client, "/?q=x").text
    assert "with these filters" in shown(client, "/?since=7d").text
    for address in ("/", "/cache", "/knowledge", "/experiments"):
        (here,) = [each for each in shown(client, address).all("a") if each.get("aria-current")]
        assert here["href"] == address


# --- the history


@pytest.mark.slow
def test_the_history_shows_the_items_of_the_api(client: TestClient, app: App) -> None:
    """In the same order, with their similarity, each with a link to its page."""
    for number in range(5):
        app.cache.searches.put(f"retries {number}", [RESULT])
    app.knowledge.write("retries of a gateway", "Three.")
    for q in ("", "retries 3"):
        items = client.get("/api/research-history", params={"q": q}).json()["items"]
        for address in (f"/?q={q}", f"/?part=1&q={q}"):
            page = shown(client, address)
            assert page.links("/entries/") == [f"/entries/{each['source']}/{each['id']}" for each in items]
            assert [each["value"] for each in page.all("meter")] == [f"{each['similarity']:.3f}" for each in items if q]
            assert [each["datetime"] for each in page.all("time")] == [each["timestamp"] for each in items]
    for each in items:
        status = client.get(f"/entries/{each['source']}/{each['id']}").status_code
        assert status == (200 if each["source"] == "search" else 303)


@pytest.mark.slow
def test_the_history_has_pages(client: TestClient, app: App) -> None:
    """More and Back keep the filters; following More shows everything once."""
    for number in range(2 * PAGE_SIZE + 3):
        app.cache.searches.put(f"retries {number}", [RESULT])
    address, found = "/?q=retries&source=search&since=7d", []
    while address:
        page = shown(client, address)
        found += page.links("/entries/")
        onwards = [str(each["href"]) for each in page.all("a") if each.get("rel") == "next"]
        assert all("q=retries" in each and "source=search" in each and "since=7d" in each for each in onwards)
        address = onwards[0] if onwards else ""
    assert len(found) == len(set(found)) == 2 * PAGE_SIZE + 3
    (back,) = [str(each["href"]) for each in page.all("a") if each.get("rel") == "prev"]
    assert f"offset={PAGE_SIZE}" in back


@pytest.mark.slow
def test_invalid_input_stays_in_the_form(client: TestClient) -> None:
    """With the error; an invalid choice is never replaced silently."""
    for address, response in (
        ("/?q=retries&since=soon", "since is a date"),
        ("/?q=retries&source=web", "no such source"),
    ):
        page = shown(client, address, 400)
        assert response in page.text
        assert "retries" in [each.get("value") for each in page.all("input")]


# --- an entry


def test_an_entry_shows_its_results(client: TestClient, app: App) -> None:
    """With links to the web; damaged data is shown as text."""
    app.cache.searches.put("retries", [RESULT, {"title": "No address", "href": "", "body": ""}])
    (item,) = client.get("/api/research-history").json()["items"]
    page = shown(client, f"/entries/search/{item['id']}")
    assert RESULT["href"] in page.links()
    assert "2 results" in page.text
    assert "No address" in page.text
    row = app.history.entry("search", item["id"]).entry
    import msgspec

    app.store.rows.put(
        "search_cache", "default", msgspec.structs.replace(row, payload=b"{" + b"x" * 100_000, own=(10, "ddgs", "{}"))
    )
    page = shown(client, f"/entries/search/{item['id']}")
    assert "xxx" in page.text
    assert len(page.text) < 30_000


@pytest.mark.slow
def test_buttons_depend_on_the_role(client: TestClient, app: App, token: Callable[..., str]) -> None:
    """A reader sees none that would be refused, a writer no deletion."""
    mine = app.serving(Identity("lab", "ada", "admin", "0" * 16))
    mine.cache.searches.put("retries", [RESULT])
    key = mine.history.page().items[0].id
    mine.cache.runs.put(NOWHERE, "x", "x", {"question": "x", "engines": [{"name": "x"}], "state": "gathering"})
    document = mine.knowledge.write("retries", "x").document.id
    for role, may in (("reader", set()), ("writer", {"POST"}), ("admin", {"POST", "DELETE"})):
        headers = {"Authorization": f"Bearer {token('lab', role, role)}"}
        found: set[str | None] = set()
        for address in ("/", "/cache", f"/entries/search/{key}", f"/runs/{NOWHERE}", f"/knowledge/{document}"):
            page = shown(client, address, headers=headers)
            found |= {each["data-method"] for each in page.all("button") if "data-method" in each}
            if address == "/":
                assert ("/research" in [each.get("action") for each in page.all("form")]) == (role != "reader")
        assert found - {"POST"} == may - {"POST"}
        assert ("POST" in found) == ("POST" in may), role


# --- a research


@pytest.mark.slow
def test_a_question_from_the_form_is_researched(client: TestClient, researches: ResearchJobs) -> None:
    """The form starts a research and leads to its page; an empty or invalid question is an error page."""
    answer = client.post("/research", data={"question": QUESTION, "refresh": "on"}, headers=HTML)
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/runs/")
    shown(client, answer.headers["Location"])
    (job,) = researches._jobs.values()
    assert job.ended.wait(20)
    for question in ("", "  ", "\x00", "x" * 10_001):
        answer = client.post("/research", data={"question": question}, headers=HTML)
        assert (answer.status_code, answer.headers["content-type"]) == (400, "text/html; charset=utf-8")
    assert len(researches._jobs) == 1


@pytest.mark.slow
def test_a_report_shows_every_sentence_with_its_passage(client: TestClient) -> None:
    """Sentences link to passages, sources to their URLs; the numbers are those of the API."""
    begun = begin(client)
    ended(client, begun)
    run = client.get(f"/api/runs/{begun['id']}").json()
    page = shown(client, begun["page"])
    sentences = [each for each in page.all("a") if "sentence" in str(each.get("class"))]
    assert len(sentences) == len(run["citations"]) > 0
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert all(str(each["href"])[1:] in ids for each in sentences)
    for each in run["citations"]:
        assert " ".join(each["sentence"].split()) in page.text
        assert f"source-{each['number']}" in ids
    assert f"{run['quotations_verified']} of {run['quotations']} quotations verified" in page.text


def test_a_citation_of_a_pdf_shows_its_page(client: TestClient, app: App) -> None:
    """On the page of the run and in its JSON, where 0 means that it has none."""
    plain = {
        "section": "Answer", "paragraph": 1, "sentence": "Bread is baked.", "quotation": "Bread is baked.", "number": 1,
        "url": "https://e.org/a.pdf", "similarity": 0.5, "verified": True,
    }  # fmt: skip
    source = {"number": 1, "title": "Bread", "url": "https://e.org/a.pdf"}
    report = {"title": "bread", "citations": [{**plain, "page": 7}, plain], "sources": [source]}
    record = {"question": "bread", "engines": [{"name": "corpus"}], "state": "finished", "report": report}
    app.cache.runs.put(NOWHERE, "bread", "corpus", {**record, "sources": [source]})
    assert [each["page"] for each in client.get(f"/api/runs/{NOWHERE}").json()["citations"]] == [7, 0]
    page = shown(client, f"/runs/{NOWHERE}")
    assert (page.text.count("[1, p. 7]"), page.text.count("[1]")) == (1, 1)
    assert page.text.count("source 1, p. 7") == 1


def test_a_report_is_shown_in_the_language_of_its_question(client: TestClient, app: App) -> None:
    """Arabic runs from right to left; a quotation in another language is marked, and the page around it is English."""
    question, quotation = "كيف يخبز الخبز؟", "Bread is baked."
    source = {"number": 1, "title": "Bread", "url": "https://e.org/a", "language": "en"}
    cited = {
        "section": "Answer", "paragraph": 1, "sentence": quotation, "quotation": quotation, "number": 1,
        "url": "https://e.org/a", "similarity": 0.5, "verified": True, "page": 3,
    }  # fmt: skip
    report = {"title": question, "citations": [cited], "sources": [source], "language": "ar"}
    record = {"question": question, "engines": [{"name": "corpus"}], "state": "finished", "report": report}
    app.cache.runs.put(NOWHERE, question, "corpus", {**record, "sources": [source]})
    page = shown(client, f"/runs/{NOWHERE}")
    assert all(each in page.text for each in ("الإجابة", "المصادر", "[1، ص 3]", "باللغة الإنجليزية", "All passages"))
    written = [each for each in page.all("div") if each.get("class") == "text"]
    assert [(each["lang"], each["dir"]) for each in written] == [("ar", "rtl")]
    assert {"lang": "en", "dir": "ltr"} in page.all("bdi")
    assert page.all("html") == [{"lang": "en"}]
    app.cache.runs.put(NOWHERE, question, "corpus", {**record, "report": None, "rounds": [NO_ROUND]})
    assert "جرّب كلمات أخرى" in shown(client, f"/runs/{NOWHERE}").text


def test_a_report_has_the_headings_of_its_record(client: TestClient, app: App) -> None:
    """Key points stay a list, and a heading stays text; what the rules say now does not count."""
    source = {"number": 1, "title": "Bread", "url": "https://e.org/a"}
    cited = {
        "section": "Key points", "paragraph": 1, "sentence": "Bread is baked.", "quotation": "Bread is baked.",
        "number": 1, "url": source["url"], "similarity": 0.5, "verified": True,
    }  # fmt: skip
    shown_as = {"Key points": EVIL, "Limits": "Not known", "Sources": "Read"}
    report = {"title": "bread", "citations": [cited], "sources": [source], "limits": ["One."], "headings": shown_as}
    record = {"question": "bread", "engines": [{"name": "corpus"}], "state": "finished", "report": report}
    app.cache.runs.put(NOWHERE, "bread", "corpus", {**record, "sources": [source]})
    page = shown(client, f"/runs/{NOWHERE}")
    assert "onerror=alert(1)> Bread is baked." in page.text
    assert "Not known One. " in page.text
    assert "Read Bread" in page.text
    assert "Key points" not in page.text


def test_figures_of_a_report_are_drawn_and_listed(client: TestClient, app: App) -> None:
    """Each value leads to its passage and its source; a hostile title is text. Without a figure there is no chart."""
    said = ["The Kora is 650 km long.", "The Kora is about 660 km long.", "The Kora is 655 km long."]
    numbered = list(enumerate(said, start=1))
    citations = [
        {"section": "Answer", "paragraph": n, "sentence": text, "quotation": text, "number": n,
         "url": f"https://e.org/{n}", "similarity": 0.5, "verified": True}
        for n, text in numbered
    ]  # fmt: skip
    sources = [{"number": n, "title": EVIL, "url": f"https://e.org/{n}"} for n, _ in numbered]
    report = {"title": "How long is the Kora?", "citations": citations, "sources": sources}
    record = {"question": "long", "engines": [{"name": "corpus"}], "state": "finished", "sources": sources}
    app.cache.runs.put(NOWHERE, "long", "corpus", {**record, "report": report})
    (figure,) = client.get(f"/api/runs/{NOWHERE}").json()["figures"]
    assert (figure["by"], figure["unit"], figure["drawn"]) == ("source", "km", True)
    assert [(row["text"], row["citation"]) for row in figure["rows"]] == [("650", 0), ("about 660", 1), ("655", 2)]
    page = shown(client, f"/runs/{NOWHERE}")
    assert [each["href"] for each in page.all("a") if each["href"] == "#passage-1"] == ["#passage-1"] * 2
    assert "about 660" in page.text
    image = client.get(f"/charts/runs/{NOWHERE}/figures/1.svg?dark=1")
    assert (image.status_code, image.headers["content-type"]) == (200, "image/svg+xml")
    assert "≈660" in image.text
    for each in list(citations):
        wide = str(each["sentence"]).replace("long", "wide").replace("6", "4").replace("km", "m")
        citations.append({**each, "sentence": wide, "quotation": wide, "paragraph": 4})
    both = {**report, "title": f"How long and how wide is the Kora{EVIL}?", "citations": citations}
    app.cache.runs.put(NOWHERE, "long", "corpus", {**record, "report": both})
    page = shown(client, f"/runs/{NOWHERE}")
    drawn = [str(each["src"]).partition("?")[0] for each in page.all("img")]
    assert drawn == [f"/charts/runs/{NOWHERE}/figures/{number}.svg" for number in (1, 2)]
    assert client.get(f"/charts/runs/{NOWHERE}/figures/2.svg").status_code == 200
    assert client.get(f"/charts/runs/{NOWHERE}/figures/3.svg").status_code == 404
    assert client.get(f"/charts/runs/{NOWHERE}/figures/x.svg").status_code == 400
    app.cache.runs.put(NOWHERE, "long", "corpus", {**record, "report": {**report, "citations": citations[:1]}})
    assert client.get(f"/charts/runs/{NOWHERE}/figures/1.svg").status_code == 404
    assert "/figures/" not in client.get(f"/runs/{NOWHERE}", headers=HTML).text


@pytest.mark.slow
def test_old_and_stopped_runs_have_a_page(client: TestClient, app: App) -> None:
    """A stopped run can be resumed; one of an older version says what is missing."""
    about = {"question": "retries", "engines": [{"name": "corpus"}]}
    app.cache.runs.put(NOWHERE, "retries", "corpus", {**about, "state": "writing"})
    page = shown(client, f"/runs/{NOWHERE}")
    assert "Resume" in page.text
    assert "stopped while writing" in page.text
    app.cache.runs.put(NOWHERE, "retries", "corpus", {**about, "state": "finished"})
    assert "without its report" in shown(client, f"/runs/{NOWHERE}").text


@pytest.mark.slow
def test_missing_pages_have_a_page(client: TestClient) -> None:
    """With a link to the history."""
    for address in ("/nowhere", f"/runs/{NOWHERE}", f"/knowledge/{'0' * 32}", "/entries/search/x"):
        assert "/" in shown(client, address, 404).links()
    shown(client, "/runs/x", 400)


@pytest.mark.slow
def test_entries_redirect_to_their_own_page(client: TestClient, app: App) -> None:
    """Documents and records of runs."""
    document = app.knowledge.write("retries", "x").document.id
    app.cache.runs.put(NOWHERE, "x", "x", {"question": "x"})
    assert client.get(f"/entries/knowledge/{document}").headers["Location"] == f"/knowledge/{document}"
    assert client.get(f"/entries/research/{NOWHERE}").headers["Location"] == f"/runs/{NOWHERE}"


@pytest.mark.slow
def test_stale_and_expired_entries_are_marked(client: TestClient, app: App) -> None:
    """On every page that shows them."""
    from harness.core.entries import Entry

    then = time.time() - 10 * DAY
    app.store.rows.put("search_cache", "default", Entry("k", "x", b"[]", then, then + DAY, then, (10, "ddgs", "{}")))
    app.knowledge.write("retries", "x", ttl_hours=0.00001)
    time.sleep(0.05)
    for address, word in (("/", "expired"), ("/entries/search/k", "expired"), ("/knowledge", "stale")):
        assert word in shown(client, address).text
