"""`harness index`: make a corpus ready to be searched."""

from typing import Annotated

import typer

from harness.cli.options import EmbeddingModelOption
from harness.cli.session import Session, with_session
from harness.errors import InvalidInput


@with_session
def index(
    session: Session,
    corpus: Annotated[str, typer.Argument(help="corpus:PATH or corpus:python-docs", show_default=False)],
    embedding_model: EmbeddingModelOption = None,
) -> None:
    """Index a corpus, and embed its passages, so that it is searched by words and by meaning.

    Small corpora are embedded when they are first searched; larger ones are searched by words alone until this is done.
    Interrupted, it goes on where it was.

    \b
    Example:
      harness index corpus:~/notes
    """
    from harness.engines.corpus import Corpus

    with session.workbench({"embedding_model": embedding_model}) as workbench:
        [engine] = workbench.engines([corpus])
        if not isinstance(engine, Corpus):
            raise InvalidInput(f"{corpus} is not indexed here; name a corpus:PATH")
        engine.embed()
        left = engine.unembedded()
    session.tell(f"{corpus} is ready" if not left else f"{left:,} passages have no vector yet; run it again")
