"""Text of PDFs: reading order, paragraphs, headings, pages."""

import time
from collections.abc import Callable
from io import BytesIO

import pytest

from harness.core.chunking import passages
from harness.core.pages import Page
from harness.errors import PageError
from harness.sources.pages import extraction
from harness.sources.pages.extraction import extract
from harness.sources.pages.extraction_process import MAX_SECONDS, Worker
from harness.sources.pages.pdf_lines import MAX_PIECES
from tests.sources.pages.documents import pdf
from tests.sources.pages.pdf_documents import (
    WORDS,
    by_hand,
    columns,
    headed,
    many_pages,
    prose,
    shaped,
    sheet,
    table,
    with_running_lines,
)

HEADER, FOOTER = "Journal of Bridges, volume 7", "page {page} of 4"
SENTENCE = " ".join(WORDS[:12])


def read(document: bytes) -> Page:
    """Return what is extracted from a PDF."""
    return extract(document, "application/pdf")


def lines(*texts: str, step: float = 14, x: float = 50) -> bytes:
    """Return a page with these lines."""
    document = sheet()
    document.add_page()
    for place, text in enumerate(texts):
        document.text(x, 90 + step * place, text)
    return bytes(document.output())


def page_texts(found: Page) -> dict[int, str]:
    """Return the text of each page."""
    ends = [at for at, _ in found.page_starts[1:]] + [len(found.text)]
    return {page: found.text[at:end] for (at, page), end in zip(found.page_starts, ends, strict=True)}


@pytest.mark.parametrize("mixed", [False, True])
def test_columns_are_read_one_after_the_other(mixed: bool) -> None:
    """However the file orders them: all of the left one comes before the right one, the title before both."""
    left, right = prose(0, 30), prose(100, 30)
    found = read(columns(left, right, mixed=mixed, title="A study of bridges and rivers"))
    assert found.text.split() == ["#", *"A study of bridges and rivers".split(), *" ".join([*left, *right]).split()]


def test_a_line_over_all_columns_parts_what_is_above_from_what_is_below() -> None:
    """Two columns, a wide line, and two columns again."""
    document = sheet(9)
    document.add_page()
    wide = "A wide caption of the picture above, over both of the columns, as wide as the whole page is wide"
    above, below = (prose(0, 8), prose(100, 8)), (prose(200, 8), prose(300, 8))
    for top, pair in ((100, above), (300, below)):
        for line, (left, right) in enumerate(zip(*pair, strict=True)):
            document.text(50, top + 12 * line, left)
            document.text(310, top + 12 * line, right)
    document.text(50, 250, wide)
    order = [*above[0], *above[1], wide, *below[0], *below[1]]
    assert read(bytes(document.output())).text.split() == " ".join(order).split()


@pytest.mark.parametrize("indent", [0, 200])
def test_one_column_stays_as_it_is_written(indent: int) -> None:
    """Lines that begin further right, as those of a list, are no column."""
    document = sheet()
    document.add_page()
    texts = prose(0, 40, width=9)
    for place, text in enumerate(texts):
        document.text(50 + indent * (10 <= place < 20), 60 + 14 * place, text)
    assert read(bytes(document.output())).text.split() == " ".join(texts).split()


def test_headers_footers_and_page_numbers_are_left_out() -> None:
    """Nothing else is: the text goes on over the end of a page."""
    pages = [prose(100 * number, 20) for number in range(1, 5)]
    found = read(with_running_lines(pages, header=HEADER, footer=FOOTER))
    assert found.text.split() == " ".join(line for page in pages for line in page).split()


def test_a_line_on_one_page_only_is_no_header() -> None:
    """A separate line at the top of one page is text."""
    found = read(with_running_lines([prose(0, 20)], header=HEADER, footer="the end"))
    assert HEADER in found.text
    assert "the end" in found.text


def test_a_large_header_stays_once() -> None:
    """It may be the title: its first place has it."""
    document = sheet()
    for number in range(4):
        document.add_page()
        document.set_font("Helvetica", size=20)
        document.text(50, 50, "Bridges of the north")
        document.set_font("Helvetica", size=11)
        for line, text in enumerate(prose(100 * number, 10)):
            document.text(50, 120 + 14 * line, text)
    assert read(bytes(document.output())).text.count("Bridges of the north") == 1


def test_headings_are_those_of_markdown_by_size_and_weight() -> None:
    """A larger heading has a lower level; passages are cut at headings and carry them, as those of HTML."""
    found = read(
        headed(
            (22, "", "Bridges of the north"),
            (11, "", SENTENCE),
            (16, "", "1 Methods"),
            (11, "", SENTENCE),
            (11, "B", "Sampling"),
            (11, "", SENTENCE),
        )
    )
    assert found.title == "Bridges of the north"
    heads = [line for line in found.text.split("\n") if line.startswith("#")]
    assert heads == ["# Bridges of the north", "## 1 Methods", "### Sampling"]
    assert [(each.section, each.text) for each in passages(found.text)] == [
        ("Bridges of the north", SENTENCE),
        ("1 Methods", SENTENCE),
        ("Sampling", SENTENCE),
    ]


