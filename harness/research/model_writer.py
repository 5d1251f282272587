"""Writer with a language model: the model words the report and cites sources by number; its quotations are checked, and
what fails is revised.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from harness.cache import Cache
from harness.core.question_language import question_language
from harness.core.text import one_line
from harness.errors import AccessDenied, ModelError, OfflineMiss
from harness.ports import Completion, LanguageModel, Message
from harness.research.context_builder import ShownSource
from harness.research.draft import Draft, DraftCheck, settled
from harness.research.drafting import Drafting, Writer, Written
from harness.research.evidence import Evidence
from harness.research.extractive_writer import statements_of, write_report
from harness.research.gathering import GatheredSource
from harness.research.messages import message
from harness.research.planner import Plan
from harness.research.prompts import in_language_of, messages_of, prompt, source_block
from harness.research.quotation_support import BY_WORDS, QuotationSupport
from harness.research.report import Report, cited_source
from harness.research.section_writer import SectionWriter, is_simple
from harness.research.statements import statements
from harness.settings import WritingSettings


def write_with_model(
    plan: Plan,
    evidence: Sequence[Evidence],
    shown: Sequence[ShownSource],
    model: LanguageModel,
    cache: Cache,
    *,
    writer: Writer,
    support: QuotationSupport = BY_WORDS,
) -> Report:
    """Have `model` word the report from the sources `shown`, through the cache, and revise what checks find wrong; if
    it fails, make the report from `evidence` (best first, not empty).

    A simple report (see `is_simple`) is written in one call. Any other is written in steps: the model plans an outline,
    writes each section from the sources of that section, and the answer last, from the sentences of the sections that
    rest on a quotation. Each section is checked and revised by itself; one that cannot be written has excerpts.

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
    drafting = Drafting(model, cache, writer)
    written = None
    if not is_simple(plan, shown, drafting):
        written = SectionWriter(plan, evidence, shown, drafting, check).written()
    try:
        written = written or _in_one_call(plan, shown, drafting, check)
    except ModelError as error:
        failed = message(
            question_language(plan.question),
            "the model {model} failed ({error}); these are excerpts",
            model=model.name,
            error=error,
        )
        return excerpts_instead(plan, evidence, failed, writer.settings)
    return _report(plan, evidence, check, drafting, written)


def _report(
    plan: Plan, evidence: Sequence[Evidence], check: DraftCheck, drafting: Drafting, written: Written
) -> Report:
    """Return the report of this text; of excerpts, if no quotation in it is verified."""
    name, unsupported = drafting.model.name, drafting.writer.unsupported
    language = question_language(plan.question)
    count = sum(each.verified and not each.supported for each in written.checked)
    dropped = count if unsupported == "drop" else 0
    if not any(each.verified for each in written.citations):
        cause = written.remark or message(language, "no quotation of {model} is in its source", model=name)
        if dropped:
            cause = message(language, "no sentence of {model} is supported by its quotation", model=name)
        remark = message(language, "{cause}; these are excerpts", cause=cause)
        excerpts = excerpts_instead(plan, evidence, remark, drafting.writer.settings)
        return replace(excerpts, dropped=dropped)
    citations = [*written.citations, *statements_of(evidence, {})]
    known = {source.url: source for source in (*check.sources, *(found.source for found in evidence))}
    replaced = count if unsupported == "replace" else 0
    made = Report(
        plan.question, tuple(citations), (), name, written.remark, dropped, replaced,
        revisions=written.revisions, language=language,
    )  # fmt: skip
    return _numbered(made, known)


def messages_for(plan: Plan, shown: Sequence[ShownSource], settings: WritingSettings) -> list[Message]:
    """Return the prompt: the rules, every source with its text between tags, and the question."""
    blocks = [source_block(number, each.source.title, each.text) for number, each in enumerate(shown, start=1)]
    return messages_of([rules_for(plan, settings)], [*blocks, f"Question: {one_line(plan.question)}"])


def rules_for(plan: Plan, settings: WritingSettings) -> str:
    """Return the writer's rules: what to write, in which sections and style."""
    headings = f"these headings, in this order: {', '.join(plan.sections)}"
    if plan.wanted:
        headings = f"exactly {plan.wanted} headings, of which the first is {plan.sections[0]}"
    rules = prompt("write", settings.prompts, headings=headings)
    return "\n".join(filter(None, (rules, in_language_of(plan.question), settings.writer_style)))


def _in_one_call(plan: Plan, shown: Sequence[ShownSource], drafting: Drafting, check: DraftCheck) -> Written:
    """Return a report that the model writes at once, after revisions.

    Raises:
        ModelError: see `CompletionCache.answer`.
    """
    messages = messages_for(plan, shown, drafting.writer.settings)
    draft = _checked(drafting.answer(messages, drafting.writer.on_text), check)
    draft, revisions = _revised(draft, messages, drafting, check)
    model, language = drafting.model.name, question_language(plan.question)
    remark = "" if draft.whole else message(language, "the answer of {model} was cut off at its bound", model=model)
    citations = list(settled(draft.citations, drafting.writer.unsupported))
    usable = any(each.verified for each in citations)
    return Written(citations, draft.citations, remark if usable else "", revisions)


def _revised(draft: Draft, messages: Sequence[Message], drafting: Drafting, check: DraftCheck) -> tuple[Draft, int]:
    """Return a draft after revisions, and how many there were. It is revised until nothing is wrong with it, a revision
    is no better, the model fails, or `max_revisions` or the budget is reached.
    """
    most = drafting.writer.settings.max_revisions
    for revisions in range(most):
        asked = [*messages, *drafting.corrections(draft, draft.problems, "revise")]
        if not draft.problems or not drafting.allows(asked):
            return draft, revisions
        try:
            better = _checked(drafting.answer(asked), check)
        except (ModelError, OfflineMiss, AccessDenied):  # the log and the run's record have it
            return draft, revisions
        if better.score <= draft.score:
            return draft, revisions
        draft = better
    return draft, most


def _checked(answer: Completion, check: DraftCheck) -> Draft:
    return check.draft(answer.text, answer.whole, list(statements(answer.text)))


def _numbered(report: Report, sources: Mapping[str, GatheredSource]) -> Report:
    """Renumber the sources in the order of their first citation."""
    urls = list(dict.fromkeys(citation.url for citation in report.citations if citation.url))
    numbers = {url: number for number, url in enumerate(urls, start=1)}
    citations = tuple(replace(each, number=numbers.get(each.url, 0)) for each in report.citations)
    cited = tuple(cited_source(number, sources[url]) for url, number in numbers.items())
    return replace(report, citations=citations, sources=cited)


def excerpts_instead(plan: Plan, evidence: Sequence[Evidence], remark: str, settings: WritingSettings) -> Report:
    """Return a report of excerpts, with a remark that explains why."""
    return replace(write_report(plan, evidence, settings.rules), remark=remark)
