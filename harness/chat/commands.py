"""Chat commands: functions of a conversation and the text after the command's name."""

import difflib
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from harness.chat import context_commands
from harness.chat.command_results import (
    Context,
    Continued,
    Help,
    MemoryDetails,
    Notice,
    Outcome,
    QueryResults,
    Quit,
    Researched,
    Stored,
    ThreadList,
)
from harness.chat.conversation import MAX_REPORT, Chat, checked_text
from harness.chat.ids import Kind, whole_id
from harness.core.text import amount, one_line, shorten
from harness.errors import InvalidInput

MAX_RESULTS = 50
DEFAULT_RESULTS = 5
MAX_THREADS = 50

KINDS: tuple[Kind, ...] = ("exchange", "passage", "document", "session", "thread")
DELETABLE: tuple[Kind, ...] = ("exchange", "passage", "document")

_QUOTES = {'"': '"', "'": "'", "“": "”"}


class Command(Struct, frozen=True):
    """A command: `usage` is its syntax, `meaning` one sentence; `run` gets the text after the name, stripped;
    `takes` says whether it needs one, may have one, or takes nothing. With `needs_memory` it fails without a memory.
    """

    name: str
    usage: str
    meaning: str
    run: Callable[[Chat, str], Outcome]
    takes: Literal["text", "optional", "nothing"] = "optional"
    needs_memory: bool = False
    examples: tuple[str, ...] = ()


def is_command(line: str) -> bool:
    """Return whether a line is a command: it starts with a slash. A space before the slash makes it a message."""
    return line.startswith("/")


def run_command(chat: Chat, line: str) -> Outcome:
    """Run the command on a line and return its result.

    Raises:
        InvalidInput: an unknown command, wrong usage, or a missing memory.
        HarnessError: the command failed.
    """
    name, rest = _split(line)
    command = COMMANDS.get(name)
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
        meant = f"did you mean /{near[0]}? " if near else ""
        raise InvalidInput(
            f"no such command: /{shorten(name, 40)}; {meant}/help lists the commands. "
            "To send a message that starts with a slash, put a space before it"
        )
    if command.needs_memory and chat.memory is None:
        raise InvalidInput(f"/{name}: {chat.why_no_memory}")
    if command.takes == "text" and not rest:
        raise _wrong(name)
    if command.takes == "nothing" and rest:
        raise InvalidInput(f"/{name} takes no argument, not {shorten(one_line(rest), 40)!r}")
    return command.run(chat, checked_text(rest))


def _split(line: str) -> tuple[str, str]:
    """Split a line into the command's name ("" if missing) and the rest."""
    name, *rest = line[1:].split(maxsplit=1) or [""]
    return ("", "") if line[1:2].isspace() else (name.lower(), "".join(rest))


def _vadd(chat: Chat, rest: str) -> Outcome:
    return Stored("text", chat.required_memory().writer.add_text(_unquoted(rest), session_id=chat.session_id))


def _vdoc(chat: Chat, rest: str) -> Outcome:
    name = _unquoted(rest)
    return Stored(name, chat.required_memory().writer.add_document(name, session_id=chat.session_id))


def _vquery(chat: Chat, rest: str) -> Outcome:
    text, k = _query_of(rest)
    return QueryResults.of(text, chat.required_memory().search.query(text, k))


def _query_of(rest: str) -> tuple[str, int]:
    """Parse `"text" [k]`; without quotation marks, everything is text."""
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
            f"k, the number of results, must be 1 to {MAX_RESULTS}, not {shorten(number, 20)!r}: {_usage('vquery')}"
        )
    return text, int(number)


def _vget(chat: Chat, rest: str) -> Outcome:
    memory = chat.required_memory()
    match rest.split():
        case ["session"]:
            return MemoryDetails(tuple(memory.listing.session(chat.session_id)))
        case ["thread"]:
            return MemoryDetails(tuple(memory.listing.thread(chat.thread_id)))
        case ["session", id_]:
            return MemoryDetails(tuple(memory.listing.session(whole_id(memory, id_, ("session",)))))
        case ["thread", id_]:
            return MemoryDetails(tuple(memory.listing.thread(whole_id(memory, id_, ("thread",)))))
        case [id_]:
            return MemoryDetails(tuple(memory.listing.find(whole_id(memory, id_, KINDS))))
        case _:
            raise _wrong("vget")


def _vdelete(chat: Chat, rest: str) -> Outcome:
    if len(rest.split()) != 1:
        raise _wrong("vdelete")
    memory = chat.required_memory()
    id_ = whole_id(memory, rest, DELETABLE)
    deleted = memory.writer.delete(id_)
    return Notice(f"deleted {id_}" if deleted == 1 else f"deleted {amount(deleted, 'passage')} of {id_}")


def _threads(chat: Chat, _rest: str) -> Outcome:
    threads = chat.required_memory().listing.threads(MAX_THREADS + 1)
    return ThreadList(tuple(threads[:MAX_THREADS]), chat.thread_id, len(threads) > MAX_THREADS)


def continue_thread(chat: Chat, rest: str) -> Outcome:
    """Continue a thread in a new session: clear the conversation and load the thread's exchanges.

    Raises:
        InvalidInput: no thread, or several, have this prefix; the conversation is unchanged.
    """
    if len(rest.split()) != 1:
        raise _wrong("continue")
    memory = chat.required_memory()
    exchanges = tuple(memory.listing.thread(whole_id(memory, rest, ("thread",))))
    thread_id = exchanges[0].thread_id
    continuation = max(each.thread_continuation_seq for each in exchanges) + 1
    chat.begin(thread_id, continuation=continuation, earlier=exchanges)
    return Continued(thread_id, chat.session_id, continuation, exchanges)


