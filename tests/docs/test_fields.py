"""Types of fields in words: with the limits that somebody may reach, and no others."""

import pytest

from apps.core.messages.fields import MAX_INTEGER, Schema
from apps.docs.fields import type_of
from apps.docs.site import site
from tests.docs.test_catalogs import html_of


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": MAX_INTEGER}, "integer, at least 1"),
        ({"type": "integer", "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER}, "integer"),
        (
            {"type": "integer", "minimum": 300, "maximum": 86400},
            "integer, at least 300, at most 86,400",
        ),
        ({"type": "integer", "minimum": 0, "maximum": 100}, "integer, at least 0, at most 100"),
        ({"type": "string", "maxLength": 2048}, "string, at most 2,048 characters"),
        ({"type": "array", "items": {"type": "object"}}, "list of objects"),
        (
            {"type": "array", "items": {"type": "string", "maxLength": 20}},
            "list of strings, each at most 20 characters",
        ),
        (
            {"type": "array", "items": {"enum": ["a.b", "c.d"]}},
            "list of values, each one of `a.b`, `c.d`",
        ),
    ],
)
def test_a_type_is_told_with_the_limits_of_its_field(schema: Schema, words: str) -> None:
    assert type_of(schema, {}) == words


def test_only_answers_with_long_lists_are_said_to_be_shortened() -> None:
    payments = html_of("reference/payments")
    created, listed = (
        payments.partition(f'id="{anchor}"')[2].partition("<h2")[0]
        for anchor in ("create-a-payment", "list-payments")
    )
    assert "Lists are shortened." in listed and "Lists are shortened." not in created


def test_no_page_says_where_the_integers_of_a_machine_end() -> None:
    assert not [slug for slug in site().pages if str(MAX_INTEGER) in html_of(slug)]
