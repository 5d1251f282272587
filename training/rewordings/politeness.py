"""Courtesies, added or taken away."""

import re
from random import Random

from training.rewordings.embedding import embedded
from training.rewordings.shape import (
    begins_small,
    is_one_sentence,
    is_question,
    like_start,
    lowered_start,
    split_end,
)

_GREETINGS = ("Hi, ", "Hello, ", "Hey, ", "Hi! ", "Hello! ", "Hi there, ", "Hey there, ", "Hi all, ",
    "Hello everyone, ",
    "Excuse me, ", "Please help: ", "Sorry to bother you, but ", "Good morning, ", "Good evening, ",
    "Hi - ")  # fmt: skip
_ASKED = ("Can you tell me {}", "Could you tell me {}", "Please tell me {}", "Can you please tell me {}",
    "Could you please explain {}", "I would like to know {}", "I'd like to know {}", "I want to know {}",
    "Tell me {}", "Please explain {}", "Would you mind telling me {}", "Can someone tell me {}",
    "Could somebody please tell me {}", "Kindly tell me {}", "Can anyone explain {}", "Let me know {}",
    "I would love to know {}", "Can you explain {}", "May I ask {}", "Pls tell me {}", "Hi, can you tell me {}",
    "Hello, could you please tell me {}", "Do you happen to know {}", "Could you let me know {}")  # fmt: skip
_THANKS = (" Thanks", " Thanks!", " Thank you.", " Thank you!", " Thanks in advance.", " Many thanks.", " Thx",
    " Thanks a lot!", " Thank you in advance", " Please help.", " Please advise.", " Please let me know.",
    " Thank you so much!", " Cheers!", " pls help", " Thanks for your help.")  # fmt: skip
_SHORT = 14
"""Words of a question that bears a `please` at its end."""
_STATED = ("i would", "i'd", "i want", "tell", "please", "kindly", "let me", "pls")

_GREETED = re.compile(
    r"\A\s*(?:hi|hello|hey|dear (?:sir|doctor)|excuse me|good (?:morning|evening|afternoon))"
    r"(?: (?:there|all|everyone|everybody|guys|doctor|doc|sir|madam|friends|folks))?\s*[,.!\-:]+\s*(?=\w)",
    re.IGNORECASE,
)
_BEGGED = re.compile(
    r"\A\s*(?:(?:please|kindly|pls|plz)[ ,]+(?:tell|explain)(?: to)? me[ ,:]*"
    r"|(?:can|could|would|will) (?:you|u|anyone|someone|anybody|somebody)(?: please| kindly)?"
    r" (?:tell|explain to|inform) (?:me|us)[ ,:]*"
    r"|i (?:would like|want|wanted|'d like|would love|wish|need) to know[ ,:]*"
    r"|tell me[ ,:]*)(?=(?:what|how|why|when|where|who|which)\b)",
    re.IGNORECASE,
)
_THANKED = re.compile(
    r"(?<=[?.!])\s*(?:many |kind )?(?:thanks|thank you|thank u|thx|ty|please help|pls help|please advise|please reply)"
    r"(?: (?:you|very much|so much|a lot|in advance|for your (?:help|time|answers?)|again|doctor|doc"
    r"|sir|me))*[\s.!]*\Z",
    re.IGNORECASE,
)
_PLEASE = re.compile(
    r"\s*,?\s*\b(?:please|pls|plz|kindly)\b,?(?=\s+(?!help|advi|let|tell|expl|repl|sugg|resp|give"
    r"|note|do|be|see|I\b|i\b)|[?.!]|\Z)",
    re.IGNORECASE,
)


class Politeness:
    """Adds a greeting, a polite request or thanks to a question, or takes them away."""

    name = "politeness"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        bare = _bare(text)
        if bare is not None and chance.random() < 0.7:
            return bare
        if not (is_question(text) or text.rstrip().endswith("?")) or '"' in text:
            return None
        ways = [_greeted, _thanked, _asked, _asked, _with_please]
        for way in chance.sample(ways, len(ways)):
            varied = way(text, chance)
            if varied is not None and varied != text:
                return varied
        return None


def _bare(text: str) -> str | None:
    for pattern in (_GREETED, _BEGGED):
        cut = pattern.sub("", text)
        if cut != text:
            return like_start(cut, text)
    for pattern in (_THANKED, _PLEASE):
        cut = pattern.sub("", text).lstrip()
        if cut != text.lstrip() and len(cut.split()) > 2:
            return like_start(cut, text)
    return None


def _greeted(text: str, chance: Random) -> str | None:
    greeting = chance.choice(_GREETINGS)
    rest = text if greeting.endswith(("! ", ": ")) and chance.random() < 0.5 else lowered_start(text)
    return (greeting.lower() if begins_small(text) else greeting) + rest


def _thanked(text: str, chance: Random) -> str | None:
    thanks = chance.choice(_THANKS)
    end = "" if text.rstrip()[-1:] in {"?", ".", "!"} else chance.choice(["?", ".", ","])
    return text.rstrip() + end + (thanks.lower() if begins_small(text) else thanks)


def _asked(text: str, chance: Random) -> str | None:
    if not is_one_sentence(text):
        return None
    question, end = split_end(text)
    inner = embedded(question, chance)
    if inner is None:
        return None
    frame = chance.choice(_ASKED)
    if frame.lower().startswith(_STATED):
        end = chance.choice(["", ".", end])
    asked = frame.format(inner) + end
    return asked.lower() if text == text.lower() else asked


def _with_please(text: str, chance: Random) -> str | None:
    question, end = split_end(text)
    if "please" in text.lower() or not end or not is_one_sentence(text) or len(text.split()) > _SHORT:
        return None
    return question + chance.choice([", please", " please", " pls"]) + end
