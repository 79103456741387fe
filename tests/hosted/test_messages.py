"""Catalogs of the texts for customers and merchants: nothing missing, nothing stale, every
placeholder in its place, compiled from their sources."""

import re
from collections import Counter

import pytest

from dev import messages

messages.set_up()
# What is no text of a template: its tags, what they translate, styles, and HTML with its
# attributes.
NO_TEXT = re.compile(
    r"\{% blocktranslate.*?endblocktranslate"
    r" %\}|\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<style.*?</style>|<[^>]*>|&\w+;",
    re.DOTALL,
)
TAGS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
ATTRIBUTE = re.compile(r'(?:aria-label|title|placeholder|alt)="([^"]*)"')
OURS = {
    "Tillgate",
    "https",
    "class",
    "checkout",
    "page",
    "embedded",
    "branded",
    "invoice",
    "onboarding",
    "portal",
    "data",
    "watermark",
}
PLACEHOLDER = re.compile(r"%\([a-z_]+\)[sd]|%[sd%]|\{[a-z_]+\}|</?[a-z]+>")
LANGUAGES = messages.languages()


def placeholders(text: str) -> Counter[str]:
    return Counter(PLACEHOLDER.findall(text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_stands_in_the_catalog_and_no_other(language: str) -> None:
    catalog = messages.read(language)
    assert set(catalog.texts) == messages.collect(language), "run python -m dev.messages"
    assert catalog.path.read_text("utf-8") == messages.po_text(catalog)


def words_of(template: str) -> set[str]:
    attributes = " ".join(ATTRIBUTE.findall(TAGS.sub(" ", template)))
    return set(re.findall(r"[A-Za-z]{3,}", NO_TEXT.sub(" ", template) + " " + attributes)) - OURS


def test_no_template_says_anything_that_is_not_a_message() -> None:
    pages = {
        path
        for pattern in messages.TEMPLATES
        for path in (messages.ROOT / "templates").glob(pattern)
        if path.suffix == ".html"
    }
    said = {path.name: found for path in sorted(pages) if (found := words_of(path.read_text()))}
    assert len(pages) > 50 and said == {}
    assert words_of('<p title="Here">Due {{ at }}</p>') == {"Here", "Due"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_message_is_without_a_translation(language: str) -> None:
    missing = set(messages.read(language).missing)
    assert missing & messages.collect() == set(), "of what customers read"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_compiled_is_what_stands_in_the_catalog(language: str) -> None:
    catalog = messages.read(language)
    assert catalog.path.with_suffix(".mo").read_bytes() == messages.mo_bytes(catalog), (
        "run python -m dev.messages"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_placeholders_of_its_message(language: str) -> None:
    wrong = []
    for (item, several), texts in messages.read(language).texts.items():
        for text in filter(None, texts):
            # One of several forms may spell a number out ("a day") or leave it out, as English
            # does.
            expected = (
                [placeholders(item)] if not several else [placeholders(item), placeholders(several)]
            )
            if placeholders(text) not in expected:
                wrong.append((item, text))
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_begins_and_ends_as_its_message(language: str) -> None:
    """Spaces and line breaks at the ends belong to the sentence around it."""
    pairs = [
        (id[0], text)
        for id, texts in messages.read(language).texts.items()
        for text in texts
        if text
    ]
    assert [
        pair for pair in pairs if (pair[0] == pair[0].strip()) != (pair[1] == pair[1].strip())
    ] == []
