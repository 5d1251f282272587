"""`harness check`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from harness.core.support import SupportProbabilities
from harness.models.from_settings import Models
from tests.cli.program import Program
from tests.fakes import WordEmbedder, WordReader


class OpposingReader(WordReader):
    """A reader for which a text with the word "never" contradicts."""

    def supports(self, sentence: str, quotations: Sequence[str]) -> list[SupportProbabilities]:
        """See `Reader.supports`."""
        read = super().supports(sentence, quotations)
        return [
            SupportProbabilities(0.0, 0.9, 0.1) if "never" in text else found
            for text, found in zip(quotations, read, strict=True)
        ]


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Models, "reader", OpposingReader())
    monkeypatch.setattr(Models, "embedder", WordEmbedder())


def test_the_exit_code_is_the_verdict(harness: Program) -> None:
    """0 supports, 1 neither, 8 contradicts; the sentence that decides is printed."""
    ended = harness("check", "red apples are sweet", "--against", "Pears are green. Red apples are sweet.")
    assert (ended.code, ended.out) == (0, "supports (1.00): “Red apples are sweet.” [text]\n")
    ended = harness("check", "apples fall", "--against", "Red apples never fall.")
    assert (ended.code, ended.out) == (8, "contradicts (0.90): “Red apples never fall.” [text]\n")
    ended = harness("check", "blue cars", "--against", "Red apples are sweet.")
    assert ended.code == 1
    assert ended.out.startswith("neither: of 1 sentences, the nearest is “Red apples are sweet.” [text]\n")
    assert "it does not support the claim: " in ended.out


def test_files_documents_and_standard_input(harness: Program, tmp_path: Path) -> None:
    """All of them together are one body of texts; JSON names the source."""
    plain, document = tmp_path / "a.txt", tmp_path / "b.md"
    plain.write_text("Pears are green.\n")
    document.write_text("# Fruit\n\nRed apples are sweet.\n")
    ended = harness(
        "check", "red apples are sweet", "--against", plain, "--against", document, "--against", "-", "--json",
        stdin="Cars are blue.",
    )  # fmt: skip
    told: Any = ended.told
    assert (ended.code, told["verdict"], told["source"], told["read"]) == (0, "supports", str(document), 4)
    assert told["claim"] == "red apples are sweet"


def test_a_page_is_read_through_the_cache(
    harness: Program, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second check reads no page."""
    monkeypatch.setenv("HARNESS_ALLOWED_HOSTS", "localhost")
    httpserver.expect_request("/fruit").respond_with_data(
        "<html><title>Fruit</title><body><p>Red apples are sweet.</p></body></html>", content_type="text/html"
    )
    httpserver.expect_request("/robots.txt").respond_with_data("", 404)
    address = httpserver.url_for("/fruit")
    for _ in range(2):
        assert harness("check", "red apples are sweet", "--against", address).code == 0
    assert len([request for request, _ in httpserver.log if request.path == "/fruit"]) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("missing.md", "no such file"),
        (" ", "no sentence"),
        ("a\0b c", "neither"),
        ("北极海冰正在减少。", "neither"),
        (".", "is a folder"),
    ],
)
def test_what_cannot_be_read(harness: Program, given: str, message: str) -> None:
    """One line; a text with a control character is a text."""
    ended = harness("check", "red apples", "--against", given)
    assert message in ended.out + ended.err
    assert ended.code in {1, 2}


def test_nothing_to_check_against_is_wrong_usage(harness: Program) -> None:
    """The option is required."""
    assert harness("check", "red apples").code == 2
    assert "a claim is a sentence" in harness("check", " ", "--against", "a b").one_line_error(2)


def test_terminal_codes_are_not_printed(harness: Program) -> None:
    """The sentence is data."""
    ended = harness("check", "red apples", "--against", "Red \x1b[31mapples are here.")
    assert "\x1b" not in ended.out
