"""PDF of a report, made by fpdf2 and HarfBuzz, which are imported when they are used."""

import unicodedata
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.research.bibliography import link_of
from harness.research.document_blocks import LINK_COLOUR, Piece, is_rtl, joined, plain
from harness.research.report import CitedSource

PICTURE = 90
"""Millimetres of a heading and a picture below it."""
MAX_ROW = 1_000
"""Characters of a cell as wide as the page: a row of a table must fit on a page. Longer rows are paragraphs."""


class PdfDocument:
    """A PDF on A4 in DejaVu Sans. `lacking` collects the characters that the font has not."""

    def __init__(self) -> None:
        import matplotlib
        import uharfbuzz  # noqa: F401 - fpdf2 joins letters with it
        from fpdf import FPDF
        from fpdf.prefs import ViewerPreferences  # an older package, also named fpdf, lacks it

        class Pages(FPDF):
            """Pages with numbers."""

            def footer(self) -> None:
                """Add the number of the page."""
                self.set_y(-15)
                self.set_font("DejaVu", size=8)
                self.set_text_color("#555555")
                self.cell(0, 8, str(self.page_no()), align="C")

        fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
        self.lacking: set[str] = set()
        self._pdf: FPDF = Pages(format="A4")
        self._pdf.add_font("DejaVu", "", fonts / "DejaVuSans.ttf")
        self._pdf.add_font("DejaVu", "B", fonts / "DejaVuSans-Bold.ttf")
        self._pdf.set_text_shaping(use_shaping_engine=True)
        self._pdf.alias_nb_pages("")  # "{nb}" in a text is text
        self._pdf.viewer_preferences = ViewerPreferences(display_doc_title=True)
        self._pdf.set_creator("research-harness")
        self._pdf.set_margin(20)
        self._pdf.set_auto_page_break(True, 20)
        self._pdf.add_page()

    def title(self, text: str) -> None:
        """Add the title, and the first bookmark."""
        self._pdf.start_section(text or "Report", 0)
        self._write(text, size=17, bold=True, after=3)

    def heading(self, text: str, *, picture: bool = False) -> None:
        """Add the heading of a section, and a bookmark, on the page of what follows."""
        self._pdf.ln(3)
        if self._pdf.will_page_break(PICTURE if picture else 25):  # not the last line of a page
            self._pdf.add_page()
        self._pdf.start_section(text or "Section", 1)
        self._write(text, size=12.5, bold=True, after=1.5)

    def paragraph(self, pieces: Sequence[Piece], *, bullet: bool = False, remark: bool = False) -> None:
        """Add a paragraph, one entry of a list, or a remark in grey."""
        self._write(joined(pieces), bullet=bullet, colour="#555555" if remark else "#000000")

    def table(self, rows: Sequence[Sequence[Sequence[Piece]]], *, head: bool, widths: Sequence[float]) -> None:
        """Add a table, or paragraphs if a row might not fit on a page."""
        texts = [[self._known(joined(cell)) for cell in row] for row in rows]
        if any(len(text) > MAX_ROW * width for row in texts for text, width in zip(row, widths, strict=True)):
            for row in texts[head:]:
                self._write(": ".join(row))
            return
        self._pdf.set_font("DejaVu", size=8.5)
        self._pdf.set_text_color("#000000")
        with self._pdf.table(
            col_widths=tuple(round(100 * width) for width in widths),
            first_row_as_headings=head,
            borders_layout="HORIZONTAL_LINES",
            line_height=4.5,
            padding=1,
            v_align="T",
        ) as table:
            for row in texts:
                added = table.row()
                for text in row:
                    added.cell(text, align="R" if is_rtl(text) else "L")
        self._pdf.ln(2)

    def picture(self, png: bytes, text: str) -> None:
        """Add a picture as wide as the text, on one page."""
        self._pdf.image(png, w=self._pdf.epw, alt_text=self._known(text))
        self._pdf.ln(2)

    def source(self, source: CitedSource, text: str) -> None:
        """Add an entry of the list of sources, and its address below."""
        link = link_of(source.url)
        if self._pdf.will_page_break(12):  # the address stays with its title
            self._pdf.add_page()
        self._write(text, after=0)
        self._write(plain(source.url), size=8.5, colour=f"#{LINK_COLOUR}" if link else "#555555", link=link)

    def content(self, title: str, language: str, at: datetime) -> bytes:
        """Return the file, with the title, the language and the time of its making in its properties."""
        self._pdf.set_lang(language)
        self._pdf.set_title(title)
        self._pdf.set_creation_date(at)
        return bytes(self._pdf.output())

    def close(self) -> None:
        """Close the files of the fonts."""
        for font in self._pdf.fonts.values():
            if file := getattr(font, "ttfont", None):
                file.close()

    def _write(
        self,
        text: str,
        *,
        size: float = 10,
        bold: bool = False,
        bullet: bool = False,
        colour: str = "#000000",
        link: str = "",
        after: float = 2,
    ) -> None:
        """Write text over the whole width, from the side where its script begins."""
        pdf, known, height, indent = self._pdf, self._known(text), size * 0.53, 5 * bullet
        rtl = is_rtl(known)
        heavy = bold and all(ord(char) in self._characters("dejavuB") for char in known)
        pdf.set_font("DejaVu", "B" if heavy else "", size)
        pdf.set_text_color(colour)
        if pdf.will_page_break(height):
            pdf.add_page()
        if bullet:
            pdf.set_x(pdf.w - pdf.r_margin - indent if rtl else pdf.l_margin)
            pdf.cell(indent, height, "•", align="R" if rtl else "L")
        pdf.set_x(pdf.l_margin + indent * (not rtl))
        pdf.multi_cell(
            pdf.epw - indent, height, known, align="R" if rtl else "L", link=link, new_x="LMARGIN", new_y="NEXT"
        )
        pdf.ln(after)

    def _known(self, text: str) -> str:
        """Return `text` in the font's characters: composed, plain forms of letters that it lacks, no invisible ones."""
        known = self._characters("dejavu")
        return "".join(self._glyphs(char, known) for char in unicodedata.normalize("NFC", text))

    def _characters(self, font: str) -> Collection[int]:
        cmap: dict[int, Any] = getattr(self._pdf.fonts[font], "cmap", {})
        return cmap.keys()

    def _glyphs(self, char: str, known: Collection[int]) -> str:
        if ord(char) in known:
            return char
        plain = unicodedata.normalize("NFKC", char)
        if all(ord(each) in known for each in plain):
            return plain
        kind = unicodedata.category(char)
        if kind not in {"Cf", "Co", "Cn"}:
            self.lacking.add(char)
        return "" if kind == "Cf" else "\ufffd"
