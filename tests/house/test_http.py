"""Domain apps know no status and no header of an answer."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.files import ROOT, trees

# Whoever asks somebody outside speaks HTTP itself; what is shown on the way in and out of Django is
# in these.
_HEADERS = {
    "retry-after",
    "www-authenticate",
    "idempotent-replayed",
    "x-ratelimit-limit",
    "cache-control",
}
_WEB_OF_CORE = {"web", "outage.py", "buckets.py"}


def http_of_answers(tree: ast.AST) -> Iterator[str]:
    """A status of a refusal (400 to 599) and the names of headers that go out with an answer."""

    def is_status(node: ast.AST | None) -> bool:
        return (
            isinstance(node, ast.Constant) and type(node.value) is int and 400 <= node.value < 600
        )

    def pairs(target: ast.AST, value: ast.AST | None) -> Iterator[tuple[ast.AST, ast.AST | None]]:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from zip(target.elts, value.elts, strict=False)
        else:
            yield target, value

    for node in ast.walk(tree):
        found: list[tuple[str, ast.AST | None]] = []
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = [
                (ast.unparse(name), value)
                for target in targets
                for name, value in pairs(target, node.value)
            ]
        elif isinstance(node, ast.Call):
            found = [(word.arg or "", word.value) for word in node.keywords]
        elif isinstance(node, ast.arguments):
            names = [*node.posonlyargs, *node.args][
                len(node.posonlyargs) + len(node.args) - len(node.defaults) :
            ]
            found = [
                (argument.arg, value)
                for argument, value in zip(
                    [*names, *node.kwonlyargs], [*node.defaults, *node.kw_defaults], strict=True
                )
            ]
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.lower() in _HEADERS
        ):
            yield f"line {node.lineno}"
        if any("status" in name and is_status(value) for name, value in found):
            yield f"line {node.lineno}" if hasattr(node, "lineno") else "a default"


def test_domain_apps_know_no_status_and_no_header() -> None:
    doors = {"api", "dashboard", "hosted", "staff", "console", "docs", "mcp"}
    found = {}
    written = rf"(?i)\b[45]\d\d\b|{'|'.join(_HEADERS)}"
    for path, tree in trees(written, "apps"):
        name = path.relative_to(ROOT)
        is_web = name.parts[1] in doors or (
            name.parts[1] == "core" and not _WEB_OF_CORE.isdisjoint(name.parts)
        )
        if not is_web and "migrations" not in path.parts and "providers" not in path.parts:
            found[str(name)] = list(http_of_answers(tree))
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        "status = 403",
        'status, message = 409, "x"',
        "Failure(status=503)",
        'Failure(headers={"Retry-After": "5"})',
        "def refuse(text, *, status: int = 400): ...",
        "def refuse(status=422): ...",
        "http_status: int = 404",
        'x["WWW-Authenticate"] = 1',
    ],
)
def test_the_rule_about_statuses_finds_what_it_should(code: str) -> None:
    assert list(http_of_answers(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "status = PENDING",
        "limit = 500",
        'status, limit = "open", 400',
        "retry_after=5",
        "Text(500, status=1)",
    ],
)
def test_the_rule_about_statuses_finds_nothing_else(code: str) -> None:
    assert not list(http_of_answers(ast.parse(code)))
