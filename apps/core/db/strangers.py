"""A database that holds another program's tables is never migrated: it would get two hundred tables
of ours, and its owner no way back."""

from django.apps import apps
from django.db import connection

_SHOWN_MAX = 5
_FIRST = "stores_store"
_TABLES = """
SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
    AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname
"""


class AnotherProgramsDatabase(Exception):
    """The message names the database and some of its tables."""


def require_own_database() -> None:
    """Raises AnotherProgramsDatabase. One that is empty, ours, or ours in part is taken; so is one
    that we share with others since before."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        there = [str(name) for (name,) in cursor.fetchall()]
        cursor.execute("SELECT current_database()")
        name = cursor.fetchone()[0]
    expected = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    foreign = [table for table in there if table not in {*expected, "django_migrations"}]
    if not foreign or _FIRST in there:
        return
    more = ", …" if len(foreign) > _SHOWN_MAX else ""
    raise AnotherProgramsDatabase(
        f"The database {name} holds tables of another program"
        f" ({', '.join(foreign[:_SHOWN_MAX])}{more}). Nothing was written. Name another database,"
        " or create one: createdb tillgate"
    )
