"""Chat commands: results of right ones; wrong ones change nothing."""

from pathlib import Path
from typing import Any

import pytest

from harness.chat import Exchange, Memory, MemoryStats
from harness.chat.command_results import (
    Context,
    Continued,
    Help,
    MemoryDetails,
    Notice,
    QueryResults,
    Quit,
    Stored,
    ThreadList,
)
from harness.chat.commands import COMMANDS, run_command
from harness.chat.conversation import Chat, EchoModel
from harness.chat.lookups import ChatServices
from harness.errors import HarnessError, InvalidInput
from harness.settings import VectorStoreSettings
from tests.fakes import FakeClock, MemoryStore, WordEmbedder


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Memory:
    """Return a memory with an empty documents folder."""
    folder = tmp_path / "docs"
    folder.mkdir()
    return Memory(MemoryStore(), WordEmbedder(), VectorStoreSettings(), clock=clock, documents_folder=folder)


@pytest.fixture
def chat(memory: Memory, clock: FakeClock) -> Chat:
    """Return a conversation with an echo model that stores exchanges."""
    return Chat(EchoModel(), memory, clock=clock)


def say(chat: Chat, *messages: str) -> None:
    """Send these messages in turn."""
    for message in messages:
        chat.say(message, lambda text: None)


def run(chat: Chat, line: str) -> Any:
    """Run a command line."""
    return run_command(chat, line)


def wrong(chat: Chat, line: str) -> str:
    """Run a wrong line and return the error message."""
    with pytest.raises(InvalidInput) as refused:
        run_command(chat, line)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_text_is_stored_and_found(chat: Chat) -> None:
    """/vadd, then /vquery: the similarity of the identical text is 1."""
    stored = run(chat, "/vadd staging is restarted every Monday")
    assert isinstance(stored, Stored)
    found = run(chat, '/vquery "staging is restarted every Monday" 1')
    assert isinstance(found, QueryResults)
    (match,) = found.matches
    assert match.similarity == pytest.approx(1.0, abs=1e-5)
    assert (match.remembered.text, match.remembered.source) == ("staging is restarted every Monday", "vadd_command")


@pytest.mark.parametrize(
    ("line", "text", "most"),
    [
        ('/vquery "red apples" 2', "red apples", 2),
        ("/vquery 'red apples'", "red apples", 5),
        ("/vquery red apples 2", "red apples 2", 5),
        ("/vquery “red apples” 3", "red apples", 3),
        ("/VQUERY   red apples", "red apples", 5),
        ("/vquery what's red", "what's red", 5),
    ],
)
def test_a_query_is_quoted_or_not(chat: Chat, line: str, text: str, most: int) -> None:
    """A number may follow a quoted text; without quotation marks, everything is text."""
    for number in range(8):
        run(chat, f"/vadd red apples, what's red {number}")
    found = run(chat, line)
    assert (found.query, len(found.matches)) == (text, most)


def test_a_file_is_stored(chat: Chat, tmp_path: Path) -> None:
    """/vdoc with a path, and with a name from the documents folder."""
    (tmp_path / "retries.md").write_text("# Retries\n\nThey back off.\n")
    (tmp_path / "docs" / "caches.txt").write_text("They keep answers.")
    run(chat, f"/vdoc {tmp_path / 'retries.md'}")
    run(chat, "/vdoc docs:caches.txt")
    sources = {match.remembered.source_file for match in run(chat, "/vquery They").matches}
    assert {Path(source.removeprefix("docs:")).name for source in sources} == {"retries.md", "caches.txt"}


def test_unusable_files_are_refused(chat: Chat, tmp_path: Path) -> None:
    """A directory, a missing, binary, too large or empty file: each has its message, and nothing is stored."""
    (tmp_path / "binary.md").write_bytes(bytes(range(256)) * 40)
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(51 * 2**20)
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "docs" / "link.txt").symlink_to(tmp_path / "secret.txt")
    names = [tmp_path, tmp_path / "none.md", tmp_path / "binary.md", tmp_path / "large.txt", tmp_path / "empty.txt"]
    names += ["docs:../secret.txt", "docs:link.txt", f"docs:{tmp_path / 'secret.txt'}", "\\x00.txt"]
    told = {wrong(chat, f"/vdoc {name}") for name in names}
    assert len(told) == len(names)
    assert run(chat, "/vquery outside").matches == ()


