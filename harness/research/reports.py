"""Finished research as a file: Markdown with front matter, or one HTML page."""

import time
from collections.abc import Iterable, Sequence
from html import escape

from harness.core.text import clean, one_line
from harness.research.figures import FIGURES, as_inline_svg, figure_of
from harness.research.planner import KEY_POINTS
from harness.research.report import DISAGREEMENTS, WEB, Citation, Report, lacking_note
from harness.research.saved_report import SavedReport

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


def front_matter(saved: SavedReport, now: float) -> dict[str, str]:
    """Return the front matter of a saved report; `now` is in seconds since the epoch."""
    report = saved.report
    matter = {
        "question": saved.question,
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now)),
        "engine": saved.engine,
        "model": (report.writer if report else "") or "none",
        "run": saved.run or "not recorded",
        "live_calls": str(saved.live_calls),
        "answered": ", ".join(f"{count} {how}" for how, count in sorted(saved.answered.items())) or "nothing asked",
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
    title = escape(_plain(report.title))
    about = "".join(
        f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{escape(value)}</dd>"
        for name, value in front_matter(saved, now).items()
        if name != "question"
    )
    remark = f'<p class="remark">{escape(_plain(report.remark))}</p>' if report.remark else ""
    limits = "".join(f"<li>{escape(limit)}</li>" for limit in report.limits)
    sources = "".join(
        f'<li id="source-{source.number}">{escape(_plain(source.title))}, {escape(_plain(source.described))}'
        f" {_link(source.url)}</li>"
        for source in report.sources
    )
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{_STYLE}</style></head><body><main>",
            f"<h1>{title}</h1>{remark}",
            *_sections(report),
            *_figure(report),
            *([f"<section><h2>{_heading(report, 'Limits')}</h2><ul>{limits}</ul></section>"] if limits else []),
            f"<h2>{_heading(report, 'Sources')}</h2><ol>{sources}</ol>",
            f"</main><footer><p>{report.checks}</p>",
            f"<dl>{about}</dl></footer>",
            "</body></html>\n",
        ]
    )


def _heading(report: Report, name: str) -> str:
    return escape(_plain(report.heading(name)))


def _figure(report: Report) -> list[str]:
    figure = figure_of(report)
    if not figure:
        return []
    picture = f"<p>{escape(figure.title)}</p>"
    if figure.drawn:
        picture = f"<figure>{as_inline_svg(figure)}<figcaption>{escape(figure.caption)}</figcaption></figure>"
    names = "".join(f"<th>{escape(name)}</th>" for name in figure.columns)
    rows = "".join(
        f"<tr><td><bdi>{escape(_plain(row.label))}</bdi></td><td>{escape(row.text)}</td>"
        f'<td><a href="#source-{row.number}">{row.mark}</a></td></tr>'
        for row in figure.rows
    )
    quoted = ((row.mark, report.citations[row.citation].quotation) for row in figure.rows)
    return [
        f"<section><h2>{_heading(report, FIGURES)}</h2>{picture}",
        f"<table><tr>{names}</tr>{rows}</table>",
        f"{_quotations(report, quoted)}</section>",
    ]


def _sections(report: Report) -> list[str]:
    blocks = []
    for section, paragraphs in report.sections:
        blocks.append(f"<section><h2>{_heading(report, section)}</h2>")
        if section == DISAGREEMENTS:
            blocks += [_compared(report, rows) for rows in paragraphs]
        else:
            points = section == KEY_POINTS
            blocks += ["<ul>"] * points
            blocks += [_paragraph(report, part, "li" if points else "p") for part in paragraphs]
            blocks += ["</ul>"] * points
        blocks.append("</section>")
    return blocks


def _quotations(report: Report, quoted: Iterable[tuple[str, str]]) -> str:
    """Return a list of quotations with their marks, closed at first; "" if there are none."""
    quotes = "".join(f"<li>{mark} <q>{escape(_plain(quotation))}</q></li>" for mark, quotation in quoted)
    return f"<details><summary>{_heading(report, 'Quotations')}</summary><ul>{quotes}</ul></details>" if quotes else ""


def _paragraph(report: Report, sentences: Sequence[Citation], tag: str) -> str:
    quoted = [each for each in sentences if each.quotation and each.sentence != each.quotation]
    details = _quotations(report, ((f"[{each.place}]", each.quotation) for each in quoted))
    text = " ".join(map(_sentence, sentences))
    return f"<li>{text}{details}</li>" if tag == "li" else f"<p>{text}</p>{details}"


def _compared(report: Report, rows: Sequence[Citation]) -> str:
    titles = {source.number: source.title for source in report.sources}
    lines = "".join(
        f"<tr><td>{escape(_plain(titles.get(each.number, '')))}</td><td>{_sentence(each)}</td>"
        f"<td>{escape(report.date_of(each.number))}</td></tr>"
        for each in rows
    )
    return f"<table><tr><th>Source</th><th>Says</th><th>Date</th></tr>{lines}</table>"


def _sentence(citation: Citation) -> str:
    text = escape(citation.sentence)
    text = f"<q>{text}</q>" if citation.sentence == citation.quotation else text
    if not citation.trusted:
        text = f'<span class="unverified" title="no quotation of a source supports this">{text}</span>'
    if citation.replaced:
        text = f'<span title="quoted instead of a sentence that it did not support">{text}</span>'
    number = citation.number
    mark = f'<a href="#source-{number}">[{citation.place}]</a>' if number else "[no source]"
    mark += f" {escape(lacking_note(citation))}" if citation.lacks else ""
    return f"{text}<sup>{mark}</sup>"


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
