"""Chat commands about the context of a conversation: what is looked up for it, its model, settings and prompt."""

from msgspec.structs import replace

from harness.chat.command_results import Cleared, Notice, Outcome, PromptView, SettingList, TextsAdded
from harness.chat.conversation import Chat
from harness.chat.exchanges import new_id
from harness.core.text import one_line, shorten
from harness.errors import InvalidInput

SHORT_ID = 8


def web(chat: Chat, rest: str) -> Outcome:
    """Search the web through the cache, and add the results to the context.

    Raises:
        InvalidInput: this conversation has no search.
        SearchError, OfflineMiss: the search failed.
    """
    if chat.services.search is None:
        raise InvalidInput("this chat cannot search; use `harness search`")
    found = chat.services.search(rest)
    chat.add_texts(found.texts[::-1])  # the last is the first in the prompt
    return TextsAdded(found, len(chat.looked_up), has_model=chat.model is not None)


def url(chat: Chat, rest: str) -> Outcome:
    """Read a page through the cache, and add its text to the context.

    Raises:
        InvalidInput: not an address, or this conversation reads no pages.
        PageError, OfflineMiss: the page cannot be read.
    """
    if chat.services.read is None:
        raise InvalidInput("this chat cannot read pages; use `harness read`")
    if len(rest.split()) != 1:
        raise InvalidInput(f"/url takes one address, not {shorten(one_line(rest), 60)!r}; /web QUERY searches")
    found = chat.services.read(rest)
    chat.add_texts(found.texts)
    return TextsAdded(found, len(chat.looked_up), has_model=chat.model is not None)


def model(chat: Chat, rest: str) -> Outcome:
    """Show the language model, or change it for the rest of this conversation.

    Raises:
        InvalidInput: the model cannot be used, or this conversation cannot change it.
    """
    if rest:
        if len(rest.split()) != 1:
            raise InvalidInput(f"a model has a name without spaces, not {shorten(one_line(rest), 60)!r}")
        if chat.services.model_named is None:
            raise InvalidInput("this chat cannot change its model; start it again with --model NAME")
        chat.model = chat.services.model_named(rest)
        settings = [
            replace(each, value=chat.model.name, origin="/model") if each.name == "model" else each
            for each in chat.services.settings
        ]
        chat.services = replace(chat.services, settings=settings)
        return Notice(f"{chat.model.name} at {chat.model.endpoint} answers from the next message on")
    if chat.model is None:
        return Notice("no model: messages are answered with memories; /model NAME chooses one")
    return Notice(f"{chat.model.name} at {chat.model.endpoint}; /model NAME changes it for this chat")


def config(chat: Chat, rest: str) -> Outcome:
    """Show the settings that differ from their defaults, or those whose names begin with a text.

    Raises:
        InvalidInput: no setting begins so, or this conversation has no settings.
    """
    settings = chat.services.settings
    if not settings:
        raise InvalidInput("this chat has no settings to show; `harness config` shows all")
    name = rest.lower().replace("-", "_")
    shown = tuple(each for each in settings if (each.name.startswith(name) if name else each.origin != "default"))
    if name and not shown:
        raise InvalidInput(f"no setting begins with {shorten(rest, 40)!r}; `harness config` lists all")
    return SettingList(shown, 0 if name else len(settings) - len(shown))


def clear(chat: Chat, _rest: str) -> Outcome:
    """Start a new thread: forget the conversation and its context, but nothing that is stored."""
    thread, exchanges = chat.thread_id, len(chat.earlier)
    chat.begin(new_id())
    if not exchanges:
        return Cleared("cleared; nothing was stored of this conversation")
    many, stay = ("1 exchange", "stays") if exchanges == 1 else (f"{exchanges} exchanges", "stay")
    if chat.memory is None or not chat.remembers:
        return Cleared(f"cleared: {many}; nothing of this conversation is stored")
    short = thread[:SHORT_ID]
    return Cleared(
        f"cleared; {many} {stay} stored as thread {short}: /continue {short} continues it, "
        f"`harness memory forget --thread {short}` deletes it"
    )


def showcontext(chat: Chat, rest: str) -> Outcome:
    """Show the messages that the model would get with a message, and their estimated size."""
    prompt, warnings = chat.prompt_with(rest)
    return PromptView(prompt, chat.budget, searched=bool(rest) and chat.memory is not None, warnings=warnings)
