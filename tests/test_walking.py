"""Everybody's rows are walked by one runner, so that a bad one stops nobody."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUNS = {"walk", "walk_due", "each"}
# Loops on the way from a job to its rows that walk no rows of stores, or rows that carry their own
# tries; and why.
OTHER_LOOPS = {
    "apps/chain/sending/outflow.py:watch": "a line in the log per asset: few, nobody's",
    "apps/chain/sending/outflow.py:by_asset": "the same assets",
    "apps/billing/invoices/confirming.py:look_before_judging": "collects moments, asks nobody",
    "apps/payments/services/looks.py:_look": (
        "many payments are asked about with one request; what can't be asked is asked in halves"
    ),
    "apps/core/mail.py:send_due": (
        "an email has attempts and an end of its own; it catches whatever a mail server raises"
    ),
    "apps/reports/services/generate.py:generate_due": (
        "a report has a claim, attempts and an end of its own, and catches its errors"
    ),
    "apps/core/documents/drawings.py:draw_due": "a drawing has a claim and attempts of its own",
    "apps/core/documents/drawings.py:forget": "deletes one batch of files, which can be drawn anew",
    "apps/core/db/pruning.py:prune_in_turns": "deletes in batches, one statement each",
    "apps/core/db/number_ranges.py:make_ahead": "ranges of histories, of everybody",
    "apps/core/db/partitions.py:make_ahead": "days of a table, which belong to no store",
    "apps/core/db/partitions.py:drop_before": "the same",
    "apps/core/db/partitions.py:outside": "the same",
    "apps/core/db/partitions.py:_missing": "the same",
    "apps/core/db/partitions.py:attempt": "one statement, until it gets its lock",
    "apps/payments/hourly_sums.py:sum_hours": "sums, one statement for many changes at once",
    "apps/webhooks/pruning.py:prune_all": "tables of which months are dropped",
    "apps/stores/auditing/seals.py:seal_lines": "one chain of seals: the next needs the one before",
    "apps/payments/seals.py:seal_payments": "one chain of seals: the next needs the one before",
    "apps/payments/seals.py:_horizon": "waits for others to commit, and walks no rows",
    "apps/assets/rates.py:refresh": "the rates of two modes, which belong to no store",
}


@cache
def module_of(name: str) -> tuple[Path, ast.Module] | None:
    path = ROOT / (name.replace(".", "/") + ".py")
    return (path, ast.parse(path.read_text())) if path.exists() else None


def names_in(tree: ast.Module) -> dict[str, tuple[str, str | None]]:
    """Meanings of each imported name of ours: a module, or a function of one."""
    known: dict[str, tuple[str, str | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("apps"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                known[alias.asname or alias.name] = (
                    (whole, None) if module_of(whole) else (node.module, alias.name)
                )
    return known


def functions_of(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def called(function: ast.AST, module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Our functions that a function calls by name; what it hands to the runner is not called
    here."""
    known = names_in(tree)
    own = functions_of(tree)
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) if name in own:
                yield module, name
            case ast.Name(id=name) if name in known and known[name][1]:
                yield known[name][0], str(known[name][1])
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if (
                name in known and known[name][1] is None
            ):
                yield known[name][0], attr


def runs(node: ast.AST) -> bool:
    """True if a loop hands its rows to the runner."""
    return any(
        isinstance(item, ast.Call)
        and isinstance(item.func, ast.Attribute)
        and item.func.attr in RUNS
        for item in ast.walk(node)
    )


def acts(node: ast.AST, tree: ast.Module) -> bool:
    """True if a loop does something to what it goes over, by a function of ours or a query that
    writes."""
    known = names_in(tree)
    own = functions_of(tree)
    for item in ast.walk(node):
        match item:
            case ast.Call(func=ast.Name(id=name)) if name in own or (
                name in known and known[name][1]
            ):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if (
                name in known and known[name][1] is None
            ):
                return True
            case ast.Call(
                func=ast.Attribute(attr="update" | "save" | "delete" | "create" | "execute")
            ):
                return True
    return False


def loops(function: ast.FunctionDef, tree: ast.Module) -> Iterator[int]:
    kinds = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
    handed = {
        id(part)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and runs(node)
        for part in ast.walk(node)
    }
    for node in ast.walk(function):
        if (
            isinstance(node, kinds)
            and id(node) not in handed
            and not runs(node)
            and acts(node, tree)
        ):
            yield node.lineno


def walked_alone(module: str, start: str) -> Iterator[str]:
    """Every loop that is reached from a function before the runner is."""
    waiting = [(module, start)]
    seen = set[tuple[str, str]]()
    while waiting:
        one = waiting.pop()
        found = module_of(one[0])
        if one in seen or found is None or one[1] not in functions_of(found[1]):
            continue
        seen.add(one)
        path, tree = found
        function = functions_of(tree)[one[1]]
        place = f"{path.relative_to(ROOT)}:{one[1]}"
        if place in OTHER_LOOPS:
            continue
        yield from (f"{place} on line {line}" for line in loops(function, tree))
        if not runs(function):
            waiting += called(function, one[0], tree)


def jobs() -> list[tuple[str, str]]:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted(ROOT.glob("apps/*/tasks.py"))
    ]
    return [(module, name) for module in modules for name in functions_of(module_of(module)[1])]  # type: ignore[index]


@pytest.mark.parametrize("job", jobs(), ids=lambda job: f"{job[0].split('.')[1]}.{job[1]}")
def test_everybodys_rows_are_walked_by_the_runner(job: tuple[str, str]) -> None:
    assert list(walked_alone(*job)) == []


def test_each_exception_still_stands() -> None:
    for place in OTHER_LOOPS:
        path, _, name = place.partition(":")
        tree = ast.parse((ROOT / path).read_text())
        assert list(loops(functions_of(tree)[name], tree)), place


@pytest.mark.parametrize(
    "text",
    [
        "for row in rows:\n  settle(row)",
        "while find():\n  pass",
        "[settle(row) for row in rows]",
        "for row in rows:\n  row.save()",
    ],
)
def test_the_rule_finds_a_loop_of_its_own(text: str) -> None:
    body = "\n".join(f"  {line}" for line in text.splitlines())
    tree = ast.parse(f"def settle(row):\n  pass\ndef find():\n  pass\ndef run(rows):\n{body}")
    assert list(loops(functions_of(tree)["run"], tree))


def test_the_rule_leaves_what_the_runner_does_alone() -> None:
    tree = ast.parse(
        "def settle(row):\n  pass\ndef run(rows):\n  for part in rows:\n    JOB.walk(part,"
        " settle)\n  JOB.walk(rows, settle)"
    )
    assert not list(loops(functions_of(tree)["run"], tree))
