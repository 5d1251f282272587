"""Secrets are masked before anything is stored; other text is unchanged."""

import re
import unicodedata
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core import redaction
from harness.core.redaction import MAX_PATTERN_CHARS, MAX_PATTERNS, Redactor
from harness.errors import InvalidInput

# concatenated here, so that secret scanners find none in this file
HEX = "0123456789abcdef" * 4
BASE = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 6
KEYS = {
    "harness-token": ["hrn_" + "bGFi." + HEX[:16] + "." + BASE[:43]],
    "anthropic-key": ["sk-" + "ant-api03-" + BASE[:40] + "-" + BASE[:40] + "AA"],
    "openai-key": ["sk-" + BASE[:48], "sk-" + "proj-" + BASE[:60] + "_" + BASE[:60], "sk-" + "or-v1-" + HEX],
    "github-token": [
        "ghp" + "_" + BASE[:36],
        "gho" + "_" + BASE[:36],
        "github" + "_pat_" + BASE[:22] + "_" + BASE[:59],
    ],
    "gitlab-token": ["glpat" + "-" + BASE[:20]],
    "aws-key": ["AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "IOSFODNN7EXAMPLE"],
    "slack-token": ["xoxb" + "-123456789012-1234567890123-" + BASE[:24], "xapp" + "-1-A0123-456-" + HEX],
    "webhook": ["hooks.slack.com/" + "services/T0123/B0456/" + BASE[:24]],
    "google-key": ["AIza" + "Sy" + BASE[:33], "ya29" + "." + BASE[:60], "GOCSPX" + "-" + BASE[:28]],
    "stripe-key": ["sk" + "_live_" + BASE[:24], "rk" + "_test_" + BASE[:24], "whsec" + "_" + BASE[:32]],
    "huggingface-token": ["hf" + "_" + BASE[:34]],
    "npm-token": ["npm" + "_" + BASE[:36]],
    "pypi-token": ["pypi" + "-AgEIcHlwaS5vcmc" + BASE[:80]],
    "sendgrid-key": ["SG" + "." + BASE[:22] + "." + BASE[:43]],
    "twilio-key": ["SK" + HEX[:32]],
    "digitalocean-token": ["dop" + "_v1_" + HEX],
    "shopify-token": ["shpat" + "_" + HEX[:32]],
    "databricks-token": ["dapi" + HEX[:32]],
    "vault-token": ["hvs" + "." + BASE[:30]],
    "age-key": ["AGE-SECRET-" + "KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2],
    "provider-key": ["gsk" + "_" + BASE[:52], "tvly" + "-" + BASE[:32], "r8" + "_" + BASE[:37]],
    "jwt": [
        "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxIn0." + BASE[:43],
        "eyJ" + BASE[:20] + ".." + BASE[:5] + "." + "a.b",
    ],
}
EACH_KEY = [(kind, key) for kind, keys in KEYS.items() for key in keys]
PEM = "-----BEGIN {0}PRIVATE KEY{1}-----\n" + f"{BASE[:64]}\n" * 3 + "-----END {0}PRIVATE KEY{1}-----"
REDACTOR = Redactor()


def redacted(text: str) -> str:
    """Return the text without its secrets."""
    return REDACTOR.redact(text)[0]


@pytest.mark.parametrize(("kind", "key"), EACH_KEY)
@pytest.mark.parametrize(
    "around", ["{}", "use {} now", "key={};", '"{}"', "中文{}。中文", "(see {}).", "a\n{}\nb", "https://h/?k={}&a=b"]
)
def test_a_key_is_masked_anywhere(kind: str, key: str, around: str) -> None:
    """Recognised by its form; nothing else changes."""
    assert REDACTOR.redact(around.format(key)) == (around.format(f"[redacted:{kind}]"), 1)


@pytest.mark.parametrize(
    "names", [("", ""), ("RSA ", ""), ("OPENSSH ", ""), ("EC ", ""), ("ENCRYPTED ", ""), ("PGP ", " BLOCK")]
)
def test_a_private_key_is_masked_as_one(names: tuple[str, str]) -> None:
    """With its first and last line; also in JSON with escaped line ends."""
    key = PEM.format(*names)
    assert redacted(f"before\n{key}\nafter") == "before\n[redacted:private-key]\nafter"
    assert redacted('{"k": "' + key.replace("\n", "\\n") + '\\n"}') == '{"k": "[redacted:private-key]\\n"}'


def test_a_private_key_that_was_cut_off_is_masked() -> None:
    """Exactly its lines."""
    cut = PEM.format("", "").split("-----END", maxsplit=1)[0]
    assert redacted(f"{cut}\nWhat follows is prose.") == "[redacted:private-key]\n\nWhat follows is prose."


def test_a_telegram_token_is_masked_after_its_number() -> None:
    """The number before it is public."""
    assert redacted("12345678:AA" + BASE[:33]) == "12345678[redacted:telegram-token]"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password=hunter2", "password=[redacted:password]"),
        ("password=letmein", "password=[redacted:password]"),
        ("PGPASSWORD=letmein psql", "PGPASSWORD=[redacted:password] psql"),
        ("db_password: s3cret!x", "db_password: [redacted:password]"),
        ('{"password": "letmein", "user": "ada"}', '{"password": "[redacted:password]", "user": "ada"}'),
        ('{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"[redacted:password]\\"}'),
        ("'passwd' => 'a(b)c,d'", "'passwd' => '[redacted:password]'"),
        ('password: str = "hunter2"', 'password: str = "[redacted:password]"'),
        ("https://h/?user=ada&password=letmein&x=1", "https://h/?user=ada&password=[redacted:password]&x=1"),
        ("postgresql://ada:letmein@db/harness", "postgresql://ada:[redacted:password]@db/harness"),
        ("redis://:p@ss@cache:6379/0", "redis://:[redacted:password]@cache:6379/0"),
        ("pwd=пароль1;", "pwd=[redacted:password];"),
        ("My password is hunter2x, remember it", "My password is [redacted:password], remember it"),
        ("API_KEY=" + HEX[:20], "API_KEY=[redacted:secret]"),
        ("apiKey: '" + BASE[:20] + "'", "apiKey: '[redacted:secret]'"),
        ("aws_secret_access_key = " + BASE[:30] + "/+", "aws_secret_access_key = [redacted:secret]"),
        ("?access_token=" + HEX + "#top", "?access_token=[redacted:secret]"),
        ("AccountKey=" + BASE[:40] + "==;End", "AccountKey=[redacted:secret];End"),
        ("?sv=2024&sig=" + BASE[:30] + "%3D&x", "?sv=2024&sig=[redacted:secret]&x"),
        ("İ token=" + HEX, "İ token=[redacted:secret]"),
        ("Authorization: Bearer " + BASE[:30], "Authorization: Bearer [redacted:bearer-token]"),
        ("authorization: basic " + "dXNlcjpwYXNzd29yZA==", "authorization: basic [redacted:bearer-token]"),
        ("curl -H 'Bearer " + HEX + "'", "curl -H 'Bearer [redacted:bearer-token]'"),
        ("password=" + "a1" * 5_000 + " x", "password=[redacted:password] x"),
    ],
)
def test_the_value_after_a_name_is_masked(text: str, masked: str) -> None:
    """In configuration, URLs, JSON and code; the name stays."""
    assert REDACTOR.redact(text) == (masked, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Password: required. Choose a password that you do not use elsewhere, and never tell it.",
        "The password is required, and the token is base64-encoded. A password is sha256-hashed.",
        "Tokens: the model reads 256 tokens; token = word. Secret: none. The secret is out!",
        "He was the bearer of bad news; bearer authentication-with-tokens is another thing.",
        "password = getpass.getpass()\ntoken = tokenizer.next_token2()\nlogin(user=user, password=password)",
        "def login(user: str, password: str, token: str | None = None) -> None:",
        "client = Client(password=config.password, api_key=os.environ['API_KEY2'], token=tokens[1234])",
        "token_ids = [1, 2, 3]; max_token=4096; next_token=abcdef123456; eos_token='</s>'; token='hello'",
        "run(entity_mask2_token=entity_mask2_token, private_key: ed25519.Ed25519PrivateKey, x)",
        'if token == "abc12345678": pass',
        "password=${DB_PASSWORD} password=$PASSWORD1 password={{ pw1 }} password=<your-password1> password=%(pw1)s",
        'password="****" password=xxxxxxxx api_key="your-api-key-1" token=<token1234> password: null',
        '<input type="password" name="password" id="password2"> <label for="password">Password:</label>',
        '"labels": {"password": "Password", "forgot": "Forgot your password?"}',
        "commit 952a6835c1f6a9b1a1d0c8a4a0a3f9d7a1e2b3c4, also 952a683",
        "sha256:" + HEX + " md5 d41d8cd98f00b204e9800998ecf8427e",
        "123e4567-e89b-12d3-a456-426614174000 {550E8400-E29B-41D4-A716-446655440000}",
        "integrity sha512-" + BASE[:86] + "==",
        "data:image/png;base64," + BASE,
        "https://example.org:8080/a/b@c?q=1&page=2#top mailto:ada@example.org git@github.com:ada/harness.git",
        "https://example.org/sk-learn-2024-a-long-slug-of-a-page/task-1234567890abcdefghij0",
        "https://ada@example.org/ https://user:password@example.org https://${USER}:${PASS}@host",
        "class='sk-toggleable__label-arrow' sk-bratislava-2024-hotel-review-of-the-year",
        "task-1234567890abcdefghijklmn risk-abcdefghijklmnopqrstuv1 desk_live_abcdefghijklmnopqrst",
        "arn:aws:iam::123456789012:role/AKIA doi:10.1000/182 ISBN 978-3-16-148410-0 +49 30 1234567",
        "-----BEGIN CERTIFICATE-----\n" + BASE[:64] + "\n-----END CERTIFICATE-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + BASE[:43] + " ada@host",
        "A file begins with -----BEGIN and ends elsewhere. eyJhbGciOiJub25lIn0 is a part of a token",
        "密码：请输入密码。 пароль: введите пароль. 👩\u200d🔬 naïve e\u0301",
        '[redacted:jwt] password=[redacted:password] http://u:[redacted:password]@h "token": "[redacted:secret]"',
    ],
)
def test_other_text_stays(text: str) -> None:
    """Prose, code, placeholders, hashes, identifiers, URLs, public keys, earlier masks."""
    assert REDACTOR.redact(text) == (text, 0)


