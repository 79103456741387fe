"""How values are called, and that each module says what it is."""

import ast
from collections import defaultdict

from tests.house.files import PYTHON, ROOT, sources

# What a value is called is a noun: `order`, `form`, `refund`.
NO_NOUNS = frozenset({
    *("one", "ones", "told", "given", "asked", "wanted", "made", "found", "said", "named", "meant"),
    *("taken", "kept", "left", "known", "shown", "seen", "called", "looked"),
    *("ours", "theirs", "mine", "others", "those", "what", "whose"),
})  # fmt: skip


def test_values_are_nouns() -> None:
    wrong = []
    for path in sources("apps", "config", "dev", "manage.py"):
        if path.suffix != ".py" or "migrations" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        # Fields of sealed records, forms and columns keep the names that others know.
        fields = {
            id(target)
            for body in ast.walk(tree)
            if isinstance(body, ast.ClassDef)
            for statement in body.body
            if isinstance(statement, (ast.AnnAssign, ast.Assign))
            for target in getattr(statement, "targets", [getattr(statement, "target", None)])
        }
        for node in ast.walk(tree):
            name = ""
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id if id(node) not in fields else ""
            elif isinstance(node, ast.arg):
                name = node.arg
            if name in NO_NOUNS:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert wrong == []


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
        lines = len((ast.get_docstring(ast.parse(text)) or "").splitlines())
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
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                modules[node.name].append(str(path.relative_to(ROOT)))
    shared = {name: paths for name, paths in modules.items() if len(paths) > 1}
    assert {name: shared[name] for name in shared.keys() - SHARED_NAMES} == {}
    assert shared.keys() >= {"Command", "PayoutTransition"}


def test_what_a_test_goes_through_is_called_by_a_noun() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.target.lineno}"
        for path in PYTHON
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.For, ast.comprehension))
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name) and name.id == "one"
    ]
    assert wrong == []