def test_text_read_from_pictures_has_no_headings_by_size() -> None:
    """Its lines have many sizes, and its sentences go on in the next size."""
    document = sheet()
    document.add_page()
    texts = prose(0, 12)
    for place, text in enumerate(texts):
        document.set_font("Helvetica", size=(9, 10.5, 9, 11.5)[place % 4])
        document.text(50, 90 + 13 * place, text)
    found = read(bytes(document.output())).text
    assert "#" not in found
    assert len(found.split("\n\n")) < 4


def test_columns_that_are_not_level_lose_no_line() -> None:
    """Lines of one column between those of the other are no headers apart from the text."""
    document, written = sheet(9), list[str]()
    for number in range(6):
        document.add_page()
        for x, top, first in ((50, 100, 0), (310, 105, 50)):
            texts = prose(1_000 * number + first, 30)
            written += texts
            for line, text in enumerate(texts):
                document.text(x, top + 12 * line, text)
    assert read(bytes(document.output())).text.split() == " ".join(written).split()


def test_lines_of_a_table_of_contents_are_no_headings() -> None:
    """They are large, but lead to a page."""
    found = read(headed((16, "", f"1 Methods {'. ' * 20} 7"), *[(11.0, "", SENTENCE)] * 5))
    assert not any(line.startswith("#") for line in found.text.split("\n"))


def test_paragraphs_are_apart_by_their_distance_or_indent() -> None:
    """Lines of one paragraph are one line of text."""
    document = sheet()
    document.add_page()
    for x, y, text in (
        (50, 90, "The bridge is old. It was built"),
        (50, 104, "before the war."),
        (50, 132, "The river is wide here."),
        (62, 146, "The sand comes from the"),
        (50, 160, "sea."),
    ):
        document.text(x, y, text)
    assert read(bytes(document.output())).text.split("\n\n") == [
        "The bridge is old. It was built before the war.",
        "The river is wide here.",
        "The sand comes from the sea.",
    ]


def test_items_of_a_list_are_apart() -> None:
    """A bullet or a number begins one, and its second line belongs to it."""
    document = sheet()
    document.add_page()
    texts = ["The parts are:", "- cables that are as", "  long as the bridge", "- towers", "1. sand"]
    for place, text in enumerate(texts):
        document.text(50, 90 + 14 * place, text)
    assert read(bytes(document.output())).text.split("\n\n") == [
        "The parts are:",
        "- cables that are as long as the bridge",
        "- towers",
        "1. sand",
    ]


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (("An expe-", "riment of ours"), "An experiment of ours"),
        (("A well-known man and a well-", "known bridge"), "A well-known man and a well-known bridge"),
        (("State-of-the-", "art cables hold"), "State-of-the-art cables hold"),
        (("Years 1990-", "1995 were dry"), "Years 1990- 1995 were dry"),
        (("The Rhine-", "Main region is flat"), "The Rhine- Main region is flat"),
    ],
)
def test_words_that_were_cut_at_the_end_of_a_line_are_whole(texts: tuple[str, ...], joined: str) -> None:
    """The hyphen goes, unless the word is written with it elsewhere or is more than a word."""
    assert read(lines(*texts)).text == joined


def test_a_sentence_goes_on_over_the_end_of_a_page_and_of_a_column() -> None:
    """It is in one paragraph, and each page begins where its own words begin."""
    document = sheet()
    for text in ("The bridge that was built in the expe-", "rimental years is gone.", "No one knows why."):
        document.add_page()
        document.text(50, 90, text)
    found = read(bytes(document.output()))
    assert found.text == "The bridge that was built in the experimental years is gone.\n\nNo one knows why."
    assert page_texts(found) == {
        1: "The bridge that was built in the expe",
        2: "rimental years is gone.\n\n",
        3: "No one knows why.",
    }


def test_rows_of_a_table_are_lines() -> None:
    """Cells of a row stay together, in the order of the columns."""
    rows = [["City", "Bridges", "Length"], ["Ulm", "12", "340 m"], ["Bonn", "9", "1,200 m"], ["Mainz", "31", "4 km"]]
    text = " ".join(WORDS)
    assert read(table(rows)).text.split("\n\n") == [text, "\n".join(map(" ".join, rows)), text]


def test_ligatures_and_accents_are_letters() -> None:
    """Words that a reader searches for are found."""
    found = read(shaped("A ﬁne oﬃce ﬂoats. Cafe\u0301 na\u00efve."))
    assert found.text == "A fine office floats. Caf\u00e9 na\u00efve."


def test_arabic_is_in_the_order_of_reading() -> None:
    """Over several lines, with brackets and numbers, which run the other way."""
    text = (
        "الجسر القديم (القصير) يحتاج إلى 25 كابلات جديدة قبل الشتاء. العربية لغة سامية يتحدث بها الناس في العالم. " * 2
    )
    assert read(shaped(text)).text == text.strip()


