"""Writer of a report in steps: an outline, each section from its own sources, corrections, and the answer last."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from harness.core.question_language import question_language
from harness.core.text import one_line, shorten
from harness.errors import AccessDenied, ModelError, OfflineMiss
from harness.ports import Message
from harness.research.budget import CHARS_A_TOKEN
from harness.research.context_builder import ShownSource
from harness.research.draft import MAX_PROBLEMS, Beside, Draft, DraftCheck, repeats, settled
from harness.research.drafting import Drafting, Written
from harness.research.evidence import Evidence
from harness.research.extractive_writer import write_report
from harness.research.messages import heading_in, list_in, message
from harness.research.outline import Section, outline_messages, outline_of
from harness.research.planner import Plan
from harness.research.prompts import attribute, in_language_of, inside, messages_of, prompt, source_block
from harness.research.report import Citation
from harness.settings import PromptName, WritingSettings

FEW_SOURCES = 4
"""Most sources of a question without sub-questions that is answered in one call."""
LEAST_CALLS = 4
"""Calls that a budget must leave room for, else the report is written in one: an outline, two sections, the answer."""
EXCERPTS = 3
"""Most excerpts in the place of a section."""
REASON_CHARS = 300


class Part(Struct, frozen=True):
    """A section on its way: the messages that ask for it, and its best draft; without one, `missing` says why, and
    `offline` whether nothing may be asked. A part is `final` if a revision did not help or could not be paid.
    """

    section: Section
    asked: Sequence[Message]
    draft: Draft | None = None
    missing: str = ""
    offline: bool = False
    revisions: int = 0
    final: bool = False

    @property
    def checked(self) -> tuple[Citation, ...]:
        """The citations of its draft."""
        return self.draft.citations if self.draft else ()


def is_simple(plan: Plan, shown: Sequence[ShownSource], drafting: Drafting) -> bool:
    """Return whether a report is written in one call: a number of sections is wanted; there is one source; there are no
    sub-questions and at most `FEW_SOURCES` sources; or the budget has no room for `LEAST_CALLS` long calls.
    """
    if plan.wanted or len(shown) < 2 or (not plan.parts and len(shown) <= FEW_SOURCES):
        return True
    outline = outline_messages(plan, shown, drafting.writer.settings)
    return not drafting.allows(outline * LEAST_CALLS, answers=LEAST_CALLS)


class SectionWriter(Struct, frozen=True):
    """Writer of one report in steps. Calls are made one after the other: a local endpoint answers one at a time, and
    the sections together are about as long as a report that is written in one call.
    """

    plan: Plan
    evidence: Sequence[Evidence]
    shown: Sequence[ShownSource]
    drafting: Drafting
    check: DraftCheck

    def written(self) -> Written | None:
        """Return the report, with excerpts in the place of each section that could not be written; without citations if
        the model wrote none that is usable. `None` if nothing may be asked, and no section is in the cache.

        Raises:
            StoreError: the cache cannot be read.
        """
        sections = outline_of(self.plan, self.shown, self.drafting, self.check)
        parts = [self._first(Part(each, self._section_messages(each, sections))) for each in sections]
        if all(part.offline for part in parts):
            return None
        if not any(part.draft for part in parts):
            return Written((), (), parts[0].missing)
        parts = self._revised(parts)
        answer = Part(Section(self.plan.sections[0], self.plan.question, ()), self._answer_messages(parts))
        if any(each.trusted for part in parts for each in part.checked):
            [answer] = self._revised([self._first(answer)])
        else:
            answer = replace(answer, missing=message(self._language, "no sentence has a source that supports it"))
        return self._assembled(answer, parts)

    # Prompts -----------------------------------------------------------------------------------------------------

    def _section_messages(self, section: Section, sections: Sequence[Section]) -> list[Message]:
        """Return the prompt for a section: its sources under their numbers, its question, those of the others."""
        sources = ((number, self.shown[number - 1]) for number in section.sources)
        blocks = [source_block(number, each.source.title, each.text) for number, each in sources]
        others = [f"- {inside(each.question)}" for each in sections if each is not section]
        if others:
            blocks.append("\n".join(["Other sections answer:", *others]))
        asked = [
            f"Question of the report: {one_line(self.plan.question)}",
            f"Write the section that answers: {inside(section.question)}",
        ]
        return self._messages("section", [*blocks, "\n".join(asked)])

    def _answer_messages(self, parts: Sequence[Part]) -> list[Message]:
        """Return the prompt for the answer: the sentences that rest on a quotation, by section, and the question. All
        together have at most about as many characters as the sources that a model may be shown.
        """
        room = self._settings.context_tokens * CHARS_A_TOKEN // len(parts)
        blocks = []
        for part in parts:
            lines, length = list[str](), 0
            for each in part.checked:
                if each.trusted:
                    line = f'{inside(each.sentence)} [{each.number}: "{inside(each.quotation)}"]'
                    length += len(line)
                    lines += [line] if length <= room else []
            if lines:
                blocks.append("\n".join([f'<section title="{attribute(part.section.heading)}">', *lines, "</section>"]))
        return self._messages("answer", [*blocks, f"Question: {one_line(self.plan.question)}"])

    def _messages(self, name: PromptName, blocks: Sequence[str]) -> list[Message]:
        settings = self._settings
        rules = [prompt(name, settings.prompts), in_language_of(self.plan.question), settings.writer_style]
        return messages_of(rules, blocks)

    @property
    def _language(self) -> str:
        return question_language(self.plan.question)

    @property
    def _settings(self) -> WritingSettings:
        return self.drafting.writer.settings

    # Drafts ------------------------------------------------------------------------------------------------------

    def _first(self, part: Part) -> Part:
        """Return the part with its first draft, or with the reason why there is none."""
        if not self.drafting.allows(part.asked):
            return replace(part, missing=self.drafting.spent)
        shown = self.drafting.writer.on_text
        stream = SectionStream(shown, part.section.heading) if shown else None
        try:
            return replace(part, draft=self._draft(part.section, part.asked, stream))
        except ModelError as error:
            model = self.drafting.model.name
            reason = message(self._language, "the model {model} failed ({error})", model=model, error=error)
            return replace(part, missing=shorten(reason, REASON_CHARS))
        except (OfflineMiss, AccessDenied):
            return replace(part, missing=message(self._language, "offline, and not in the cache"), offline=True)
        finally:
            if stream:
                stream.end()

    def _draft(self, section: Section, asked: Sequence[Message], on_text: Callable[[str], None] | None = None) -> Draft:
        answer = self.drafting.answer(asked, on_text)
        return self.check.section(section.heading, section.question, answer.text, answer.whole)

    def _revised(self, parts: Sequence[Part]) -> list[Part]:
        """Return the parts after at most `max_revisions` rounds; in each, a part with problems is revised by itself."""
        revised = list(parts)
        for _ in range(self._settings.max_revisions):
            for place in range(len(revised)):
                revised[place] = self._revision(revised, place)
        return revised

    def _revision(self, parts: Sequence[Part], place: int) -> Part:
        """Return one part after a revision, if that makes the parts together better by the checks."""
        part = parts[place]
        if part.draft is None or part.final:
            return part
        drafts = {number: each.draft for number, each in enumerate(parts) if each.draft}
        beside = dict(zip(drafts, self.check.between([*drafts.values()]), strict=True))
        problems = [*part.draft.problems, *beside[place].problems][:MAX_PROBLEMS]
        if not problems:
            return part
        asked = [*part.asked, *self.drafting.corrections(part.draft, problems, "revise_section")]
        if not self._leaves_an_answer(asked, parts):
            return replace(part, final=True)
        try:
            better = self._draft(part.section, asked)
        except (ModelError, OfflineMiss, AccessDenied):  # the log and the run's record have it
            return replace(part, final=True)
        revised = [*{**drafts, place: better}.values()]
        if _score(revised, self.check.between(revised)) <= _score([*drafts.values()], [*beside.values()]):
            return replace(part, final=True)
        return replace(part, draft=better, revisions=part.revisions + 1)

    def _leaves_an_answer(self, asked: Sequence[Message], parts: Sequence[Part]) -> bool:
        """Return whether the budget has room for a revision, and after one of a section for the answer."""
        if parts[0].section.heading == self.plan.sections[0]:
            return self.drafting.allows(asked)
        return self.drafting.allows([*asked, *self._answer_messages(parts)], answers=2)

    # Report ------------------------------------------------------------------------------------------------------

    def _assembled(self, answer: Part, parts: Sequence[Part]) -> Written:
        """Return the report of these parts, each sentence once; headings that the sentences below them do not bear out
        are replaced.
        """
        every = [answer, *parts]
        checked = [each for part in every for each in part.checked]
        shown = [list(settled(part.checked, self.drafting.writer.unsupported)) for part in every]
        unwritten = [place for place, held in enumerate(shown) if not any(each.verified for each in held)]
        if len(unwritten) == len(every):
            return Written((), checked)
        used = {each.quotation for held in shown for each in held}
        for place in unwritten:
            shown[place] = self._excerpts(every[place].section, used)
            used |= {each.quotation for each in shown[place]}
        citations = list[Citation]()
        for held in shown:
            citations += _said_once(citations, held)
        remarks = self._remarks(every, {place: bool(shown[place]) for place in unwritten})
        remark = message(self._language, "; ").join(remarks)
        return Written(self._in_order(citations), checked, remark, sum(part.revisions for part in every))

    def _remarks(self, parts: Sequence[Part], unwritten: Mapping[int, bool]) -> Iterator[str]:
        """Yield remarks on the parts that were cut off, and on those not written, by whether they have excerpts."""
        cut_off = [part for part in parts if part.draft and not part.draft.whole]
        if cut_off:
            yield message(
                self._language,
                "the answer of {model} was cut off at its bound: {sections}",
                model=self.drafting.model.name,
                sections=self._named(cut_off),
            )
        named: dict[tuple[str, bool], list[Part]] = {}
        for place, has_excerpts in unwritten.items():
            reason = parts[place].missing or self._unusable(parts[place])
            named.setdefault((reason, has_excerpts), []).append(parts[place])
        for (reason, has_excerpts), held in named.items():
            language, about = self._language, {"sections": self._named(held), "reason": reason}
            if has_excerpts:
                yield message(language, "not written, excerpts instead: {sections} ({reason})", **about)
            else:
                yield message(language, "not written, left out: {sections} ({reason})", **about)

    def _unusable(self, part: Part) -> str:
        """Return why no sentence of a draft is shown."""
        if any(each.verified for each in part.checked):
            return message(self._language, "no sentence is supported by its quotation")
        return message(self._language, "no quotation is in its source")

    def _named(self, parts: Sequence[Part]) -> str:
        return list_in(self._language, [f'"{heading_in(self._language, part.section.heading)}"' for part in parts])

    def _excerpts(self, section: Section, used: set[str]) -> list[Citation]:
        """Return excerpts in the place of a section: the best of its sources, of its sub-question if there are any,
        that are not `used` elsewhere. In the place of the answer: the best one of all.
        """
        found = [each for each in self.evidence if not each.disagrees]
        if section.heading == self.plan.sections[0]:
            found = found[:1]
        else:
            urls = {self.shown[number - 1].source.url for number in section.sources}
            found = [each for each in found if each.source.url in urls and used.isdisjoint(each.sentences)]
        if section.heading in self.plan.parts:
            part = self.plan.parts.index(section.heading)
            found = [each for each in found if each.part == part] or found
        alone = replace(self.plan, wanted=1, sections=(section.heading,))
        return list(write_report(alone, found[:EXCERPTS], self._settings.rules).citations)

    def _in_order(self, citations: Sequence[Citation]) -> list[Citation]:
        """Return the citations by neutral heading, in the order of their first one, with paragraphs counted through."""
        neutral = self.check.neutral(citations)
        order = {heading: place for place, heading in enumerate(dict.fromkeys(each.section for each in neutral))}
        paired = sorted(zip(citations, neutral, strict=True), key=lambda pair: order[pair[1].section])
        paragraphs = groupby(paired, key=lambda pair: (pair[0].section, pair[0].paragraph))
        return [
            replace(each, paragraph=number) for number, (_, held) in enumerate(paragraphs, start=1) for _, each in held
        ]


class SectionStream:
    """Text of one section while it comes, under its heading; headings of the model are left out."""

    def __init__(self, on_text: Callable[[str], None], heading: str) -> None:
        self._on_text = on_text
        self._heading = heading
        self._line = ""
        self._is_text: bool | None = None

    def __call__(self, text: str) -> None:
        """Show the new text."""
        for piece in text.splitlines(keepends=True):
            self._line += piece
            if self._is_text is None and self._line.strip():
                self._is_text = not self._line.lstrip().startswith("#")
            if self._is_text:
                self._show(self._line)
            if self._is_text is not None:
                self._line = ""
            if piece.endswith("\n"):
                self._line, self._is_text = "", None

    def end(self) -> None:
        """End the section with an empty line, if it has text."""
        if not self._heading:
            self._on_text("\n\n")

    def _show(self, text: str) -> None:
        if self._heading:
            self._on_text(f"## {self._heading}\n")
            self._heading = ""
        self._on_text(text)


def _score(drafts: Sequence[Draft], beside: Sequence[Beside]) -> int:
    """Return the number of sentences that rest on a quotation, without repeated ones, minus the number of problems of
    the drafts and between them.
    """
    return sum(each.score for each in drafts) - sum(len(each.problems) + each.repeated for each in beside)


def _said_once(before: Sequence[Citation], section: Sequence[Citation]) -> list[Citation]:
    """Return the citations of a section without what trusted ones say before it, unless nothing else is left."""
    said = [each.sentence for each in before if each.trusted]
    rest = [each for each in section if not any(repeats(each.sentence, other) for other in said)]
    return rest if any(each.trusted for each in rest) else list(section)