def test_all_secrets_of_a_text_are_counted() -> None:
    """Each is masked and counted separately."""
    key = KEYS["github-token"][0]
    assert REDACTOR.redact(f"{key} and {key}, password=hunter2") == (
        "[redacted:github-token] and [redacted:github-token], password=[redacted:password]",
        3,
    )


def test_secrets_that_overlap_are_one() -> None:
    """A key that is the value of a name is masked as the first of them, or as a whole."""
    assert REDACTOR.redact("api_key=" + KEYS["openai-key"][0]) == ("api_key=[redacted:openai-key]", 1)


# parts of secrets and separators, so that one may hide another
FRAGMENTS = [key for _, key in EACH_KEY] + [
    *(
        "password=",
        "token: ",
        "Bearer ",
        "://u:",
        "@h",
        "hunter2x",
        "abc12345",
        PEM.format("", ""),
        "[redacted:jwt]",
        "İ",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-",
        "_",
        ".",
        " ",
        "\n",
        '"',
        "'",
        "[",
        "]",
        ":",
        "é",
        "e\u0301",
        "中",
        "🦄",
        "sk-",
        "eyJ",
    ),
]
TEXT = st.one_of(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.text(max_size=100))


@settings(deadline=None, max_examples=100)
@given(text=TEXT)
def test_redacting_again_changes_nothing(text: str) -> None:
    """With any text next to a secret."""
    once, _ = REDACTOR.redact(text)
    assert REDACTOR.redact(once) == (once, 0)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    text=TEXT, pattern=st.sampled_from(["x", ".", r"\w+", r"\d{3}", "(?s).*e", r"\[.", r"red", "[^a]+", r"\X", "(?i)É"])
)
def test_redacting_again_changes_nothing_with_custom_patterns(text: str, pattern: str) -> None:
    """Also for patterns that match parts of masks; on slow machines too."""
    with mock.patch.object(redaction, "PATTERN_SECONDS", 60.0):
        redactor = Redactor([pattern])
        once, _ = redactor.redact(text)
        assert redactor.redact(once) == (once, 0)


