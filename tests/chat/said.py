"""Short exchanges for memories."""

from harness.chat import Exchange
from harness.chat.exchanges import iso

BEGAN = 1_700_000_000.0


def said(
    id: str,  # noqa: A002 - the field's name
    user: str,
    assistant: str = "",
    *,
    thread: str = "t1",
    session: str = "s1",
    at: float = 0.0,
    continuation: int = 0,
    prior: tuple[str, ...] = (),
) -> Exchange:
    """Return an exchange, `at` seconds after the first."""
    return Exchange(
        id=id,
        thread_id=thread,
        session_id=session,
        user_message=user,
        assistant_message=assistant,
        timestamp=iso(BEGAN + at),
        prior_exchange_ids=prior,
        thread_continuation_seq=continuation,
    )