def _research(chat: Chat, rest: str) -> Outcome:
    if chat.services.research is None:
        raise InvalidInput("this chat cannot research; use `harness research`")
    question = _unquoted(rest)
    found = chat.services.research(question)
    warning = ""
    if found.report is not None:
        report = found.report.markdown()
        stored = report if len(report) <= MAX_REPORT else f"{report[:MAX_REPORT]}\n\n[shortened]"
        warning = chat.note(question, stored)
    return Researched(found, warning)


def _context(chat: Chat, rest: str) -> Outcome:
    if rest not in {"", "on", "off", "summary"}:
        raise _wrong("context")
    memory = chat.required_memory()
    if rest in {"on", "off"}:
        chat.retrieves = rest == "on"
        return Notice(f"memories are {'searched for each message' if chat.retrieves else 'no longer searched'}")
    return Context(chat.retrieves, chat.context, len(chat.earlier), memory.settings.retrieval_strategy)


def _help(_chat: Chat, rest: str) -> Outcome:
    name = rest.removeprefix("/").lower()
    if name and name not in COMMANDS:
        raise InvalidInput(f"no such command: /{shorten(name, 40)}; /help lists the commands")
    if name:
        command = COMMANDS[name]
        return Help(((command.usage, command.meaning),), command.examples)
    return Help(tuple((each.usage, each.meaning) for each in COMMANDS.values()))


def _unquoted(text: str) -> str:
    """Return a text without the quotation marks around it."""
    closing = _QUOTES.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing) and text.count(closing) == 1 + (closing == text[0]):
        return text[1:-1].strip()
    return text


def _usage(name: str) -> str:
    return f"usage: {COMMANDS[name].usage}"


def _wrong(name: str) -> InvalidInput:
    example = COMMANDS[name].examples
    return InvalidInput(f"{_usage(name)}" + (f", such as {example[0]}" if example else ""))


_ALL = (
    Command(
        "research", "/research QUESTION", "Research a question: a cited report, stored as an exchange.", _research,
        takes="text", examples=("/research How does SQLite's write-ahead log work?",),
    ),
    Command(
        "web", "/web QUERY", "Search through the cache, and add the results to the context of this conversation.",
        context_commands.web, takes="text", examples=("/web sqlite write-ahead log checkpoint",),
    ),
    Command(
        "url", "/url ADDRESS", "Read a page through the cache, and add its text to the context of this conversation.",
        context_commands.url, takes="text", examples=("/url https://sqlite.org/wal.html",),
    ),
    Command(
        "showcontext", "/showcontext [MESSAGE]", "Show what the model would get, with the memories that fit a message.",
        context_commands.showcontext, examples=("/showcontext", "/showcontext when is staging restarted"),
    ),
    Command(
        "model", "/model [NAME]", "Show the language model, or change it for this chat.", context_commands.model,
        examples=("/model", "/model qwen3"),
    ),
    Command(
        "config", "/config [NAME]", "Show the settings that are not at their defaults, or those that begin with a "
        "name; secrets are hidden.", context_commands.config, examples=("/config", "/config model"),
    ),
    Command(
        "clear", "/clear", "Clear the screen, and start a new conversation without this one's context; what is "
        "stored stays.", context_commands.clear, takes="nothing",
    ),
    Command(
        "vadd", "/vadd TEXT", "Store a text; a long one is split into passages.", _vadd, takes="text",
        needs_memory=True,
        examples=("/vadd The staging server is restarted every Monday at 6.",),
    ),
    Command(
        "vdoc", "/vdoc PATH", "Store a document: a file, or docs:NAME from the documents folder.", _vdoc,
        takes="text", needs_memory=True, examples=("/vdoc ~/notes/retries.md", "/vdoc docs:handbook.pdf"),
    ),
    Command(
        "vquery", '/vquery "TEXT" [K]', f"Search the memory; K results (default {DEFAULT_RESULTS}).", _vquery,
        needs_memory=True, examples=('/vquery "when is staging restarted" 3', "/vquery when is staging restarted"),
    ),
    Command(
        "vget", "/vget ID | session | thread", "Show the full text of an exchange, a passage, a session or a "
        "thread; or of this session or thread.", _vget, takes="text", needs_memory=True,
        examples=("/vget 3f2a91bc", "/vget thread", "/vget session 77aa01de"),
    ),
    Command(
        "vdelete", "/vdelete ID", "Delete an exchange, a passage, or a document with all its passages.", _vdelete,
        needs_memory=True, examples=("/vdelete 3f2a91bc",),
    ),
    Command(
        "vstats", "/vstats", "Show how much is stored, where, and the embedding model.",
        lambda chat, _: chat.required_memory().listing.stats(), takes="nothing", needs_memory=True,
    ),
    Command(
        "threads", "/threads", "List the threads, the last used first.", _threads, takes="nothing", needs_memory=True,
    ),
    Command(
        "continue", "/continue THREAD", "Continue an earlier thread in a new session.", continue_thread,
        needs_memory=True, examples=("/continue 3f2a91bc",),
    ),
    Command(
        "context", "/context on | off | summary", "Turn the search of memories for each message on or off, or show "
        "the memories used for the last message.", _context,
        needs_memory=True, examples=("/context summary", "/context off"),
    ),
    Command("help", "/help [COMMAND]", "Show the commands, or one with examples.", _help, examples=("/help vquery",)),
    Command("quit", "/quit", "End the chat; so does Ctrl-D.", lambda *_: Quit(), takes="nothing"),
)  # fmt: skip
COMMANDS = {command.name: command for command in _ALL}
