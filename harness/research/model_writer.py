"""Writer with a language model: the model words the report and cites sources by number; its quotations are checked, and
what fails is revised.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.text import one_line
from harness.errors import ModelError, OfflineMiss
from harness.ports import LanguageModel, Message
from harness.research.context_builder import ShownSource
from harness.research.draft import Draft, DraftCheck
from harness.research.evidence import Evidence
from harness.research.extractive_writer import statements_of, write_report
from harness.research.gathering import GatheredSource
from harness.research.planner import Plan
from harness.research.prompts import prompt
from harness.research.quotation_support import BY_WORDS, QuotationSupport
from harness.research.report import Citation, Report, cited_source
from harness.research.statements import statements
from harness.settings import WritingSettings

if TYPE_CHECKING:
    from harness.research.run import Writer

Unsupported: TypeAlias = Literal["replace", "mark", "drop"]
"""Treatment of a sentence that its quotation does not support."""


def write_with_model(
    plan: Plan,
    evidence: Sequence[Evidence],
    shown: Sequence[ShownSource],
    model: LanguageModel,
    cache: Cache,
    *,
    writer: "Writer",
    support: QuotationSupport = BY_WORDS,
) -> Report:
    """Have `model` word the report from the sources `shown`, through the cache, and revise what checks find wrong; if
    it fails, make the report from `evidence` (best first, not empty).

    The model can cite only sources it was shown; URLs that it writes are removed. A quotation that is nearly a passage
    of its source becomes that passage. Any other quotation is marked, as is a sentence without one; with `drop`, both
    are left out. `writer.unsupported` decides about a sentence that its quotation does not support: the quotation
    replaces it, it is marked, or it is left out. If no quotation is in its source, or the answer is unusable, the
    report consists of excerpts, with a remark that says so.

    Raises:
        OfflineMiss: the answer is not in the cache, and live calls are not allowed.
        StoreError: the cache cannot be read.
    """
    similarity = dict.fromkeys((each.source.url for each in shown), 0.0)
    similarity |= {found.source.url: found.similarity for found in reversed(evidence)}
    check = DraftCheck(plan, [each.source for each in shown], similarity, support)
    messages = messages_for(plan, shown, writer.settings)
    drafts = _Drafts(model, cache, writer, check)
    try:
        draft = drafts.draft(messages, writer.on_text)
    except ModelError as error:
        return excerpts_instead(plan, evidence, f"the model {model.name} failed ({error}); these are excerpts")
    draft, revisions = drafts.revised(draft, messages)
    citations = list(_settled(draft.citations, writer.unsupported))
    count = sum(each.verified and not each.supported for each in draft.citations)
    dropped = count if writer.unsupported == "drop" else 0
    if not any(citation.verified for citation in citations):
        cause = (
            f"no sentence of {model.name} is supported by its quotation"
            if dropped
            else f"no quotation of {model.name} is in its source"
        )
        return replace(excerpts_instead(plan, evidence, f"{cause}; these are excerpts"), dropped=dropped)
    remark = "" if draft.whole else f"the answer of {model.name} was cut off at its bound"
    replaced = count if writer.unsupported == "replace" else 0
    citations += statements_of(evidence, {})
    known = {source.url: source for source in (*check.sources, *(found.source for found in evidence))}
    made = Report(plan.question, tuple(citations), (), model.name, remark, dropped, replaced, revisions=revisions)
    return _numbered(made, known)


def messages_for(plan: Plan, shown: Sequence[ShownSource], settings: WritingSettings) -> list[Message]:
    """Return the prompt: the rules, every source with its text between tags, and the question."""
    blocks = []
    for number, each in enumerate(shown, start=1):
        title = _inside(each.source.title)[:200].replace('"', "'")
        blocks.append(f'<source number="{number}" title="{title}">\n{_inside(each.text)}\n</source>')
    question = f"Question: {one_line(plan.question)}"
    return [
        {"role": "system", "content": rules_for(plan, settings)},
        {"role": "user", "content": "\n\n".join([*blocks, question])},
    ]


def rules_for(plan: Plan, settings: WritingSettings) -> str:
    """Return the writer's rules: what to write, in which sections and style."""
    headings = f"these headings, in this order: {', '.join(plan.sections)}"
    if plan.wanted:
        headings = f"exactly {plan.wanted} headings, of which the first is {plan.sections[0]}"
    return "\n".join(filter(None, (prompt("write", settings.prompts, headings=headings), settings.writer_style)))


class _Drafts(Struct, frozen=True):
    """Drafts of one model, through the cache."""

    model: LanguageModel
    cache: Cache
    writer: "Writer"
    check: DraftCheck

    def draft(self, messages: Sequence[Message], on_text: Callable[[str], None] | None) -> Draft:
        """Return the model's answer, checked; `on_text` gets it as it comes.

        Raises:
            ModelError: see `CompletionCache.answer`.
        """
        answer = self.cache.completions.answer(self.model, messages, epoch=self.writer.epoch, on_text=on_text).value
        return self.check.draft(answer.text, answer.whole, list(statements(answer.text)))

    def revised(self, draft: Draft, messages: Sequence[Message]) -> tuple[Draft, int]:
        """Return a draft after revisions, and how many there were. It is revised until nothing is wrong with it, a
        revision is no better, the model fails, or `max_revisions` or the budget is reached.
        """
        settings = self.writer.settings
        for revisions in range(settings.max_revisions):
            asked = [*messages, *_corrections(draft, settings)]
            if not draft.problems or not self.writer.budget.allows(asked, self.cache):
                return draft, revisions
            try:
                better = self.draft(asked, None)
            except (ModelError, OfflineMiss):  # the log and the run's record have it
                return draft, revisions
            if better.score <= draft.score:
                return draft, revisions
            draft = better
        return draft, settings.max_revisions


def _corrections(draft: Draft, settings: WritingSettings) -> list[Message]:
    """Return the draft, as the model wrote it, and what is wrong with it."""
    problems = "\n".join(f"- {problem}" for problem in draft.problems)
    return [
        {"role": "assistant", "content": draft.text},
        {"role": "user", "content": prompt("revise", settings.prompts, problems=problems)},
    ]


def _settled(checked: Sequence[Citation], unsupported: Unsupported) -> Iterator[Citation]:
    """Yield the citations as the report shows them; a quotation that replaces several sentences of a section appears
    once.
    """
    shown: set[tuple[str, str, str]] = set()
    for citation in checked:
        if citation.trusted or unsupported == "mark" or (unsupported == "replace" and not citation.verified):
            yield citation
        elif unsupported == "replace":
            place = (citation.section, citation.url, citation.quotation)
            if place not in shown:
                shown.add(place)
                yield replace(citation, sentence=citation.quotation, supported=True, replaced=True)


def _numbered(report: Report, sources: Mapping[str, GatheredSource]) -> Report:
    """Renumber the sources in the order of their first citation."""
    urls = list(dict.fromkeys(citation.url for citation in report.citations if citation.url))
    numbers = {url: number for number, url in enumerate(urls, start=1)}
    citations = tuple(replace(each, number=numbers.get(each.url, 0)) for each in report.citations)
    cited = tuple(cited_source(number, sources[url]) for url, number in numbers.items())
    return replace(report, citations=citations, sources=cited)


def excerpts_instead(plan: Plan, evidence: Sequence[Evidence], remark: str) -> Report:
    """Return a report of excerpts, with a remark that explains why."""
    return replace(write_report(plan, evidence), remark=remark)


def _inside(text: str) -> str:
    """Return a text that cannot close the tag around it."""
    return one_line(text).replace("<", "‹").replace(">", "›")
