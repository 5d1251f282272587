"""Phrases around a question that change nothing: `does anyone know`, `quick question:`, `any ideas?`."""

import re
from random import Random

from training.rewordings.embedding import embedded
from training.rewordings.shape import (
    begins_small,
    is_keywords,
    is_one_sentence,
    is_question,
    like_start,
    lowered_start,
    split_end,
)

_BEFORE = ("Question: ", "Quick question: ", "Just curious: ", "Serious question: ", "So, ", "Ok so ",
    "Out of curiosity, ",
    "My question is: ", "I have a question: ", "Just wondering, ", "I was wondering, ", "Need help: ", "Curious: ",
    "Quick question - ", "Well, ", "A question: ", "One question: ", "Honest question: ", "Stupid question but ",
    "I have a doubt: ", "Dumb question, but ", "Simple question: ", "Genuine question: ", "Anyone know: ", "Ok, ",
    "Here is my question: ", "Newbie question: ", "I've been wondering: ", "I keep asking myself, ")  # fmt: skip
_AFTER = (" Any ideas?", " Any idea?", " Any help would be appreciated.", " Just curious.", " Anyone?",
    " Just wondering.",
    " Does anyone know?", " Anybody know?", " I've been wondering about this.", " I can't figure it out.", " Any help?",
    " I'm curious.", " Do you know?", " I need to know.", " I am confused.", " I really want to know.",
    " Any suggestions?",
    " I would appreciate any help.", " Can anyone help?", " I have no idea.", " Not sure about this.")  # fmt: skip
_AROUND = ("Does anyone know {}", "Does anybody know {}", "Do you know {}", "I was wondering {}", "I am wondering {}",
    "I need to know {}", "I want to find out {}", "Anyone know {}", "I'm trying to find out {}",
    "Does anyone here know {}",
    "I am curious {}", "I've been wondering {}", "I'm not sure {}", "I want to understand {}", "I wonder {}",
    "Do any of you know {}", "I have always wondered {}", "My question is {}", "Has anyone figured out {}",
    "I'd be interested to know {}", "Trying to figure out {}", "Any idea {}",
    "I am looking to find out {}")  # fmt: skip
_ASKING_FRAMES = ("do", "has", "any")
_TOPIC = ("information about {}", "information on {}", "{} information", "info on {}", "find information about {}",
    "tell me about {}", "search for {}", "looking for information on {}", "i want to know about {}", "info about {}",
    "find {}", "{} info", "i am looking for {}", "learn about {}", "facts about {}", "details about {}",
    "show me {}", "results for {}", "google {}", "articles about {}")  # fmt: skip
_TOPIC_FIRST = re.compile(
    r"\A(?:(?:find |looking for )?(?:information|info|details) (?:about|on|regarding) (?:the )?|tell"
    r" me about (?:the )?|search for "
    r"|looking for )(?=\w+)",
    re.IGNORECASE,
)
_FRAMED = re.compile(
    r"\A\s*(?:(?:quick |serious |general |simple |stupid |dumb )?question\s*[:,-]\s*|just (?:curious"
    r"|wondering)\s*[:,]\s*"
    r"|(?:i was|i am|i'm|was) (?:just )?wondering\s*[:,]?\s*|(?:does|do) (?:anyone|anybody|you|any"
    r" one) (?:here )?know\s*[:,]?\s*"
    r"|so,\s*|out of curiosity,\s*|my question is\s*[:,]?\s*|i have a question[:.,]\s*|(?:in your"
    r" opinion|according to you),?\s*)"
    r"(?=(?:what|how|why|when|where|who|which|is|are|can|could|do|does|should|will|would)\b)",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"(?<=[?.])\s*(?:any (?:ideas?|suggestions?|advice|help|thoughts)(?: (?:would be|is)"
    r" appreciated)?|just (?:curious|wondering)"
    r"|i am confused|i'm confused|anyone)[\s?.!]*\Z",
    re.IGNORECASE,
)


class Frames:
    """Puts a phrase around a question or a search line that changes nothing, or takes one away."""

    name = "frames"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        for pattern in (_FRAMED, _ENDED):
            cut = pattern.sub("", text)
            if cut != text and len(cut.split()) > 2 and chance.random() < 0.8:
                return like_start(cut, text)
        if is_keywords(text):
            return _topic(text, chance)
        if not is_question(text) and text.rstrip().endswith("?") and not is_one_sentence(text):
            return _after(text, chance)
        if not is_question(text) or '"' in text:
            return None
        ways = [_before, _after, _around, _around]
        for way in chance.sample(ways, len(ways)):
            varied = way(text, chance)
            if varied is not None:
                return varied.lower() if text == text.lower() else varied
        return None


def _before(text: str, chance: Random) -> str:
    frame = chance.choice(_BEFORE)
    keep = frame.endswith(": ") and chance.random() < 0.5
    return (frame.lower() if begins_small(text) else frame) + (text if keep else lowered_start(text))


def _after(text: str, chance: Random) -> str:
    end = "" if text.rstrip()[-1:] in {"?", "."} else "?"
    return text.rstrip() + end + chance.choice(_AFTER)


def _around(text: str, chance: Random) -> str | None:
    if not is_one_sentence(text):
        return None
    body, end = split_end(text)
    inner = embedded(body, chance)
    if inner is None:
        return None
    frame = chance.choice(_AROUND)
    if not frame.lower().startswith(_ASKING_FRAMES):
        end = chance.choice(["", ".", end])
    return frame.format(inner) + end


def _topic(text: str, chance: Random) -> str | None:
    bare = _TOPIC_FIRST.sub("", text.strip())
    if bare != text.strip():
        return bare
    if len(text.split()) < 2 or text.lower().split()[0] in {
        "find",
        "how",
        "buy",
        "best",
        "define",
        "compare",
        "the",
        "download",
    }:
        return None
    return chance.choice(_TOPIC).format(text.strip())
