"""Stages of a research as lines of text, to compare with another run of it."""

from collections.abc import Iterator

import orjson

from harness.research.model_writer import messages_for
from harness.research.result import Research


def stages_of(found: Research) -> dict[str, str]:
    """Return the text of each stage, in order. Documents are represented by their digests; a stage that this research
    lacks (a prompt, without a model) is empty.
    """
    gathered = found.gathered
    prompt = messages_for(found.plan, found.shown, found.writing) if found.shown else []
    return {
        "plan": "\n".join([found.plan.task_type, *found.plan.queries, *found.plan.sections]),
        "queries": "\n".join(_queries(found)),
        "results": "\n".join(
            f"{document.id} {source.url}" for source in gathered.sources for document in source.documents
        ),
        "pages": "\n".join(f"{page.url} {page.characters} {page.error or ''}" for page in gathered.pages),
        "chunks": "\n".join(_chunks(found)),
        "context": "\n".join(f"{shown.source.url}\n{shown.text}" for shown in found.shown),
        "prompt": "\n".join(orjson.dumps(message).decode() for message in prompt),
        "report": found.report.undated.markdown() if found.report else "",
    }


def _queries(found: Research) -> Iterator[str]:
    for number, round_ in enumerate(found.gathered.rounds, start=1):
        for search in round_.searches:
            yield f"{number} {search.engine} {search.results} {search.error or ''} {search.query}"


def _chunks(found: Research) -> Iterator[str]:
    for number, round_ in enumerate(found.gathered.rounds, start=1):
        yield f"round {number}: novelty {round_.novelty:.4f}, score {round_.score:.4f}"
    for each in found.evidence:
        yield f"{each.score:.4f} {each.similarity:.4f} {each.document} {each.chunk} {' '.join(each.sentences)}"
