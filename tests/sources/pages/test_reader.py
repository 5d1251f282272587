"""The reader from end to end: a real server, a real process that takes the text out."""

import gc
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from pytest_httpserver import HTTPServer

from harness.errors import AddressRefused, InvalidInput, PageError
from harness.ports import PageReader
from harness.sources.pages.extraction_process import Worker
from harness.sources.pages.reader import WebReader
from tests.sources.pages.documents import SENTENCE, page, pdf


def test_a_page_is_read(httpserver: HTTPServer, reader: WebReader) -> None:
    """Address, title, text and kind of what a server serves."""
    httpserver.expect_request("/a").respond_with_data("", status=302, headers={"Location": "/b"})
    httpserver.expect_request("/b").respond_with_data(page("First."), content_type="text/html")
    port: PageReader = reader
    found = port.read(httpserver.url_for("/a"))
    assert found.url == httpserver.url_for("/b")
    assert (found.title, found.media_type) == ("A title", "text/html")
    assert found.text.startswith("First.\n\n")


def test_a_page_without_a_title_has_its_address(httpserver: HTTPServer, reader: WebReader) -> None:
    """A source needs a name to be cited by."""
    httpserver.expect_request("/paper").respond_with_data(pdf("Foxes sleep"), content_type="application/pdf")
    assert reader.read(httpserver.url_for("/paper")).title == httpserver.url_for("/paper")


def test_an_error_names_the_address_and_keeps_its_kind(httpserver: HTTPServer, reader: WebReader) -> None:
    """One line: which page, what happened, what to do."""
    httpserver.expect_request("/gone").respond_with_data("", status=410)
    with pytest.raises(PageError, match=r"/gone: answered HTTP 410: the page is gone"):
        reader.read(httpserver.url_for("/gone"))
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1"):
        reader.read("http://10.0.0.1/")
    with pytest.raises(InvalidInput):
        reader.read("notes.html")


def test_a_page_with_no_text_is_an_error(httpserver: HTTPServer, reader: WebReader) -> None:
    """The reason crosses from the other process."""
    app = "<html><body><div id=app></div></body></html>"
    httpserver.expect_request("/app").respond_with_data(app, content_type="text/html")
    with pytest.raises(PageError, match="no text found; it may need JavaScript"):
        reader.read(httpserver.url_for("/app"))


def test_threads_share_a_reader(httpserver: HTTPServer, reader: WebReader) -> None:
    """Each gets its own page."""
    for number in range(8):
        httpserver.expect_request(f"/{number}").respond_with_data(page(f"Number {number}."), content_type="text/html")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: reader.read(httpserver.url_for(f"/{number}")), range(8)))
    assert [each.text.split(".")[0] for each in found] == [f"Number {number}" for number in range(8)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    [
        '<html><head><script type=\'application/ld+json\'>{"@type":["' + '"@type":[' * 200_000 + "</script></head><p>",
        "<html><body><p " + " ".join(f"a{number}=1" for number in range(300_000)) + ">",
    ],
)
def test_a_page_that_takes_for_ever_ends_with_its_process(html: str) -> None:
    """Time that grows with the square has an end, and the next page is read by a new process."""
    worker = Worker(seconds=3)
    with pytest.raises(PageError, match="took longer than 3 s"):
        worker.extract((html + SENTENCE * 5).encode(), "text/html")
    assert worker.extract(page("Next.").encode(), "text/html").text.startswith("Next.")
    worker.close()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_process_that_died_is_replaced() -> None:
    """A parser that crashes takes one page with it at most."""
    worker = Worker()
    worker.start()
    assert worker._process is not None
    os.kill(worker._process.pid, signal.SIGSEGV)
    worker._process.wait()
    assert worker.extract(page("Next.").encode(), "text/html").text.startswith("Next.")
    worker.close()


def test_a_process_ends_with_its_reader() -> None:
    """A reader that was not closed leaves nothing behind."""
    reader = WebReader()
    reader._worker.start()
    process = reader._worker._process
    assert process is not None
    del reader
    gc.collect()
    assert process.returncode is not None