@settings(deadline=None, max_examples=100)
@given(text=TEXT)
def test_only_masks_are_inserted(text: str) -> None:
    """The text between the masks is the original, in order, character by character."""
    at = 0
    for part in re.split(r"\[redacted:[a-z-]+\]", redacted(text)):
        assert text.find(part, at) >= at
        at = text.find(part, at) + len(part)


def test_only_one_letter_is_longer_in_lower_case() -> None:
    """Names are searched in the lower-cased text, values at the same position in the original."""
    assert [char for char in map(chr, range(0x110000)) if len(char.lower()) != 1] == ["\u0130"]
    assert unicodedata.name("\u0130") == "LATIN CAPITAL LETTER I WITH DOT ABOVE"


# --- custom patterns


def test_custom_patterns_are_masked() -> None:
    """In addition to the built-in ones."""
    redactor = Redactor([r"EMP-\d{6}", r"(?i)project\s+tern"])
    assert redactor.redact("EMP-123456 of Project Tern: password=hunter2") == (
        "[redacted:custom] of [redacted:custom]: password=[redacted:password]",
        3,
    )


def test_a_custom_pattern_does_not_change_masks() -> None:
    """Masks stay unchanged; a match that extends beyond a mask includes it."""
    assert Redactor(["redacted|jwt"]).redact("[redacted:jwt]") == ("[redacted:jwt]", 0)
    assert Redactor(["a.*b"]).redact("a [redacted:jwt] b") == ("[redacted:custom]", 1)


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (["a"] * (MAX_PATTERNS + 1), "too many"),
        (["a" * (MAX_PATTERN_CHARS + 1)], "1 to 500 characters"),
        ([""], "1 to 500 characters"),
        (["(unclosed"], "does not compile"),
        (["*"], "does not compile"),
        ([r"\L<names>"], "does not compile"),
        (["(" * 400], "does not compile"),
        (["a*"], "matches the empty text"),
        (["a{9999999}"], "repeats too much"),
        (["(?:(?:(?:a{999}){999}){999})"], "repeats too much"),
    ],
    ids=[
        "number",
        "length",
        "empty",
        "unclosed",
        "nothing to repeat",
        "named list",
        "nested",
        "blank",
        "count",
        "counts",
    ],
)
def test_an_unusable_pattern_is_refused(patterns: list[str], message: str) -> None:
    """On creation, not when the first text comes."""
    with pytest.raises(InvalidInput, match=message):
        Redactor(patterns)


