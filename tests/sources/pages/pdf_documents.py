"""PDFs of several layouts, made by fpdf2 or by hand."""

from collections.abc import Sequence
from pathlib import Path

from fpdf import FPDF

WORDS = (
    "The committee met again in spring. Its members agreed that the old bridge needs new cables before winter comes. "
    "A survey of the river bed found more sand than in the year before. Few know where the sand comes from. "
).split()
"""Words of sentences that fill lines."""


def prose(start: int, lines: int, width: int = 8) -> list[str]:
    """Return lines of about `width` words each, with a number that no other line has."""
    return [
        " ".join([f"w{start + line}", *(WORDS[(line * width + word) % len(WORDS)] for word in range(width - 1))])
        for line in range(lines)
    ]


def sheet(size: float = 11) -> FPDF:
    """Return a document of A4 without automatic page breaks, in Helvetica."""
    pdf = FPDF(format="A4", unit="pt")
    pdf.set_auto_page_break(False)
    pdf.set_font("Helvetica", size=size)
    return pdf


def columns(left: Sequence[str], right: Sequence[str], *, mixed: bool, title: str = "") -> bytes:
    """Return a page of two columns; `mixed`: written line by line over both, else one column after the other."""
    pdf = sheet(9)
    pdf.add_page()
    if title:
        pdf.set_font("Helvetica", size=18)
        pdf.text(150, 60, title)
        pdf.set_font("Helvetica", size=9)
    placed = [(50.0, 100 + 12 * line, text) for line, text in enumerate(left)]
    placed += [(310.0, 100 + 12 * line, text) for line, text in enumerate(right)]
    for x, y, text in sorted(placed, key=lambda each: (each[1], each[0])) if mixed else placed:
        pdf.text(x, y, text)
    return bytes(pdf.output())


def with_running_lines(pages: Sequence[Sequence[str]], *, header: str, footer: str) -> bytes:
    """Return pages with a header, and a footer that may have `{page}`, the number of the page."""
    pdf = sheet()
    for number, lines in enumerate(pages, start=1):
        pdf.add_page()
        pdf.text(50, 40, header)
        for line, text in enumerate(lines):
            pdf.text(50, 90 + 14 * line, text)
        pdf.text(280, 810, footer.format(page=number))
    return bytes(pdf.output())


def with_pages(*texts: str) -> bytes:
    """Return a document with each text on a separate page."""
    pdf = sheet()
    for text in texts:
        pdf.add_page()
        pdf.multi_cell(0, text=text)
    return bytes(pdf.output())


def headed(*parts: tuple[float, str, str]) -> bytes:
    """Return a page with each part, its font size, style ("B" is bold) and text, below the one before."""
    pdf = sheet()
    pdf.add_page()
    y = 60.0
    for size, style, text in parts:
        pdf.set_font("Helvetica", style=style, size=size)
        y += 2 * size
        pdf.text(50, y, text)
    return bytes(pdf.output())


def table(rows: Sequence[Sequence[str]]) -> bytes:
    """Return a page with a table between two paragraphs."""
    pdf = FPDF(format="A4")
    pdf.add_page()
    pdf.set_font("Helvetica", size=11)
    pdf.multi_cell(0, text=" ".join(WORDS))
    pdf.ln(12)
    with pdf.table() as made:
        for row in rows:
            made.row(row)
    pdf.ln(12)
    pdf.multi_cell(0, text=" ".join(WORDS))
    return bytes(pdf.output())


def shaped(text: str) -> bytes:
    """Return a page in DejaVu Sans, with the letters joined as Arabic needs."""
    import matplotlib

    pdf = FPDF(format="A4")
    pdf.add_font("DejaVu", "", Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf")
    pdf.add_page()
    pdf.set_font("DejaVu", size=12)
    pdf.set_text_shaping(use_shaping_engine=True)
    pdf.multi_cell(0, text=text)
    return bytes(pdf.output())


def many_pages(count: int) -> bytes:
    """Return a document with the number of each page in its text."""
    pdf = sheet()
    for number in range(1, count + 1):
        pdf.add_page()
        for line, text in enumerate(prose(number * 100, 40)):
            pdf.text(50, 90 + 14 * line, text)
    return bytes(pdf.output())


def by_hand(*lines: str) -> bytes:
    """Return a page with lines of Chinese, in a font that is not in the file."""
    shown = " ".join(f"<{line.encode('utf-16-be').hex()}> Tj 0 -18 Td" for line in lines)
    stream = f"BT /F1 12 Tf 72 720 Td {shown} ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [6 0 R] >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R "
        "/Resources << /Font << /F1 3 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>",
    ]
    made, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{made}{end}startxref\n{len(made)}\n%%EOF\n".encode("ascii")
