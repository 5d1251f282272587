"""The commands of the chat: plain functions of a conversation and what stands behind the command's name."""

import difflib
from collections.abc import Callable

from msgspec import Struct

from harness.chat.command_results import (
    Context,
    Continued,
    Found,
    Help,
    Left,
    Outcome,
    Researched,
    Said,
    Shown,
    Statistics,
    Stored,
    Threads,
)
from harness.chat.ids import Kind, whole_id
from harness.chat.session import MAX_REPORT, Chat, checked_text
from harness.core.text import one_line, shorten
from harness.errors import InvalidInput

MAX_RESULTS = 50
DEFAULT_RESULTS = 5
MAX_THREADS = 50

KINDS: tuple[Kind, ...] = ("exchange", "passage", "document", "session", "thread")
DELETABLE: tuple[Kind, ...] = ("exchange", "passage", "document")

_QUOTES = {'"': '"', "'": "'", "“": "”"}


class Command(Struct, frozen=True):
    """A command: `usage` is its line, `meaning` one sentence, `run` gets what stands behind the name, stripped.

    One that `remembers` needs the memory.
    """

    name: str
    usage: str
    meaning: str
    run: Callable[[Chat, str], Outcome]
    remembers: bool = False
    examples: tuple[str, ...] = ()


def is_command(line: str) -> bool:
    """Say whether a line is a command: it begins with a slash. A message that is to begin so begins with a space."""
    return line.startswith("/")


def run_command(chat: Chat, line: str) -> Outcome:
    """Run the command that a line names, and return what it brings.

    Raises:
        InvalidInput: there is no such command, it is used wrongly, or it needs the memory and there is none.
        HarnessError: what the command does has failed.
    """
    name, rest = _split(line)
    command = COMMANDS.get(name)
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
        meant = f"did you mean /{near[0]}? " if near else ""
        raise InvalidInput(
            f"no such command: /{shorten(name, 40)}; {meant}/help lists them. "
            "A message that begins with a slash is sent with a space before it"
        )
    if command.remembers and chat.memory is None:
        raise InvalidInput(f"/{name}: {chat.why_no_memory}")
    return command.run(chat, checked_text(rest))


def _split(line: str) -> tuple[str, str]:
    """Split a line into the command's name ("" where none is) and the rest."""
    name, *rest = line[1:].split(maxsplit=1) or [""]
    return ("", "") if line[1:2].isspace() else (name.lower(), "".join(rest))


def _vadd(chat: Chat, rest: str) -> Outcome:
    if not rest:
        raise _wrong("vadd")
    added = chat.remembering().add_text(_unquoted(rest), session_id=chat.session_id)
    return Stored("text", added)


def _vdoc(chat: Chat, rest: str) -> Outcome:
    if not rest:
        raise _wrong("vdoc")
    name = _unquoted(rest)
    return Stored(name, chat.remembering().add_document(name, session_id=chat.session_id))


def _vquery(chat: Chat, rest: str) -> Outcome:
    text, k = _query_of(rest)
    return Found.of(text, chat.remembering().query(text, k))


def _query_of(rest: str) -> tuple[str, int]:
    """Read `"text" [k]`; without quotation marks all is text."""
    closing = _QUOTES.get(rest[:1], "")
    end = rest.rfind(closing) if closing else -1
    if end <= 0:
        text, number = rest, ""
    else:
        text, number = rest[1:end].strip(), rest[end + 1 :].strip()
    if not text:
        raise _wrong("vquery")
    if not number:
        return text, DEFAULT_RESULTS
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= MAX_RESULTS):
        raise InvalidInput(
            f"k is how many results, 1 to {MAX_RESULTS}, not {shorten(number, 20)!r}: {_usage('vquery')}"
        )
    return text, int(number)


def _vget(chat: Chat, rest: str) -> Outcome:
    if not rest:
        raise _wrong("vget")
    memory = chat.remembering()
    match rest.split():
        case ["session"]:
            return Shown(tuple(memory.session(chat.session_id)))
        case ["thread"]:
            return Shown(tuple(memory.thread(chat.thread_id)))
        case ["session", id_]:
            return Shown(tuple(memory.session(whole_id(memory, id_, ("session",)))))
        case ["thread", id_]:
            return Shown(tuple(memory.thread(whole_id(memory, id_, ("thread",)))))
        case [id_]:
            return Shown(tuple(memory.find(whole_id(memory, id_, KINDS))))
        case _:
            raise _wrong("vget")


def _vdelete(chat: Chat, rest: str) -> Outcome:
    if len(rest.split()) != 1:
        raise _wrong("vdelete")
    memory = chat.remembering()
    id_ = whole_id(memory, rest, DELETABLE)
    gone = memory.delete(id_)
    return Said(f"deleted {id_}" if gone == 1 else f"deleted {gone} passages of {id_}")


def _vstats(chat: Chat, rest: str) -> Outcome:
    _nothing_behind("vstats", rest)
    return Statistics(chat.remembering().stats())


def _threads(chat: Chat, rest: str) -> Outcome:
    _nothing_behind("threads", rest)
    threads = chat.remembering().threads(MAX_THREADS + 1)
    return Threads(tuple(threads[:MAX_THREADS]), chat.thread_id, len(threads) > MAX_THREADS)


