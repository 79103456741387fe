"""How values are called, and that each module says what it is."""

import ast
import re
from collections import defaultdict

from tests.house.files import PYTHON, ROOT, trees

# What a value is called is a noun: `order`, `form`, `refund`.
NO_NOUNS = frozenset({
    *("one", "ones", "told", "given", "asked", "wanted", "made", "found", "said", "named", "meant"),
    *("taken", "kept", "left", "known", "shown", "seen", "called", "looked"),
    *("ours", "theirs", "mine", "others", "those", "what", "whose"),
})  # fmt: skip


def test_values_are_nouns() -> None:
    wrong = []
    stored = rf"\b({'|'.join(NO_NOUNS)})\b\s*([=:,)\]]|in\b)"
    for path, tree in trees(stored, "apps", "config", "dev", "manage.py"):
        if "migrations" in path.parts:
            continue
        nodes = list(ast.walk(tree))
        # Fields of sealed records, forms and columns keep the names that others know.
        fields = {
            id(target)
            for body in nodes
            if isinstance(body, ast.ClassDef)
            for statement in body.body
            if isinstance(statement, (ast.AnnAssign, ast.Assign))
            for target in getattr(statement, "targets", [getattr(statement, "target", None)])
        }
        for node in nodes:
            name = ""
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id if id(node) not in fields else ""
            elif isinstance(node, ast.arg):
                name = node.arg
            if name in NO_NOUNS:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert wrong == []


# A module up to the end of what it says it is.
_BEGIN = re.compile(r'(\s|#.*\n)*"""[\s\S]*?"""')


def test_every_module_says_what_it_is() -> None:
    wrong = []
    for path in PYTHON:
        text = path.read_text()
        is_plain = (
            path.name in ("__init__.py", "apps.py", "wsgi.py", "urls.py", "manage.py")
            and len(text.splitlines()) < 30
        )
        if "tests" in path.parts or is_plain:
            continue
        begin = _BEGIN.match(text)
        lines = len((ast.get_docstring(ast.parse(begin[0])) or "").splitlines()) if begin else 0
        if not 1 <= lines <= 6:
            wrong.append(f"{path.relative_to(ROOT)}: a docstring of {lines} lines")
    assert wrong == []


# Django and its commands find these by their names, and a payout's history is a table as well as a
# part of its document.
SHARED_NAMES = {"Command", "PayoutTransition"}


def test_a_class_name_means_one_thing() -> None:
    modules = defaultdict(list)
    for path in PYTHON:
        if "tests" in path.parts:
            continue
        for name in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE):
            modules[name].append(str(path.relative_to(ROOT)))
    shared = {name: paths for name, paths in modules.items() if len(paths) > 1}
    assert {name: shared[name] for name in shared.keys() - SHARED_NAMES} == {}
    assert shared.keys() >= {"Command", "PayoutTransition"}


def test_what_a_test_goes_through_is_called_by_a_noun() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.target.lineno}"
        for path, tree in trees(r"\bfor\b[^:]*\bone\b", "apps", "config", "dev", "tests")
        if "migrations" not in path.parts
        for node in ast.walk(tree)
        if isinstance(node, (ast.For, ast.comprehension))
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name) and name.id == "one"
    ]
    assert wrong == []
