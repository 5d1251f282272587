"""Finished research as a file: Markdown with front matter, or one HTML page."""

import time
from collections.abc import Iterable, Sequence
from html import escape

from harness.core.languages import primary_tag
from harness.core.sites import WEB
from harness.core.text import clean, one_line
from harness.research.figures import FIGURES, Figure, as_inline_svg, figures_of
from harness.research.messages import chosen, direction_of, list_in, message, place_in
from harness.research.planner import LISTED
from harness.research.report import DISAGREEMENTS, Citation, CitedSource, Report, columns_in, lacking_note
from harness.research.saved_report import SavedReport
from harness.settings.extras import is_installed

NO_REPORT = Report("", (), ())
"""Report of a research that found no answer."""

_STYLE = """\
:root { color-scheme: light dark; }
body { font: 17px/1.6 Georgia, serif; max-width: 44rem; margin: 3rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
dl { font: 13px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dt { opacity: .65; } dd { margin: 0; overflow-wrap: anywhere; }
sup { line-height: 0; } sup a { text-decoration: none; } q { quotes: "“" "”"; } li { overflow-wrap: anywhere; }
.unverified { text-decoration: underline wavy #c33; } .remark { border-left: 3px solid #c93; padding-left: .8rem; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }
figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; } figcaption, details { font-size: .9rem; }
footer { margin-top: 2rem; font: 13px system-ui, sans-serif; opacity: .75; }"""
_STYLE_RTL = """
th, td { text-align: right; padding: .2rem 0 .2rem .8rem; }
.remark { border-left: 0; border-right: 3px solid #c93; padding: 0 .8rem 0 0; }"""


def front_matter(saved: SavedReport, now: float, language: str = "") -> dict[str, str]:
    """Return the front matter of a saved report: English names, and values in a language. `now` is in seconds since the
    epoch.
    """
    report, answered = saved.report, sorted(saved.answered.items())
    matter = {
        "question": saved.question,
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now)),
        "engine": saved.engine,
        "model": (report.writer if report else "") or message(language, "none"),
        "run": saved.run or message(language, "not recorded"),
        "live_calls": str(saved.live_calls),
        "answered": list_in(language, [f"{count} {chosen(language, how)}" for how, count in answered])
        or message(language, "nothing asked"),
    }
    return matter | ({"quotations": report.checks} if report else {})


def as_markdown(saved: SavedReport, now: float) -> str:
    """Return the report as Markdown, with YAML front matter."""
    report = saved.report or NO_REPORT
    lines = [f"{name}: {_quoted(value)}" for name, value in front_matter(saved, now).items()]
    return "\n".join(["---", *lines, "---", "", report.markdown()])


def as_html(saved: SavedReport, now: float) -> str:
    """Return the report as one self-contained HTML page: no scripts, pictures or fonts from outside."""
    report = saved.report or NO_REPORT
    language = report.language
    title = escape(_plain(report.title))
    bdi = "<bdi>{}</bdi>" if direction_of(language) == "rtl" else "{}"
    about = "".join(
        f"<dt>{escape(chosen(language, name.replace('_', ' ')))}</dt><dd>{bdi.format(escape(value))}</dd>"
        for name, value in front_matter(saved, now, language).items()
        if name != "question"
    )
    rtl, style = (' dir="rtl"', _STYLE + _STYLE_RTL) if direction_of(language) == "rtl" else ("", _STYLE)
    remark = f'<p class="remark">{escape(_plain(report.remark))}</p>' if report.remark else ""
    limits = "".join(f"<li>{escape(limit)}</li>" for limit in report.limits)
    sources = "".join(_source(source, language) for source in report.sources)
    figures = [_figure(figure, report) for figure in figures_of(report)]
    return "\n".join(
        [
            f'<!doctype html><html lang="{primary_tag(language) or "en"}"{rtl}><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{style}</style></head><body><main>",
            f"<h1>{title}</h1>{remark}",
            *_sections(report),
            *([f"<section><h2>{_heading(report, FIGURES)}</h2>", *figures, "</section>"] if figures else []),
            *([f"<section><h2>{_heading(report, 'Limits')}</h2><ul>{limits}</ul></section>"] if limits else []),
            f"<h2>{_heading(report, 'Sources')}</h2><ol>{sources}</ol>",
            f"</main><footer><p>{escape(report.checks)}</p>",
            f"<dl>{about}</dl></footer>",
            "</body></html>\n",
        ]
    )


def _source(source: CitedSource, language: str) -> str:
    """Return an entry of the list of sources. From right to left, title and address keep their own direction."""
    title, about, link = escape(_plain(source.title)), escape(_plain(source.described_in(language))), _link(source.url)
    if direction_of(language) == "rtl":
        title, link = f"<bdi>{title}</bdi>", f'<bdi dir="ltr">{link}</bdi>'
    return f'<li id="source-{source.number}">{title}{message(language, ", ")}{about} {link}</li>'


