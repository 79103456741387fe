"""A template's name of a value is a noun, as in Python: `payment`, `row`, `line`."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.template.base import Lexer, TokenType

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = (".html", ".txt")
TAGS = (TokenType.VAR, TokenType.BLOCK)
# Emails that wait to be sent keep the names that they were written with, so `what` stays.
NO_NOUNS = frozenset({
    "one", "ones", "told", "given", "asked", "wanted", "made", "found", "said", "named", "meant",
    "taken", "kept", "left", "known", "shown", "seen", "called", "looked",
    "ours", "theirs", "mine", "others", "those", "whose",
})  # fmt: skip
QUOTED = re.compile(r'"[^"]*"|\'[^\']*\'')
# A name on its own or before its first dot: neither an attribute nor a filter.
NAME = re.compile(r"(?<![\w.|:-])[a-z_]\w*")
CRUMBS = re.compile(r'class="crumbs".*?</nav>', re.DOTALL)
INPUT = re.compile(r"<input\b[^>]*>")
# As a button says it, or without a noun
NO_CRUMB = re.compile(r"(?<=[>}])(?:(?:Add|Create)\b[^<{]*|New(?=[<{]))")


def names_in(template: str) -> Iterator[str]:
    """Names that its tags and variables bind or read."""
    for token in Lexer(template).tokenize():
        if token.token_type in TAGS:
            yield from NAME.findall(QUOTED.sub('""', token.contents))


def test_names_are_found_where_they_are_bound_and_read() -> None:
    template = (
        '{% for one, name in told.rows %}{{ made|default:"asked" }}'
        '{% include "left.html" with given=row.found %}{% endfor %} shown'
    )
    assert NO_NOUNS.intersection(names_in(template)) == {"one", "told", "made", "given"}


def test_values_of_templates_are_nouns() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "templates").rglob("*"))
        if path.suffix in SUFFIXES
        for name in sorted(NO_NOUNS.intersection(names_in(path.read_text())))
    ]
    assert wrong == []


def test_a_form_for_what_is_new_says_so_in_its_breadcrumb() -> None:
    """`New invoice`, whether its button adds, creates or writes it."""
    wrong = [
        f"{path.relative_to(ROOT)}: {crumb}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for crumbs in CRUMBS.findall(path.read_text())
        for crumb in NO_CRUMB.findall(crumbs)
    ]
    assert wrong == []


def test_no_input_that_asks_for_a_keypad_is_judged_by_a_pattern() -> None:
    """A keypad has the digits and marks of its country; what they mean is read on the server."""
    wrong = [
        f"{path.relative_to(ROOT)}: {field}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for field in INPUT.findall(path.read_text())
        if "inputmode=" in field and ("pattern=" in field or 'type="number"' in field)
    ]
    assert wrong == []
