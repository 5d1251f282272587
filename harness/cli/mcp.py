"""`harness mcp`: a server of the Model Context Protocol over standard input and output."""

import logging
import sys
from typing import TYPE_CHECKING

from harness.cli.command_session import Session, with_session
from harness.cli.options import ServerFlags
from harness.cli.terminal.streams import unguarded
from harness.errors import StoreError
from harness.settings.extras import require_extra

if TYPE_CHECKING:
    from harness.app import App

log = logging.getLogger(__name__)


@with_session
def mcp(session: Session, *, flags: ServerFlags) -> None:
    """Serve cache, search, research and knowledge to one MCP agent.

    Over standard input and output, with the token in the settings (HARNESS_TOKEN), or else as the local user. For
    agents on other machines, `harness serve` serves the same tools over HTTP, at /mcp. Ctrl-C lets running calls
    finish.

    \b
    Examples:
      claude mcp add harness -- harness mcp
      harness mcp --engine corpus:~/notes
      harness serve --host 0.0.0.0        # for a team: http://HOST:8766/mcp
    """
    require_extra("mcp")
    settings = session.load(**flags).settings
    import anyio

    from harness.app import App
    from harness.server.mcp.server import build_server
    from harness.settings.mode import Mode

    with App(settings, Mode(origin="agent")) as app:
        _check_token(app)
        if sys.stdin.isatty():
            session.note("waiting for messages of an MCP client on standard input; Ctrl-C ends")
        sys.stdout = unguarded(sys.stdout)  # bytes of the protocol must not change
        anyio.run(build_server(app).run_stdio_async)


def _check_token(app: "App") -> None:
    """Refuse an invalid token at once. A database failure is only logged: each call will report it."""
    try:
        app.identity  # noqa: B018 - raises
    except StoreError as error:
        log.error("%s", error)  # noqa: TRY400 - one line
