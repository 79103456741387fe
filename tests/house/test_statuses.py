"""A row's status changes through its machine, and each machine has who writes its history."""

import ast
import importlib
import sys
from collections.abc import Iterator

import pytest

from apps.core.machine import Machine
from tests.house.files import ROOT, sources, trees


def statuses_written(tree: ast.AST) -> Iterator[str]:
    """A status that is assigned, or updated by a query."""

    def is_status(node: ast.AST) -> bool:
        own = (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        )
        return isinstance(node, ast.Attribute) and node.attr == "status" and not own

    def names(call: ast.Call) -> Iterator[object]:
        yield from (word.arg for word in call.keywords)
        values = [*call.args, *(word.value for word in call.keywords if word.arg is None)]
        yield from (
            word.value
            for value in values
            for word in ast.walk(value)
            if isinstance(word, ast.Constant)
        )

    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(
                is_status(name)
                for target in targets
                for name in (target.elts if isinstance(target, ast.Tuple) else [target])
            ):
                yield f"line {node.lineno}"
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") in ("update", "bulk_update")
            and "status" in names(node)
        ):
            yield f"line {node.lineno}"


def test_a_status_changes_through_its_machine() -> None:
    """A row's; forms and answers have one of HTTP."""
    found = {}
    for path, tree in trees(r"\.status\b|\bupdate\(|\bbulk_update\(", "apps"):
        name = str(path.relative_to(ROOT))
        is_web = (
            name.startswith(("apps/api/", "apps/dashboard/", "apps/hosted/"))
            or name == "apps/core/web/forms.py"
        )
        if not is_web and "migrations" not in path.parts and name != "apps/core/machine.py":
            found[name] = list(statuses_written(tree))
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        'row.status = "paid"',
        'row.status, row.at = "paid", at',
        "rows.filter(pk=1).update(status=PAID, at=at)",
        "row.status: str = PAID",
        'Row.objects.bulk_update(rows, ["status", "at"])',
        'rows.update(**{"status": PAID})',
    ],
)
def test_the_rule_about_changes_of_status_finds_what_it_should(code: str) -> None:
    assert list(statuses_written(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "rows.filter(status=PAID).update(at=at)",
        "Row(status=PAID)",
        "row.handled_status = PAID",
        "self.status = 1",
    ],
)
def test_the_rule_about_changes_of_status_finds_nothing_else(code: str) -> None:
    assert not list(statuses_written(ast.parse(code)))


def test_every_machine_with_a_history_has_somebody_who_writes_it() -> None:
    """`has_history=False` has its reason at the table."""
    for path in sources("apps"):
        if path.name in ("tasks.py", "states.py"):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    machines = {
        id(machine): f"{module.__name__}.{name}"
        for module in list(sys.modules.values())
        if module.__name__.startswith("apps.")
        for name, machine in vars(module).items()
        if isinstance(machine, Machine) and machine.has_history and machine._recorder is None
    }
    assert not machines
