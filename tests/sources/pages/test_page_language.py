"""The language that a page declares."""

import pytest

from harness.sources.pages.extraction import extract


@pytest.mark.parametrize(
    ("attributes", "language"),
    [
        ('lang="de"', "de"), ("lang=pt-BR", "pt-BR"), ('xml:lang="fr"', "fr"), ('lang="" xml:lang="fr"', "fr"),
        ('lang=" en "', "en"), ('LANG="ja"', "ja"), ("", ""), ('lang="english"', ""), ('lang="&lt;b&gt;"', ""),
        (f'lang="{"en-" * 100_000}"', ""), ('lang="en&#8238;"', ""),
    ],
    ids=lambda value: ascii(value)[:30],
)  # fmt: skip
def test_a_page_declares_its_language(attributes: str, language: str) -> None:
    """The root element's attribute counts, if it is a tag of a known language."""
    html = f"<!doctype html><html {attributes}><body><p lang='ru'>Foxes sleep in winter.</p></body></html>"
    assert extract(html.encode(), "text/html").language == language


def test_other_documents_declare_none() -> None:
    """Plain text has no attribute."""
    assert extract(b"<html lang=de> Foxes sleep in winter.", "text/plain").language == ""
