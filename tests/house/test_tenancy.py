"""Tenants' rows: how doors reach them, and what their tables have."""

import ast
import re
from collections.abc import Iterator

import pytest
from django.apps import apps as registry
from django.db import connection

from apps.core.models import Owned
from tests.house.files import ROOT, sources


def owned_models() -> set[str]:
    return {model.__name__ for model in registry.get_models() if issubclass(model, Owned)}


def queries_outside_visible_to(tree: ast.AST, owned: set[str]) -> Iterator[str]:
    """`Model.objects.<anything but visible_to>` on a tenant's model."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Attribute):
            continue
        manager = node.value
        if (
            manager.attr == "objects"
            and isinstance(manager.value, ast.Name)
            and manager.value.id in owned
            and node.attr != "visible_to"
        ):
            yield f"{manager.value.id}.objects.{node.attr} on line {node.lineno}"


# Rooms whose business is a store in both modes: its keys, and the checklist that asks whether
# anything was done at all.
BOTH_MODES = {
    "apps/api/keys.py",
    "apps/dashboard/developers/keys.py",
    "apps/dashboard/go_live.py",
    "apps/dashboard/go_live_steps.py",
}


@pytest.mark.parametrize("folder", ["apps/api", "apps/dashboard", "apps/hosted"])
def test_doors_reach_tenants_rows_through_visible_to_only(folder: str) -> None:
    found = {}
    for path in sources(folder):
        name = str(path.relative_to(ROOT))
        if path.suffix == ".py" and not any(name.startswith(room) for room in BOTH_MODES):
            found[name] = list(
                queries_outside_visible_to(ast.parse(path.read_text()), owned_models())
            )
    assert not {name: lines for name, lines in found.items() if lines}


def test_the_rule_about_visible_to_finds_what_it_should() -> None:
    assert list(
        queries_outside_visible_to(ast.parse("Payment.objects.filter(pk=1)"), {"Payment"})
    ) == ["Payment.objects.filter on line 1"]
    assert not list(
        queries_outside_visible_to(
            ast.parse("Payment.objects.visible_to(access).filter(pk=1)"), {"Payment"}
        )
    )


def test_every_table_of_a_tenant_has_store_mode_and_birth(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema ="
            " 'public'"
        )
        columns: dict[str, set[str]] = {}
        for table, column in cursor.fetchall():
            columns.setdefault(table, set()).add(column)
    for model in registry.get_models():
        if issubclass(model, Owned):
            assert {"id", "store_id", "mode", "created_at"} <= columns[model._meta.db_table]


def test_no_money_is_a_float_and_no_time_is_the_databases(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema ="
            " 'public' AND data_type IN ('double precision', 'real') AND table_name NOT LIKE"
            " 'otp_%'"
        )
        assert cursor.fetchall() == []
    for path in sources("apps"):
        if path.suffix == ".py" and "migrations" not in path.parts:
            assert not re.search(
                r"auto_now|functions import .*\bNow\b|\bNow\(\)", path.read_text()
            ), path