def _heading(report: Report, name: str) -> str:
    return escape(_plain(report.heading(name)))


def _figure(figure: Figure, report: Report) -> str:
    language = report.language
    picture = f"<p>{escape(_plain(figure.title_in(language)))}</p>"
    if figure.drawn and is_installed("charts"):
        caption = escape(_plain(figure.caption_in(language)))
        picture = f"<figure>{as_inline_svg(figure)}<figcaption>{caption}</figcaption></figure>"
    names = "".join(f"<th>{escape(name)}</th>" for name in figure.columns_in(language))
    rows = "".join(
        f"<tr><td><bdi>{escape(_plain(row.label))}</bdi></td><td>{escape(row.text_in(language))}</td>"
        f'<td><a href="#source-{row.number}">{escape(row.mark_in(language))}</a></td></tr>'
        for row in figure.rows
    )
    quoted = ((escape(row.mark_in(language)), report.citations[row.citation]) for row in figure.rows)
    return f"{picture}\n<table><tr>{names}</tr>{rows}</table>\n{_quotations(report, quoted)}"


def _sections(report: Report) -> list[str]:
    blocks = []
    for section, paragraphs in report.sections:
        blocks.append(f"<section><h2>{_heading(report, section)}</h2>")
        if section == DISAGREEMENTS:
            blocks += [_compared(report, rows) for rows in paragraphs]
        else:
            points = section in LISTED
            blocks += ["<ul>"] * points
            blocks += [_paragraph(report, part, "li" if points else "p") for part in paragraphs]
            blocks += ["</ul>"] * points
        blocks.append("</section>")
    return blocks


def _quotations(report: Report, quoted: Iterable[tuple[str, Citation]]) -> str:
    """Return a list of quotations with their marks, closed at first; "" if there are none."""
    quotes = "".join(f"<li>{mark} {_quote(report, each, _plain(each.quotation))}</li>" for mark, each in quoted)
    return f"<details><summary>{_heading(report, 'Quotations')}</summary><ul>{quotes}</ul></details>" if quotes else ""


def _paragraph(report: Report, sentences: Sequence[Citation], tag: str) -> str:
    quoted = [each for each in sentences if each.quotation and each.sentence != each.quotation]
    details = _quotations(report, ((f"[{_place(report, each)}]", each) for each in quoted))
    text = " ".join(_sentence(report, each) for each in sentences)
    return f"<li>{text}{details}</li>" if tag == "li" else f"<p>{text}</p>{details}"


def _compared(report: Report, rows: Sequence[Citation]) -> str:
    cited = ((each, report.source_of(each.number)) for each in rows)
    lines = "".join(
        f"<tr><td>{escape(_plain(source.title))}</td><td>{_sentence(report, each)}</td>"
        f"<td>{escape(source.date)}</td></tr>"
        for each, source in cited
    )
    names = "".join(f"<th>{escape(name)}</th>" for name in columns_in(report.language))
    return f"<table><tr>{names}</tr>{lines}</table>"


def _sentence(report: Report, citation: Citation) -> str:
    language, text = report.language, escape(citation.sentence)
    text = _quote(report, citation, citation.sentence) if citation.sentence == citation.quotation else text
    if not citation.trusted:
        title = message(language, "no quotation of a source supports this")
        text = f'<span class="unverified" title="{escape(title)}">{text}</span>'
    if citation.replaced:
        title = message(language, "quoted instead of a sentence that it did not support")
        text = f'<span title="{escape(title)}">{text}</span>'
    mark = f"[{escape(message(language, 'no source'))}]"
    if citation.number:
        mark = f'<a href="#source-{citation.number}">[{_place(report, citation)}]</a>'
    mark += f" {escape(lacking_note(citation, language))}" if citation.lacks else ""
    return f"{text}<sup>{mark}</sup>"


def _quote(report: Report, citation: Citation, text: str) -> str:
    """Return a quotation with its language, where that is not the report's, and with its direction where one of both is
    written from right to left.
    """
    own, direction = primary_tag(report.source_of(citation.number).language), direction_of(report.language)
    about = f' lang="{own}"' if own else ""
    if own and direction_of(own) != direction:
        about += f' dir="{direction_of(own)}"'
    elif direction == "rtl":
        about += ' dir="auto"'
    return f"<q{about}>{escape(text)}</q>"


def _place(report: Report, citation: Citation) -> str:
    return escape(place_in(report.language, citation.number, citation.page))


def _link(url: str) -> str:
    """Return a link for a web URL; any other URL as text."""
    safe = escape(url, quote=True)
    return f'<a href="{safe}" rel="noreferrer">{safe}</a>' if url.startswith(WEB) else safe


def _quoted(text: str) -> str:
    """Return a double-quoted YAML scalar; characters that YAML does not allow are escaped by their code points."""
    plain = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in plain) + '"'


def _plain(text: str) -> str:
    return clean(one_line(text), len(text))
