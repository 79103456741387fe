"""Files, functions, lines and dicts of anything stay small."""

import ast
import re
from collections.abc import Iterator

from tests.house.files import PYTHON, ROOT, sources

LINES_MAX = 500
FUNCTION_LINES_MAX = 70
TEMPLATE_COLUMNS_MAX = 120


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All within it, without their expressions, in which no function is defined."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, field, ()):
            yield inner
            yield from statements(inner)


_STRING = re.compile(r'"""[\s\S]*?"""')
_DEFINITION = re.compile(r"( *)(async def|def|class|@)\b")


def may_have_a_long_function(text: str) -> bool:
    """True if nothing is defined at a function's depth for so long: parsing all takes a second."""
    lines = _STRING.sub(lambda string: "\n" * string[0].count("\n"), text).splitlines()
    begun: list[tuple[int, int]] = []  # what may go on: its depth and its line
    for number, line in enumerate([*lines, "class End:"]):
        if found := _DEFINITION.match(line):
            depth = len(found[1])
            while begun and begun[-1][0] >= depth:
                if number - begun.pop()[1] >= FUNCTION_LINES_MAX:
                    return True
            if "def" in found[2]:
                begun.append((depth, number))
    return False


def test_files_and_functions_stay_short() -> None:
    wrong = []
    for path in PYTHON:
        text = path.read_text()
        name = path.relative_to(ROOT)
        lines = len(text.splitlines())
        if lines > LINES_MAX:
            wrong.append(f"{name}: {lines} lines")
        if not may_have_a_long_function(text):
            continue
        for node in statements(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                assert node.end_lineno is not None
                if node.end_lineno - node.lineno >= FUNCTION_LINES_MAX:
                    wrong.append(f"{name}: {node.name} has {node.end_lineno - node.lineno} lines")
    assert wrong == []


def test_templates_wrap_at_120_columns() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources("templates")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > TEMPLATE_COLUMNS_MAX
    ]
    assert wrong == []


# What JSON schemas, free-form objects and other people's interfaces are made of, each with its
# reason at its line. Going down is welcome.
ANY_DICTS_MAX = 5


def test_dicts_of_anything_become_fewer() -> None:
    """mypy sees nothing of the values of one: a class, a TypedDict or a Mapping[str, object] says
    more."""
    found = [
        path
        for path in sources("apps")
        if path.suffix == ".py"
        for _ in re.findall(r"dict\[str, Any\]", path.read_text())
    ]
    assert len(found) <= ANY_DICTS_MAX