def test_a_line_of_5000_characters_is_stored(chat: Chat, tmp_path: Path) -> None:
    """It is split into numbered passages."""
    (tmp_path / "line.txt").write_text("word " * 1_000)
    run(chat, f"/vdoc {tmp_path / 'line.txt'}")
    found = run(chat, '/vquery "word" 50').matches
    assert len(found) == found[0].remembered.total_chunks > 3
    assert sorted(match.remembered.chunk_index for match in found) == list(range(len(found)))


def test_memories_are_shown_by_id(chat: Chat) -> None:
    """An exchange by its id; this session and this thread by name; a thread by a prefix of its id."""
    say(chat, "red", "blue")
    first, second = chat.earlier
    assert run(chat, f"/vget {first.id}") == MemoryDetails((first,))
    for line in ("/vget session", "/vget thread", f"/vget thread {chat.thread_id[:8]}", f"/vget {chat.session_id}"):
        assert [each.id for each in run(chat, line).remembered] == [first.id, second.id], line


def test_an_exchange_is_deleted_once(chat: Chat) -> None:
    """Afterwards its id is reported as unknown."""
    say(chat, "red", "blue")
    id_ = chat.earlier[0].id
    assert isinstance(run(chat, f"/vdelete {id_}"), Notice)
    assert "delete" not in wrong(chat, f"/vdelete {id_}").split(";")[0]
    assert [each.user_message for each in run(chat, "/vget thread").remembered] == ["blue"]


@pytest.mark.parametrize("command", ["/vget", "/vdelete", "/continue"])
def test_an_unknown_id_is_reported(chat: Chat, command: str) -> None:
    """The conversation is unchanged."""
    say(chat, "red")
    before = (chat.thread_id, chat.session_id, list(chat.earlier))
    assert wrong(chat, f"{command} 00000000-0000-4000-8000-000000000000")
    assert wrong(chat, f"{command} zzzzzz")
    assert before == (chat.thread_id, chat.session_id, chat.earlier)


def test_statistics_and_threads(chat: Chat, memory: Memory, clock: FakeClock) -> None:
    """Counts; then threads, the last used first, with their first message."""
    say(chat, "red")
    clock.advance(60)
    other = Chat(EchoModel(), memory, clock=clock)
    say(other, "blue", "green")
    assert isinstance(run(chat, "/vstats"), MemoryStats)
    listed = run(chat, "/threads")
    assert isinstance(listed, ThreadList)
    assert [(each.title, each.exchanges) for each in listed.threads] == [("blue", 2), ("red", 1)]
    assert listed.current == chat.thread_id


def test_a_thread_is_continued_in_a_new_session(chat: Chat, memory: Memory, clock: FakeClock) -> None:
    """Its exchanges are loaded in order of time; the next one has the next continuation and lists the earlier ones."""
    say(chat, "red")
    clock.advance(60)
    say(chat, "blue")
    later = Chat(EchoModel(), memory, clock=clock)
    say(later, "something else")
    session = later.session_id
    continued = run(later, f"/continue {chat.thread_id[:8]}")
    assert isinstance(continued, Continued)
    assert [each.user_message for each in continued.exchanges] == ["red", "blue"]
    assert (later.thread_id, continued.continuation) == (chat.thread_id, 1)
    assert later.session_id not in {session, chat.session_id}
    say(later, "green")
    held = memory.listing.thread(chat.thread_id)
    assert [each.thread_continuation_seq for each in held] == [0, 0, 1]
    assert held[2].prior_exchange_ids == (held[0].id, held[1].id)
    assert run(Chat(EchoModel(), memory), f"/continue {chat.thread_id}").continuation == 2