def test_chinese_lines_are_joined_without_spaces() -> None:
    """A sentence over two lines can be quoted as a whole."""
    assert (
        read(by_hand("今年春天委员会再次开会。旧桥", "需要新的缆索。")).text
        == "今年春天委员会再次开会。旧桥需要新的缆索。"
    )


def test_text_in_the_margin_that_runs_upwards_comes_last() -> None:
    """It does not cut the sentences of the page."""
    document = sheet()
    document.add_page()
    with document.rotation(90, 20, 400):
        document.text(20, 400, "preprint 2208.02814")
    texts = prose(0, 10)
    for line, text in enumerate(texts):
        document.text(50, 90 + 14 * line, text)
    assert read(bytes(document.output())).text == f"{' '.join(texts)}\n\npreprint 2208.02814"


def test_a_page_turned_by_its_text_is_read() -> None:
    """An example is a wide table on a separate page."""
    document = sheet()
    document.add_page()
    texts = prose(0, 10)
    with document.rotation(90, 300, 400):
        for line, text in enumerate(texts):
            document.text(100, 300 + 14 * line, text)
    assert read(bytes(document.output())).text == " ".join(texts)


def test_empty_pages_count() -> None:
    """The number of a page is its place in the file."""
    document = sheet()
    document.add_page()
    document.add_page()
    document.text(50, 90, "The second page has text.")
    document.add_page()
    document.add_page()
    document.text(50, 90, "So has the fourth.")
    found = read(bytes(document.output()))
    assert page_texts(found) == {2: "The second page has text.\n\n", 4: "So has the fourth."}


@pytest.mark.slow
def test_five_hundred_pages_are_read_in_time_up_to_the_limit() -> None:
    """The worker does not kill it; each page that is read has its own words, and on a slow machine they are fewer."""
    worker = Worker()
    try:
        found = worker.extract(many_pages(500), "application/pdf")
    finally:
        worker.close()
    pages = page_texts(found)
    assert list(pages) == list(range(1, len(pages) + 1))
    assert 1 < len(pages) <= extraction.MAX_PDF_PAGES
    assert all(f"w{number}00 " in text for number, text in pages.items())


def test_pages_that_are_not_reached_in_time_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one is read in any case."""
    monkeypatch.setattr(extraction, "MAX_PDF_SECONDS", -1.0)
    assert [page for _, page in read(many_pages(3)).page_starts] == [1]


def test_pages_beyond_the_limit_of_characters_have_no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """No start is beyond the end of the text."""
    monkeypatch.setattr(extraction, "MAX_TEXT_CHARS", 3_000)
    found = read(many_pages(5))
    assert len(found.text) <= 3_000
    assert [page for _, page in found.page_starts] == [1, 2]


def _many_pieces() -> bytes:
    document = sheet(1)
    document.set_compression(True)
    document.add_page()
    for place in range(MAX_PIECES + 2_000):
        document.text(place % 500, place // 500, "ab")
    return bytes(document.output())


def _one_line_of_pieces() -> bytes:
    document = sheet(1)
    document.add_page()
    for place in range(10_000):
        document.text(place / 50, 90, "ab-")
    return bytes(document.output())


def _many_sizes() -> bytes:
    document = sheet()
    document.add_page()
    for place in range(3_000):
        document.set_font("Helvetica", size=1 + place)
        document.text(10, place, "Heading")
    return bytes(document.output())


@pytest.mark.slow
@pytest.mark.parametrize("made", [_many_pieces, _one_line_of_pieces, _many_sizes])
def test_a_page_of_very_many_pieces_is_bounded(made: Callable[[], bytes]) -> None:
    """Placing them takes a few seconds of the processor at most, less than a document may take."""
    document, began = made(), time.process_time()
    assert read(document).text
    assert time.process_time() - began < MAX_SECONDS


def test_numbers_that_are_none_do_no_harm() -> None:
    """Places and sizes from the file may be infinite."""
    large = "9" * 20
    scale = f"{large} 0 0 {large} {large} 0 cm "
    document = pdf(f"Foxes sleep.) Tj {scale * 20} /F1 {large} Tf {large} {large} Td (They wake.")
    assert {"Foxes sleep.", "They wake."} <= {each.lstrip("# ") for each in read(document).text.split("\n\n")}


def test_an_encrypted_pdf_without_a_password_is_read() -> None:
    """Many are encrypted only so that they cannot be changed; with a password, it is an error."""
    from pypdf import PdfReader, PdfWriter

    def encrypted(password: str, owner: str = "owner") -> bytes:
        writer, out = PdfWriter(clone_from=PdfReader(BytesIO(pdf("secret")))), BytesIO()
        writer.encrypt(password, owner, algorithm="RC4-128")
        writer.write(out)
        return out.getvalue()

    assert read(encrypted("")).text == "secret"
    with pytest.raises(PageError, match="encrypted"):
        read(encrypted("password"))
