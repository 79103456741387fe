"""A migration does today what it did to the databases that took it: it reads nothing that
changes."""

import ast

import pytest

from dev import template_database
from tests.house.files import ROOT, sources

# What migrations of ours may import of ours. Whatever is changed in these must leave every
# migration that uses them as it is.
FROZEN = {
    "apps.core.db.first_tables": "apps/core/db/first_tables.py",
    "apps.core.models": "apps/core/models.py",
}
READERS = {"__import__", "importlib", "io", "open", "os", "pathlib"}
OURS = ("apps", "config", "dev", "tests")
MIGRATIONS = [path for path in sources("apps") if path.match("migrations/[0-9]*.py")]


def living_parts(text: str) -> list[str]:
    """Names that a migration takes from elsewhere in the house."""
    modules: list[str] = []
    words: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(str(node.module))
        elif isinstance(node, ast.Name):
            words.append(node.id)
    is_ours = [name for name in modules if name.split(".")[0] in OURS and name not in FROZEN]
    return [*is_ours, *(name for name in [*modules, *words] if name in READERS)]


def test_no_migration_reads_what_changes() -> None:
    assert len(MIGRATIONS) > 10
    living = {
        str(path.relative_to(ROOT)): parts
        for path in MIGRATIONS
        if (parts := living_parts(path.read_text()))
    }
    assert living == {}


@pytest.mark.parametrize(
    "text",
    [
        "from apps.core.db import first_ranges",
        "from apps.core.db.number_ranges import RANGE_ROWS",
        "import apps.payments.states",
        "from importlib import import_module",
        "import importlib",
        "SQL = open('rules.sql').read()",
        "from pathlib import Path",
    ],
)
def test_what_changes_is_found(text: str) -> None:
    assert living_parts(text)


@pytest.mark.parametrize(
    "text",
    [
        "from apps.core.db.first_tables import FirstTables",
        "import apps.core.models\nfield = apps.core.models.AtomicField()",
        "from django.db import migrations, models",
    ],
)
def test_what_is_frozen_may_be_used(text: str) -> None:
    assert living_parts(text) == []


def test_a_change_of_what_is_frozen_makes_a_new_template() -> None:
    decisive = {path for pattern in template_database.SOURCES for path in ROOT.glob(pattern)}
    assert {ROOT / name for name in FROZEN.values()} <= decisive
