"""Why a delivery got no answer is said in words."""

import ast
import inspect

import pytest

from apps.core.outbound import strangers as posting
from apps.webhooks import reasons
from apps.webhooks.delivery import sender


def codes_of_posting() -> set[str]:
    """Codes that a `NoAnswer` is raised with."""
    return {
        word.value
        for node in ast.walk(ast.parse(inspect.getsource(posting)))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NoAnswer"
        for word in ast.walk(node)
        if isinstance(word, ast.Constant) and isinstance(word.value, str)
    }


def test_every_code_has_words_and_no_other_is_in_the_table() -> None:
    assert '"private_address"' in inspect.getsource(sender)
    assert codes_of_posting() | {"private_address"} == set(reasons.FAILURES)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("connection_refused", "Connection refused"),
        ("AssertionError", "Unexpected error"),
        ("http_500", ""),
        (None, ""),
    ],
)
def test_a_failure_is_told_in_words(code: str | None, words: str) -> None:
    assert reasons.failure_words(code) == words
