"""`harness index`: make a corpus ready to be searched."""

from typing import Annotated

import typer

from harness.cli import completion
from harness.cli.options import EmbeddingModelOption
from harness.cli.session import Session, with_session
from harness.errors import InvalidInput


@with_session
def index(
    session: Session,
    corpus: Annotated[
        str,
        typer.Argument(help="corpus:PATH or corpus:python-docs", show_default=False, autocompletion=completion.engines),
    ],
    embedding_model: EmbeddingModelOption = None,
) -> None:
    """Prepare a corpus for search by words and by meaning.

    A research waits until up to 1,000 passages are embedded; a search ranks by words alone until they are. This makes
    all of them. Interrupted, it goes on where it stopped.

    \b
    Example:
      harness index corpus:~/notes
    """
    from harness.sources.corpus.engine import Corpus

    with session.app({"embedding_model": embedding_model}) as app:
        [engine] = app.sources.engines([corpus], waits=True)
        if not isinstance(engine, Corpus):
            raise InvalidInput(f"{corpus} is not indexed here; name a corpus:PATH")
        engine.embed()
        left = engine.unembedded()
    session.tell(f"{corpus} is ready" if not left else f"{left:,} passages have no vector yet; run it again")
