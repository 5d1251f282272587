"""`harness index`: embed a corpus before it is searched."""

from typing import Annotated

import typer

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import Flags, SettingOptions
from harness.core.text import amount
from harness.errors import InvalidInput


@with_session
def index(
    session: Session,
    corpus: Annotated[
        str,
        typer.Argument(help="corpus:PATH or corpus:python-docs", show_default=False, autocompletion=completion.engines),
    ],
    flags: Annotated[Flags, SettingOptions("embedding_model")],
) -> None:
    """Prepare a corpus for search by words and by meaning.

    Embeds all passages. Without it, a research waits for at most 1,000 passages, and a search ranks by words alone
    until they are embedded. If interrupted, run it again: it continues.

    \b
    Example:
      harness index corpus:~/notes
    """
    from harness.sources.corpus.engine import Corpus

    with session.app(flags) as app:
        app.models.embedder  # noqa: B018 - raises where an extra is missing
        engine = app.sources.engines([corpus], waits=True)[0]
        if not isinstance(engine, Corpus):
            raise InvalidInput(f"{corpus} is not a corpus; give corpus:PATH")
        engine.embed()
        left = engine.unembedded()
    session.note(
        f"{corpus} is ready" if not left else f"{amount(left, 'passage')} without a vector yet; run the command again"
    )