def test_an_ambiguous_prefix_names_both_threads(chat: Chat, memory: Memory) -> None:
    """No thread is chosen; the conversation is unchanged."""
    say(chat, "red")
    for number in (1, 2):
        exchange = Exchange(
            id=f"{number}0000000-0000-4000-8000-000000000000",
            thread_id=f"abcd000{number}-0000-4000-8000-000000000000",
            session_id="s", user_message=f"question {number}", assistant_message="a",
            timestamp="2026-11-22T10:00:00.000+00:00",
        )  # fmt: skip
        memory.writer.remember(exchange)
    before = (chat.thread_id, list(chat.earlier))
    told = wrong(chat, "/continue abcd")
    assert "abcd0001" in told
    assert "abcd0002" in told
    assert before == (chat.thread_id, chat.earlier)


def test_context_is_switched_and_summarised(chat: Chat, memory: Memory) -> None:
    """On, off, and the memories used for the last message."""
    run(chat, "/vadd staging is restarted on Monday")
    say(chat, "staging is restarted on Monday")
    summed = run(chat, "/context summary")
    assert isinstance(summed, Context)
    assert (summed.on, len(summed.matches), summed.exchanges) == (True, 1, 1)
    run(chat, "/context off")
    say(chat, "staging is restarted on Monday")
    summed = run(chat, "/context")
    assert (summed.on, summed.matches, summed.exchanges) == (False, (), 2)


def test_help_and_quit(chat: Chat) -> None:
    """Every command is listed; one is shown with examples; /quit ends the chat."""
    assert len(run(chat, "/help").lines) == len(COMMANDS)
    told = run(chat, "/help /vquery")
    assert isinstance(told, Help)
    assert told.examples
    assert run(chat, "/quit") == Quit()


def test_a_query_lists_the_most_similar_first(chat: Chat, memory: Memory) -> None:
    """In order of the shown similarity, also if a rare word ranks a memory higher."""
    run(chat, "/vadd zzyzx plays chess with my uncle on long winter evenings near the old harbour wall")
    for number in range(6):
        run(chat, f"/vadd apples from garden {number}")
    ranked = memory.search.query("zzyzx apples", 7)
    assert ranked[0].remembered.text.startswith("zzyzx")
    found = run(chat, '/vquery "zzyzx apples" 7').matches
    assert [each.similarity for each in found] == sorted((each.similarity for each in ranked), reverse=True)
    assert found[0].similarity > ranked[0].similarity


@pytest.mark.parametrize("name", ["research", "web", "url", "vadd", "vdoc", "vquery", "vget", "vdelete", "continue"])
def test_a_command_without_its_argument_shows_its_usage(chat: Chat, name: str) -> None:
    """With an example."""
    assert f"usage: {COMMANDS[name].usage}" in wrong(chat, f"/{name}")


@pytest.mark.parametrize(
    "line",
    ["/", "/ vadd x", "/nope", "/vstats now", "/threads all", "/quit now", "/context maybe", "/help nope",
     "/vget a b c", '/vquery "a" 0', '/vquery "a" 51', '/vquery "a" x', '/vquery "a" ²', '/vquery "" 2',
     "/continue a b", "/vdelete a b",
     f'/vquery "a" {"9" * 5_000}', f"/{'x' * 10_000}", f"/vadd {'x' * 300_000}"],
)  # fmt: skip
def test_errors_of_wrong_lines_are_one_line(chat: Chat, line: str) -> None:
    """The error stays short, and nothing is stored."""
    assert len(wrong(chat, line)) < 300
    assert run(chat, "/vquery x").matches == ()


def test_a_mistyped_name_gets_a_suggestion(chat: Chat) -> None:
    """The most similar command is named."""
    assert "/vquery" in wrong(chat, "/vqury red")


@pytest.mark.parametrize("line", [each.usage for each in COMMANDS.values() if each.needs_memory])
def test_without_a_memory_each_command_says_why(line: str) -> None:
    """The memory is disabled; the message says how to enable it."""
    chat = Chat(EchoModel(), None, why_no_memory="disabled; set enabled")
    assert "disabled; set enabled" in wrong(chat, line)


def test_a_failed_research_is_an_error(chat: Chat) -> None:
    """It raises like any other failure, and nothing is stored."""

    def fails(question: str) -> Any:
        raise HarnessError(f"cannot research {question}")

    chat.services = ChatServices(research=fails)
    with pytest.raises(HarnessError, match="cannot research red"):
        run(chat, "/research red")
    assert chat.earlier == []
