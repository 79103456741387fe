"""The functions, triggers and views of the database as files: `apps/<app>/sql/<name>.sql`, the
function and the triggers that call it in one.

Migrations stay as history; a file has what they amount to today.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from django.apps import apps
from django.db import connection

from apps.core.db import uuids

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python3 manage.py sql_files --write"
# What an extension brought is its own, and triggers of partitions are copies of their table's.
_MADE = """
SELECT p.proname AS name, 1 AS place, pg_get_functiondef(p.oid) AS definition, '' AS relation
FROM pg_proc p
WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind IN ('f', 'p')
    AND p.oid::regprocedure::text <> %(uuids)s
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
UNION ALL SELECT c.relname, 2, format(E'CREATE OR REPLACE VIEW %%I AS\\n%%s', c.relname,
    rtrim(pg_get_viewdef(c.oid, true), ';')), c.relname
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
UNION ALL SELECT p.proname, 3, pg_get_triggerdef(t.oid, true), c.relname
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal AND t.tgparentid = 0
ORDER BY name, place, relation, definition
"""


class Difference(NamedTuple):
    """A file that isn't what the database has."""

    path: Path
    why: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}: {self.why}"


def of_database() -> dict[Path, str]:
    """The definitions in the database, by the file each belongs in, without the sentence on top."""
    definitions: dict[str, list[str]] = defaultdict(list)
    relations: dict[str, set[str]] = defaultdict(set)
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        (schema,) = cursor.fetchone()
        cursor.execute(_MADE, {"uuids": uuids.NAME})
        for name, _, definition, relation in cursor.fetchall():
            definitions[name].append(_statement(definition, schema))
            relations[name] |= {relation} - {""}
    return {
        ROOT / "apps" / _app_of(name, relations[name]) / "sql" / f"{name}.sql": "\n".join(texts)
        for name, texts in definitions.items()
    }


def of_files() -> dict[Path, str]:
    """The definitions in the files, without the sentence on top."""
    return {path: parts_of(path.read_text())[1] for path in _paths()}


def differences(database: Mapping[Path, str]) -> list[Difference]:
    """Differences between files and database, and files without a sentence."""
    files = of_files()
    return [
        *(Difference(path, "it is missing") for path in sorted(database.keys() - files.keys())),
        *(
            Difference(path, "the database has nothing of the kind")
            for path in sorted(files.keys() - database.keys())
        ),
        *(
            Difference(path, "the database has another definition")
            for path in sorted(files.keys() & database.keys())
            if files[path] != database[path]
        ),
        *(
            Difference(path, "say above it, in a comment, what it refuses or does")
            for path in _paths()
            if not parts_of(path.read_text())[0].rstrip().endswith(".")
        ),
    ]


def write(database: Mapping[Path, str]) -> list[Path]:
    """Make the files what the database has, and keep their sentences; those that changed."""
    changed = []
    for path in _paths():
        if path not in database:
            path.unlink()
            changed.append(path)
    for path, text in sorted(database.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        after = parts_of(before)[0] + text
        if before != after:
            path.write_text(after)
            changed.append(path)
    return changed


def parts_of(text: str) -> tuple[str, str]:
    """The comment on top, and the rest."""
    lines = text.splitlines(keepends=True)
    length = next((at for at, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return "".join(lines[:length]), "".join(lines[length:])


def _statement(definition: str, schema: str) -> str:
    """As a migration would say it: no schema is named where a name is defined."""
    first, newline, rest = definition.rstrip().partition("\n")
    return f"{first.replace(f' {schema}.', ' ', 1)}{newline}{rest};\n"


def _app_of(name: str, relations: set[str]) -> str:
    """The app of the tables that a function guards; of another, the one that its name begins
    with."""
    tables = {model._meta.db_table: model._meta.app_label for model in apps.get_models()}
    owners = {tables[relation] for relation in relations if relation in tables}
    if len(owners) == 1:
        return owners.pop()
    label = name.partition("_")[0]
    return label if apps.is_installed(f"apps.{label}") else "core"


def _paths() -> Iterator[Path]:
    yield from sorted((ROOT / "apps").glob("*/sql/*.sql"))
