"""Outline of a report by a language model: its sections, the question of each, and the sources that answer it."""

import logging
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from harness.core.text import clean, one_line
from harness.errors import AccessDenied, ModelError, OfflineMiss
from harness.ports import Message
from harness.research.context_builder import ShownSource
from harness.research.draft import DraftCheck, is_about
from harness.research.drafting import Drafting
from harness.research.planner import DETAILS, KEY_POINTS, Plan
from harness.research.prompts import in_language_of, inside, messages_of, prompt, source_block
from harness.research.report import DISAGREEMENTS
from harness.research.statements import heading_of, is_list
from harness.settings import WritingSettings

log = logging.getLogger(__name__)

MAX_SECTIONS = 8
MAX_HEADING_CHARS = 100
MAX_QUESTION_CHARS = 300
MAX_SOURCES = 100
MAX_ANSWER_CHARS = 50_000

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "sections": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "heading": {"type": "string", "minLength": 1, "maxLength": MAX_HEADING_CHARS},
                    "question": {"type": "string", "minLength": 1, "maxLength": MAX_QUESTION_CHARS},
                    "sources": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": MAX_SOURCES},
                },
                "required": ["heading", "question", "sources"],
                "additionalProperties": False,
            },
            "minItems": 1,
            "maxItems": MAX_SECTIONS,
        }
    },
    "required": ["sections"],
    "additionalProperties": False,
}

_ABOUT = {KEY_POINTS: "Which points matter most for the question?", DETAILS: "Which details add to that?"}
"""Questions of the sections that every plan may have."""


class Section(Struct, frozen=True):
    """A section of a report: the question that it answers, and the numbers of its sources, which count from 1."""

    heading: str
    question: str
    sources: tuple[int, ...]


class _Proposed(Struct):
    heading: Annotated[str, Meta(min_length=1, max_length=MAX_HEADING_CHARS)]
    question: Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION_CHARS)]
    sources: Annotated[list[int], Meta(min_length=1, max_length=MAX_SOURCES)]


class _Answered(Struct):
    sections: Annotated[list[_Proposed], Meta(min_length=1, max_length=MAX_SECTIONS)]


def outline_of(plan: Plan, shown: Sequence[ShownSource], drafting: Drafting, check: DraftCheck) -> tuple[Section, ...]:
    """Return the sections of the report without its answer, as the model plans them. If its outline is unusable, or the
    plan has more sub-questions than an outline may have sections: those of the plan, each with all sources.
    """
    if len(plan.parts) <= MAX_SECTIONS:
        try:
            answer = drafting.answer(outline_messages(plan, shown, drafting.writer.settings), schema=SCHEMA)
            return _read(answer.text, plan, shown, check)
        except (OfflineMiss, AccessDenied) as error:
            log.info("%s; the sections are those of the plan", error)
        except ModelError as error:
            log.warning(
                "the outline of %s cannot be used (%s); its sections are the plan's", drafting.model.name, error
            )
    every = tuple(range(1, len(shown) + 1))
    return tuple(Section(heading, _ABOUT.get(heading, heading), every) for heading in plan.sections[1:])


def outline_messages(plan: Plan, shown: Sequence[ShownSource], settings: WritingSettings) -> list[Message]:
    """Return the prompt for the outline: the rules, every source, what the plan holds, and the question."""
    blocks = [source_block(number, each.source.title, each.text) for number, each in enumerate(shown, start=1)]
    parts = "\n".join(f"- {inside(part)}" for part in plan.parts)
    planned = f"Sub-questions:\n{parts}" if parts else f"Usual headings: {', '.join(plan.sections[1:])}"
    rules = prompt("outline", settings.prompts, most=str(MAX_SECTIONS))
    return messages_of(
        [rules, in_language_of(plan.question)], [*blocks, planned, f"Question: {one_line(plan.question)}"]
    )


def _read(text: str, plan: Plan, shown: Sequence[ShownSource], check: DraftCheck) -> tuple[Section, ...]:
    """Return the sections of an answer.

    Raises:
        ModelError: it is no outline, or one with an unusable section.
    """
    try:
        proposed = msgspec.json.decode(text[:MAX_ANSWER_CHARS], type=_Answered).sections
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ModelError(f"it is no JSON object with up to {MAX_SECTIONS} sections") from error
    sections = tuple(_section(each) for each in proposed)
    headings = [each.heading.casefold() for each in sections]
    if len(set(headings)) < len(headings):
        raise ModelError("two sections have the same heading")
    for section in sections:
        if problem := _problem(section, plan, shown, check):
            raise ModelError(f"section {section.heading!r}: {problem}")
    for part in plan.parts:
        if not any(is_about(each.heading, part) for each in sections):
            raise ModelError(f"no section is about {part!r}")
    return sections


def _section(proposed: _Proposed) -> Section:
    heading = heading_of(one_line(clean(proposed.heading, MAX_HEADING_CHARS)))
    question = one_line(clean(proposed.question, MAX_QUESTION_CHARS))
    return Section(heading, question or heading, tuple(sorted(set(proposed.sources))))


def _problem(section: Section, plan: Plan, shown: Sequence[ShownSource], check: DraftCheck) -> str:
    """Return why a section cannot be used, "" if it can. Its heading must be neutral by the text of its sources; the
    sentences that are written below it decide later (see `DraftCheck.neutral`).
    """
    if not section.heading or is_list(section.heading):
        return "its heading is empty, or that of a list which is made without a model"
    if section.heading.casefold() in (plan.sections[0].casefold(), DISAGREEMENTS.casefold()):
        return "its heading is one of those that are written without an outline"
    if not all(1 <= number <= len(shown) for number in section.sources):
        return f"it names a source that was not shown; the numbers end at {len(shown)}"
    if not check.is_neutral(section.heading, " ".join(shown[number - 1].text for number in section.sources)):
        return "its heading has words of neither the question nor its sources"
    return ""
