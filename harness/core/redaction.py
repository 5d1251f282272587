"""Redaction of secrets in texts before they are stored: keys and tokens of common providers, passwords.

A secret is recognised by its form (`ghp_…`), or by a name before it (`password=…`) and a plausible value. Random text
alone (a hash, a UUID, a commit id) is not a secret. Nothing is sent anywhere to test it.

The built-in patterns take linear time: each begins with fixed letters, repeats single characters a bounded number of
times or without backtracking, and looks ahead a bounded number of characters.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness.core.patterns import MAX_REPETITIONS, repetitions
from harness.core.text import clean, one_line
from harness.errors import InvalidInput

MAX_PATTERNS = 50
MAX_PATTERN_CHARS = 500
PATTERN_SECONDS = 1.0
"""Time limit of one custom pattern for a text, plus `SECONDS_A_CHAR` for each character."""
SECONDS_A_CHAR = 1e-6
MAX_PASSES = 10
"""A custom pattern that still matches after this many passes matches its own masks."""
MAX_VALUE = 300
"""Characters of a value after a name that are checked."""

_FORMS = (
    ("harness-token", "hrn_", r"[\w-]{2,90}\.[0-9a-f]{16}\.[\w-]{20,}+"),
    ("anthropic-key", "sk-ant-", r"(?=[\w-]{0,60}\d)[\w-]{20,}+"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf-", r"(?=[\w-]{0,60}\d)[\w-]{20,}+"),
    ("openai-key", "sk-", r"(?=[a-zA-Z]{0,60}\d)[^\W_]{20,}+"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[^\W_]{30,}+"),
    ("github-token", "github_pat_", r"\w{22,}+"),
    ("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent-", r"[\w.-]{20,}+"),
    ("aws-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![\w-])"),
    ("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"(?=[\w-]{0,20}\d)[\w-]{10,}+"),
    ("webhook", "hooks.slack.com/services/", r"[\w/]{20,}+"),
    ("webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"\d{10,25}/[\w-]{30,}+"),
    ("google-key", "AIza", r"[\w-]{35,}+"),
    ("google-key", "ya29. GOCSPX-", r"[\w.-]{20,}+"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[^\W_]{16,}+"),
    ("stripe-key", "whsec_", r"[\w+/=-]{24,}+"),
    ("huggingface-token", "hf_", r"[^\W_]{30,}+"),
    ("npm-token", "npm_", r"[^\W_]{36,}+"),
    ("pypi-token", "pypi-AgE", r"[\w-]{50,}+"),
    ("sendgrid-key", "SG.", r"[\w-]{16,32}\.[\w-]{16,}+"),
    ("twilio-key", "SK", r"[0-9a-f]{32}(?![\w-])"),
    ("telegram-token", ":AA", r"(?<=\d{8}:AA)[\w-]{33}(?![\w-])"),
    ("digitalocean-token", "doo_v1_ dop_v1_ dor_v1_", r"[0-9a-f]{40,}+(?![\w-])"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32,}+(?![\w-])"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![\w-])"),
    ("vault-token", "hvs. hvb.", r"(?=[\w-]{0,60}\d)[\w-]{24,}+"),
    ("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{50,}+(?![\w-])"),
    ("provider-key", "gsk_ xai- pplx- tvly- r8_ fw_ lin_api_ ntn_ nvapi-", r"(?=[\w-]{0,30}\d)[\w-]{20,}+"),
    ("jwt", "eyJ", r"[\w-]{12,}+(?:\.[\w-]*+){2,4}"),
)
"""Kinds of secrets, their beginnings and the rest. A beginning with a letter does not match inside a word."""


def _form(begin: str, rest: str) -> re.Pattern[str]:
    """Compile a form. Its fixed letters come first, so that the search can skip to their next occurrence."""
    begin = re.escape(begin)
    return re.compile(begin + (rf"(?<![\w-]{begin})" if begin[0].isalpha() else "") + rest, re.ASCII)


# Groups are not possessive: before 3.11.5, Python matches such patterns wrongly (gh-100061, gh-106052).
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----)){0,40000}-----END [A-Z0-9 ]{0,60}-----"
    r"|(?:(?:\s|\\[nr]){1,4}[A-Za-z0-9+/=]{16,100})*)"  # a truncated key: the lines that can belong to it
)
_KEYS = [
    ("private-key", _PRIVATE_KEY),
    *((kind, _form(begin, rest)) for kind, begins, rest in _FORMS for begin in begins.split()),
]
_URL_PASSWORD = re.compile(r"://[^\s/@:\"'<>?#]{0,100}:(?P<value>[^\s/\"'<>?#]{1,200})@")

_SETS = r"""\\?["'`]?[ \t]{0,5}(?::[ ]?(?:str|string)[ ]?=|=>|:=|=|:)(?!=)[ \t]{0,5}"""
_KEY_OF = "api access secret private encryption signing account master auth service subscription".split()
_NAMES = [
    (kind, re.compile(name))
    for kind, name in (
        ("password", "pass(?:word|wd|phrase|code)" + _SETS),
        ("password", "pwd" + _SETS),
        ("secret", "key(?:" + "|".join(f"(?<={word}key)|(?<={word}[_-]key)" for word in _KEY_OF) + ")" + _SETS),
        ("secret", "secret" + _SETS),
        ("secret", "credentials?" + _SETS),
        ("secret", "token(?<!pagetoken)(?<!page_token)(?<!nexttoken)(?<!next_token)" + _SETS),
        ("secret", "sig(?<=[?&]sig)(?:nature)?="),
        ("secret", "x-amz-signature="),
        ("prose", r"pass(?:word|phrase|code)[ \t](?:is|was)[ \t]:?"),
        ("header", r"""authorization["'`]?[ \t]{0,5}[:=][ \t]{0,5}["'`]?[a-z]{1,20}[ \t]{1,5}"""),
        ("bearer", r"bearer(?<![a-z0-9_-]bearer)[ \t]{1,5}"),
    )
]
"""Names before a secret, in lower case."""
_KIND_OF = {"prose": "password", "header": "bearer-token", "bearer": "bearer-token"}
_BARE = r"[^\s\"'`<>&;,(){}\[\]|\\]"
_VALUE = re.compile(
    rf"\"(?P<double>[^\"\s]{{4,{MAX_VALUE}}}+)\"|'(?P<single>[^'\s]{{4,{MAX_VALUE}}}+)'"
    rf"|\\?[\"'`]?(?P<bare>{_BARE}{{4,{MAX_VALUE}}}+)"
)
_REST = re.compile(_BARE + "*+")
_NO_SECRET = re.compile(
    r"(?i)\[redacted:|[$#@%]?[{<(\[]|\$[a-z_]|%[a-z]|https?:|[-_*.•x]+$"
    r"|(?:none|null|nil|true|false|undefined|required|optional|string|example|changeme|value|your|test)(?![a-z0-9])"
)
_ALGORITHM = re.compile(r"(?i)(?:base|sha|md|utf|rot|aes|rsa|ed|hs|rs|es|argon|bcrypt|pbkdf|hmac|http|ascii|x)-?\d")
_NAMES_A_SECRET = re.compile(r"(?i)pass|pwd|secret|token|key|cred|auth")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_HUMP = re.compile("[a-z][A-Z]")
_SIGN = re.compile(r"[!@#$%^*+~?][A-Za-z0-9]")
_MASK = re.compile(r"\[redacted:[a-z-]{1,40}\]")


class _Span(NamedTuple):
    """The position and kind of a secret in a text."""

    start: int
    end: int
    kind: str


class Redactor:
    """Redactor of secrets recognised by form or name, and of matches of `patterns`.

    `patterns` are up to `MAX_PATTERNS` regular expressions (of the package `regex`) of up to `MAX_PATTERN_CHARS`
    characters; each whole match is masked as `[redacted:custom]`. Safe to share between threads.

    Raises:
        InvalidInput: too many patterns, or one that is too long, repeats too much, does not compile or
            matches the empty text.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        if len(patterns) > MAX_PATTERNS:
            raise InvalidInput(f"{len(patterns)} patterns to mask are too many; give at most {MAX_PATTERNS}")
        self._patterns = [_compiled(pattern) for pattern in patterns]

    def redact(self, text: str) -> tuple[str, int]:
        """Return `text` with each secret replaced by `[redacted:KIND]`, and the number of secrets.

        Of `password=…` only the value is replaced. Overlapping secrets are one, of the kind of the first. Masks stay
        unchanged: redacting again changes nothing and counts 0.

        Raises:
            InvalidInput: a custom pattern takes longer than `PATTERN_SECONDS` plus `SECONDS_A_CHAR` per character, or
                keeps matching its own masks.
        """
        masked = 0
        for _ in range(MAX_PASSES):  # a mask may have replaced a letter before the beginning of a secret
            text, found = self._masked(text)
            masked += found
            if not found:
                return text, masked
        raise InvalidInput(
            f"a pattern to mask still matches after {MAX_PASSES} passes; it must not match its own masks"
        )

    def _masked(self, text: str) -> tuple[str, int]:
        forms = (_Span(*found.span(), kind) for kind, form in _KEYS for found in form.finditer(text))
        spans = [*forms, *_named(text), *_in_urls(text), *self._given(text)]
        if not spans:
            return text, 0
        masks = [_Span(*mask.span(), "") for mask in _MASK.finditer(text)]
        parts, done, masked = list[str](), 0, 0
        for start, end, kind in _joined(sorted(masks + spans, key=lambda span: (span.start, -span.end))):
            if kind:
                parts += text[done:start], f"[redacted:{kind}]"
                done, masked = end, masked + 1
        return "".join((*parts, text[done:])), masked

    def _given(self, text: str) -> Iterator[_Span]:
        for pattern in self._patterns:
            try:
                for match in pattern.finditer(text, timeout=PATTERN_SECONDS + SECONDS_A_CHAR * len(text)):
                    if match.end() > match.start():
                        yield _Span(match.start(), match.end(), "custom")
            except TimeoutError as error:
                raise InvalidInput(
                    f"the pattern to mask {_shown(pattern.pattern)} takes too long for a text of {len(text):,} "
                    "characters; repeat nothing within a repetition"
                ) from error


def _joined(spans: Sequence[_Span]) -> Iterator[_Span]:
    """Join overlapping spans. A span inside an earlier mask is dropped; one that extends beyond it includes it."""
    held = _Span(0, 0, "")
    for span in spans:
        if span.start >= held.end:
            yield held
            held = span
        elif span.end > held.end:
            held = _Span(held.start, span.end, held.kind or span.kind)
    yield held


def _in_urls(text: str) -> Iterator[_Span]:
    """Yield the passwords of `scheme://user:password@host`."""
    for found in _URL_PASSWORD.finditer(text):
        value = found["value"]
        if not _NO_SECRET.match(value) and not (value.isalpha() and _NAMES_A_SECRET.search(value)):
            yield _Span(*found.span("value"), "password")


def _named(text: str) -> Iterator[_Span]:
    """Yield values after names such as `password=` that look like secrets of that kind."""
    small = text.replace("\u0130", "i").lower()  # the only letter with two characters in lower case
    for kind, pattern in _NAMES:
        done = 0
        for name in pattern.finditer(small):
            found = _VALUE.match(text, name.end()) if name.start() >= done else None
            if found and _is_secret(kind, name[0].endswith("="), found):
                start, end = found.span(str(found.lastgroup))
                rest = _REST.match(text, end) if found.lastgroup == "bare" else None
                done = rest.end() if rest else end
                yield _Span(start, done, _KIND_OF.get(kind, kind))


def _is_secret(kind: str, tight: bool, found: re.Match[str]) -> bool:
    """Return whether the text after a name is its value, not a placeholder, an expression or a word."""
    value = found[str(found.lastgroup)]
    after = found.string[found.end() : found.end() + 1]
    bare = found.lastgroup == "bare"
    names = _NAMES_A_SECRET.search(value) is not None
    if _NO_SECRET.match(value) or (bare and (after in {"(", "["} or (names and after in {",", ")"}))):
        return False
    digit = _DIGIT.search(value) is not None
    mixed = digit and _LETTER.search(value) is not None
    match kind:
        case "header":
            return len(value) >= 8 and (digit or _HUMP.search(value) is not None)
        case "bearer":
            return len(value) >= 16 and mixed
        case "prose":
            return len(value) >= 6 and mixed and not _ALGORITHM.match(value)
        case "secret":
            return len(value) >= 8 and mixed
        case _:  # a password that is assigned may be a word
            is_set = not bare or (tight and (not after or after in " \t\r\n&;\"'"))
            return digit or _SIGN.search(value) is not None or (is_set and not names)


def _compiled(pattern: str) -> Any:
    import regex  # unlike `re`, it has a time limit

    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise InvalidInput(f"a pattern to mask has 1 to {MAX_PATTERN_CHARS} characters, not {len(pattern)}")
    if repetitions(pattern) > MAX_REPETITIONS:
        raise InvalidInput(
            f"the pattern to mask {_shown(pattern)} repeats too much; its counts may multiply to {MAX_REPETITIONS:,}"
        )
    try:
        compiled = regex.compile(pattern)
        blank = compiled.fullmatch("", timeout=PATTERN_SECONDS)
    except TimeoutError as error:
        raise InvalidInput(f"the pattern to mask {_shown(pattern)} takes too long; make it simpler") from error
    except (regex.error, RecursionError, OverflowError, ValueError, TypeError) as error:
        raise InvalidInput(f"the pattern to mask {_shown(pattern)} does not compile: {one_line(str(error))}") from error
    if blank:
        raise InvalidInput(
            f"the pattern to mask {_shown(pattern)} matches the empty text, and so everywhere; make it longer"
        )
    return compiled


def _shown(pattern: str) -> str:
    return repr(clean(one_line(pattern), 100))