@pytest.mark.slow
def test_a_slow_pattern_is_stopped() -> None:
    """It raises an error that does not show the text, rather than leave it unmasked."""
    with pytest.raises(InvalidInput, match="takes too long") as error:
        Redactor([r"(a|aa|a?a)+$"]).redact("a" * 200 + "!")
    assert "aaaa" not in str(error.value)


def test_a_pattern_that_matches_its_own_masks_is_stopped() -> None:
    """It would never stop matching."""
    with pytest.raises(InvalidInput, match="match its own masks"):
        Redactor([r"(?<=\])b"]).redact("]" + "b" * 100)


# --- time


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "x", " ", "key=", "token=", "token=a1", "password=", 'password="', "-----BEGIN PRIVATE KEY-----\n", "eyJ",
        "a1.", "eyJabcdefghijklmn.", "sk-", "://a:", "[redacted:jwt]", "password=hunter2 ", "hooks.slack.com/services/",
    ],
)  # fmt: skip
def test_a_hostile_text_takes_bounded_time(unit: str) -> None:
    """Repeated beginnings of secrets are scanned in linear time."""
    text = unit * (200_000 // len(unit))
    once, _ = REDACTOR.redact(text)
    assert REDACTOR.redact(once) == (once, 0)


@pytest.mark.parametrize(
    "text",
    [
        f"{name}{BASE[:12]}9"
        for name in (
            "client_secret=", "secret = ", "credentials: ", "credential=", "access_token=", "api_key=", "https://h/?sig=",
            "X-Amz-Signature=",
        )
    ],
)  # fmt: skip
def test_a_named_secret_is_redacted(text: str) -> None:
    """The name stays."""
    name = text.removesuffix(f"{BASE[:12]}9")
    assert REDACTOR.redact(text) == (f"{name}[redacted:secret]", 1)


@pytest.mark.parametrize(
    "text", ["token=get_token(secret)", "f(token=my_token, 1)", "f(secret=api_secret)", "password=[redacted:password]"]
)
def test_an_expression_is_not_a_secret(text: str) -> None:
    """A call, an argument, a mask."""
    assert REDACTOR.redact(text) == (text, 0)
