"""No code goes on by what a refusal says: its text is for people."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.files import ROOT, trees

_REFUSALS = re.compile(r"\b(error|refusal|failure|exc|exception)$")
_READS = {"search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "get", "index"}


def texts_of_refusals_read(tree: ast.AST) -> Iterator[str]:
    """Where code goes on by what a refusal says: its text compared, looked into, looked up or taken
    apart."""
    caught = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name
    }

    def is_text(node: ast.AST) -> bool:
        """`str(error)`, `error.args[0]`, `error.text` or a call of one of those:
        `str(error).lower()`."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return is_text(node.func.value)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("str", "repr")
            and node.args
        ):
            return is_refusal(node.args[0])
        if isinstance(node, ast.Subscript):
            return is_text(node.value)
        return (
            isinstance(node, ast.Attribute)
            and node.attr in ("text", "args", "message")
            and is_refusal(node.value)
        )

    def is_refusal(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and (
            node.id in caught or _REFUSALS.search(node.id) is not None
        )

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            read = any(is_text(side) for side in (node.left, *node.comparators))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            looked_up = node.func.attr in _READS and any(
                is_text(argument) for argument in node.args
            )
            read = looked_up or is_text(node.func.value)
        elif isinstance(node, ast.Subscript):
            read = is_text(node.slice)
        else:
            continue
        if read:
            yield f"line {node.lineno}"


def test_no_code_goes_on_by_what_a_refusal_says() -> None:
    found = {}
    for path, tree in trees(r"\bexcept\b|(error|refusal|failure|exc|exception)\b", "apps"):
        if "migrations" not in path.parts:
            found[str(path.relative_to(ROOT))] = list(texts_of_refusals_read(tree))
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        '"429" in str(error)',
        'str(error) == "x"',
        '"revert" in str(error).lower()',
        'CODES.get(str(refusal).split(" ")[0])',
        "CODES[str(refusal)]",
        "PATTERN.search(str(error))",
        're.match("x", refusal.text)',
        'refusal.text.startswith("x")',
        'error.args[0] != "x"',
        'str(error).partition(" ")',
    ],
)
def test_the_rule_about_texts_of_refusals_finds_what_it_should(code: str) -> None:
    assert list(texts_of_refusals_read(ast.parse(code)))
    caught = (
        "try:\n    act()\nexcept Exception as it:\n   "
        f" {code.replace('refusal', 'it').replace('error', 'it')}"
    )
    assert list(texts_of_refusals_read(ast.parse(caught)))


@pytest.mark.parametrize(
    "code",
    [
        "log.error(error=str(error)[:200])",
        "raise Failure(str(refusal))",
        "error.code is REVERTED",
        "found.get(error)",
    ],
)
def test_the_rule_about_texts_of_refusals_lets_them_be_told(code: str) -> None:
    assert not list(texts_of_refusals_read(ast.parse(code)))
