"""Tables filled without their indexes, which are built when all rows are there: in lanes, the
largest first. Only a superuser may, and nobody else is in the database meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.growth.catalog import ask
from tests.growth.copies import run_all

_OF_TABLES = """
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND c.relkind = 'i'
"""
_OFF = f"""
UPDATE pg_index SET indisready = false, indisvalid = false
WHERE indexrelid IN (SELECT i.indexrelid {_OF_TABLES})
"""  # our own text
_INDEXES = f"""
SELECT c.oid::regclass::text {_OF_TABLES} AND NOT i.indisvalid
ORDER BY pg_relation_size(t.oid) DESC, c.relname
"""  # our own text


@contextmanager
def without_indexes(lanes: int) -> Iterator[None]:
    """Nothing is unique within: what was written twice is refused when the index is built."""
    ask("SET allow_system_table_mods = on")
    ask(_OFF)
    yield
    run_all([f"REINDEX INDEX {name}" for (name,) in ask(_INDEXES)], lanes)
    ask("SET allow_system_table_mods = off")
