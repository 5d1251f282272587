"""HTML of passages: paragraphs and headings as they were read, Markdown where the source is Markdown, the quotation
marked. Nothing in a passage is markup of the page: HTML is text, images are their description, links go to the web.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from harness.core.citations import parted
from harness.core.sites import WEB
from harness.core.text import clean, one_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_MARKDOWN = 4_000
"""Characters of a passage that are parsed as Markdown; longer ones are plain text. A passage has about 2,000."""
MAX_PLAIN = 20_000
MAX_DEPTH = 20
SHORT_LINE = 50
"""Characters; a shorter line of plain text was ended on purpose."""
BEGIN, END = "\ue000", "\ue001"
"""Private characters around the quotation during parsing."""
_MARKS = re.compile(f"([{BEGIN}{END}])")
_SENTINELS = str.maketrans("", "", BEGIN + END)
_OPENING = {
    "strong_open": "<strong>", "em_open": "<em>", "s_open": "<s>", "paragraph_open": "<p>", "bullet_list_open": "<ul>",
    "heading_open": "<p><strong>", "ordered_list_open": "<ol>", "list_item_open": "<li>", "table_open": "<table>",
    "blockquote_open": "<blockquote>", "thead_open": "<thead>", "tbody_open": "<tbody>", "tr_open": "<tr>",
    "th_open": "<th>", "td_open": "<td>",
}  # fmt: skip
_TAGS = _OPENING | {
    name.replace("_open", "_close"): "".join(f"</{each}" for each in reversed(tag.split("<")[1:]))
    for name, tag in (_OPENING | {"link_open": "<a>"}).items()
}
_LINK = Markup('<a href="{}" rel="noreferrer noopener nofollow">')
_PLAIN_RULES = ("heading", "newline")
_RULES = (
    *_PLAIN_RULES, "list", "fence", "blockquote", "table", "emphasis", "strikethrough", "backticks", "link", "image",
    "autolink", "escape", "balance_pairs", "fragments_join",
)  # fmt: skip


def marked_passage(quotation: str, passages: Sequence[str], url: str) -> Markup:
    """Return the HTML of the first of `passages` that holds a quotation, with the quotation marked; "" if none does."""
    quotation = quotation.translate(_SENTINELS)
    for passage in passages:
        text = clean(unicodedata.normalize("NFC", passage).translate(_SENTINELS), MAX_PLAIN)
        if parts := parted(quotation, text):
            return _html(_with_mark(text, parts), url) or _one_line(parts)
        if parts := parted(quotation, passage):  # it is long, or has characters that no page shows
            return _one_line(parts)
    return Markup()


def passage_html(text: str, url: str) -> Markup:
    """Return the HTML of a passage."""
    shown = clean(text.translate(_SENTINELS), MAX_PLAIN)
    return _html(shown, url) or Markup("<p>{}</p>").format(one_line(shown))


def is_markdown(url: str) -> bool:
    """Return whether the text at a URL is Markdown: by the name of the file, or because agents wrote it."""
    try:
        path = urlsplit(url).path.lower()
    except ValueError:
        return False
    return path.endswith((".md", ".markdown")) or url.startswith("knowledge:")


def _one_line(parts: tuple[str, str, str]) -> Markup:
    before, quoted, after = (clean(each.translate(_SENTINELS), MAX_PLAIN) for each in parts)
    return Markup("<p>{} <mark>{}</mark> {}</p>").format(before, quoted, after)


def _with_mark(text: str, parts: tuple[str, str, str]) -> str:
    """Return a text with `BEGIN` and `END` around the part that `parts`, which are on one line, have in the middle."""
    begin = sum(not char.isspace() for char in parts[0])
    end = begin + sum(not char.isspace() for char in parts[1])
    places = [place for place, char in enumerate(text) if not char.isspace()]
    start, stop = places[begin], places[end - 1] + 1
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():  # signs that begin a heading or a list stay the first of their line
        start += _signs(text[start:stop])
    return f"{text[:start]}{BEGIN}{text[start:stop]}{END}{text[stop:]}"


def _signs(text: str) -> int:
    """Return how many characters at the start of a line are signs of a heading, a quotation or a list."""
    word = text.split(" ", 1)[0]
    is_sign = bool(word) and (not word.strip("#>") or word in {"-", "*", "+"} or word[:-1].isdecimal())
    return len(word) + 1 if is_sign and len(word) + 1 < len(text) else 0


def _html(text: str, url: str) -> Markup | None:
    """Return the HTML of a text; `None` if the marked quotation would not be shown as a whole."""
    markdown = is_markdown(url) and len(text) <= MAX_MARKDOWN
    pieces = _Pieces()
    pieces.add_blocks(_parser(markdown=markdown).parse(text if markdown else _with_breaks(text)))
    whole = pieces.ended == text.count(END) and not pieces.marking
    return Markup("".join(pieces.html)) if whole else None  # noqa: S704 - every text in it is escaped


def _with_breaks(text: str) -> str:
    """Return a plain text whose line breaks are marked where they say something: after a short line, and before a sign
    of a list. The others were made by an editor, for lines of another width.
    """
    lines = text.split("\n")
    return "\n".join(
        f"{line}  " if len(line) < SHORT_LINE or _signs(after) else line for line, after in pairwise([*lines, ""])
    )


@cache
def _parser(*, markdown: bool) -> "MarkdownIt":
    """Return a parser that knows no HTML; of plain text, only paragraphs and the headings that extraction writes."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero", {"maxNesting": MAX_DEPTH}).enable(_RULES if markdown else _PLAIN_RULES)
    # the library's documented way to restrict links
    parser.validateLink = lambda url: url.lower().startswith(WEB)  # type: ignore[method-assign]
    return parser


class _Pieces:
    """HTML of parsed blocks, in pieces. Within marked text, each element has a `<mark>` in it."""

    def __init__(self) -> None:
        self.html: list[str] = []
        self.marking = False
        self.ended = 0
        self._open = False

    def add_blocks(self, tokens: "Sequence[Token]") -> None:
        """Add blocks, and the text in them."""
        for token in tokens:
            if token.type == "inline":
                self._add_inline(token.children or ())
                self._close()
            elif token.type == "fence":
                self._add_code(token.content, "<pre><code>", "</code></pre>")
            elif not token.hidden:  # paragraphs of a tight list
                self.html.append(_TAGS[token.type])

    def _add_inline(self, tokens: "Sequence[Token]") -> None:
        for token in tokens:
            if token.type == "link_open":
                self._tag(str(_LINK.format(token.attrs["href"])))
            elif token.type == "code_inline":
                self._close()
                self._add_code(token.content, "<code>", "</code>")
            elif token.type in _TAGS:
                self._tag(_TAGS[token.type])
            elif token.type == "hardbreak":
                self.html.append("<br>")
            else:  # an image has its description as content, a line break none
                self._add_text(token.content or "\n")

    def _add_code(self, text: str, opening: str, closing: str) -> None:
        self.html.append(opening)
        self._add_text(text)
        self._tag(closing)

    def _add_text(self, text: str) -> None:
        for piece in filter(None, _MARKS.split(text)):
            if piece in (BEGIN, END):
                self._close()
                self.marking = piece == BEGIN
                self.ended += piece == END
            else:
                if self.marking and not self._open:
                    self.html.append("<mark>")
                    self._open = True
                self.html.append(str(escape(piece)))

    def _tag(self, tag: str) -> None:
        self._close()
        self.html.append(tag)

    def _close(self) -> None:
        if self._open:
            self.html.append("</mark>")
            self._open = False