def continue_thread(chat: Chat, rest: str) -> Outcome:
    """Go on with a thread, in a new session: what was said before is cleared, the thread's exchanges are loaded.

    Raises:
        InvalidInput: there is no such thread, or several begin so; the conversation is as it was.
    """
    if len(rest.split()) != 1:
        raise _wrong("continue")
    memory = chat.remembering()
    exchanges = tuple(memory.thread(whole_id(memory, rest, ("thread",))))
    thread_id = exchanges[0].thread_id
    continuation = max(each.thread_continuation_seq for each in exchanges) + 1
    chat.begin(thread_id, continuation=continuation, earlier=exchanges)
    return Continued(thread_id, chat.session_id, continuation, exchanges)


def _research(chat: Chat, rest: str) -> Outcome:
    if not rest:
        raise _wrong("research")
    if chat.research is None:
        raise InvalidInput("there is no research in this chat; `harness research` does it")
    question = _unquoted(rest)
    found = chat.research(question)
    warning = ""
    if found.report is not None:
        report = found.report.markdown()
        kept = report if len(report) <= MAX_REPORT else f"{report[:MAX_REPORT]}\n\n[shortened]"
        warning = chat.note(question, kept)
    return Researched(found, warning)


def _context(chat: Chat, rest: str) -> Outcome:
    if rest not in {"", "on", "off", "summary"}:
        raise _wrong("context")
    chat.remembering()
    if rest in {"on", "off"}:
        chat.retrieves = rest == "on"
        return Said(f"memories are {'looked up for each message' if chat.retrieves else 'no longer looked up'}")
    memory = chat.remembering()
    how = memory.settings.retrieval_strategy
    return Context(chat.retrieves, chat.context, len(chat.earlier), how)


def _help(_chat: Chat, rest: str) -> Outcome:
    name = rest.removeprefix("/").lower()
    if name and name not in COMMANDS:
        raise InvalidInput(f"no such command: /{shorten(name, 40)}; /help lists them")
    if name:
        command = COMMANDS[name]
        return Help(((command.usage, command.meaning),), command.examples)
    return Help(tuple((each.usage, each.meaning) for each in COMMANDS.values()))


def _quit(_chat: Chat, rest: str) -> Outcome:
    _nothing_behind("quit", rest)
    return Left()


def _unquoted(text: str) -> str:
    """Take off the quotation marks around a whole text."""
    closing = _QUOTES.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing) and text.count(closing) == 1 + (closing == text[0]):
        return text[1:-1].strip()
    return text


def _nothing_behind(name: str, rest: str) -> None:
    if rest:
        raise InvalidInput(f"/{name} takes nothing behind it, not {shorten(one_line(rest), 40)!r}")


def _usage(name: str) -> str:
    return f"usage: {COMMANDS[name].usage}"


def _wrong(name: str) -> InvalidInput:
    example = COMMANDS[name].examples
    return InvalidInput(f"{_usage(name)}" + (f", as {example[0]}" if example else ""))


_ALL = (
    Command(
        "research", "/research QUESTION", "Research a question: a cited report, remembered as an exchange.", _research,
        examples=("/research How does SQLite's write-ahead log work?",),
    ),
    Command(
        "vadd", "/vadd TEXT", "Remember a text; a long one is cut into passages.", _vadd, remembers=True,
        examples=("/vadd The staging server is restarted every Monday at 6.",),
    ),
    Command(
        "vdoc", "/vdoc PATH", "Remember a document: a file, or docs:NAME from the documents folder.", _vdoc,
        remembers=True, examples=("/vdoc ~/notes/retries.md", "/vdoc docs:handbook.pdf"),
    ),
    Command(
        "vquery", '/vquery "TEXT" [K]', f"Find what is remembered; K results, {DEFAULT_RESULTS} if not said.", _vquery,
        remembers=True, examples=('/vquery "when is staging restarted" 3', "/vquery when is staging restarted"),
    ),
    Command(
        "vget", "/vget ID | session | thread", "Show whole what an id names: an exchange, a passage, a session, "
        "a thread; or this session, this thread.", _vget, remembers=True,
        examples=("/vget 3f2a91bc", "/vget thread", "/vget session 77aa01de"),
    ),
    Command(
        "vdelete", "/vdelete ID", "Delete an exchange or a passage, or a document with all its passages.", _vdelete,
        remembers=True, examples=("/vdelete 3f2a91bc",),
    ),
    Command("vstats", "/vstats", "Tell how much is remembered, where, and by which model.", _vstats, remembers=True),
    Command("threads", "/threads", "List the threads, the last used first.", _threads, remembers=True),
    Command(
        "continue", "/continue THREAD", "Go on with an earlier thread, in a new session.", continue_thread,
        remembers=True, examples=("/continue 3f2a91bc",),
    ),
    Command(
        "context", "/context on | off | summary", "Look memories up for each message, or not; or show what the last "
        "message was given.", _context, remembers=True, examples=("/context summary", "/context off"),
    ),
    Command("help", "/help [COMMAND]", "Show the commands, or one with examples.", _help, examples=("/help vquery",)),
    Command("quit", "/quit", "Leave; so does Ctrl-D.", _quit),
)  # fmt: skip
COMMANDS = {command.name: command for command in _ALL}
