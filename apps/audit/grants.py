"""Rights of each role on each table, and on the functions that write the books: grants.txt, brought
to PostgreSQL after every migration and compared with it by verify_ledger.

Only differences are written, so it may run at any time and beside a service that works.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.db import ProgrammingError, connection, transaction

FILE = Path(__file__).with_name("grants.txt")
WEB, WORKER, WATCHER, SIGNER, READER = ROLES = (
    "tillgate_web",
    "tillgate_worker",
    "tillgate_watcher",
    "tillgate_signer",
    "tillgate_reader",
)
_PRIVILEGES = {
    "S": "SELECT",
    "I": "INSERT",
    "U": "UPDATE",
    "D": "DELETE",
    "N": "USAGE",
    "X": "EXECUTE",
}
_PART = re.compile(r"([SIUDNX]+)(?:\((-?)([a-z0-9_ ]+)\))?")
_CALL = "()"
# The functions that write the books, or give their accounts to an archive: who may call them is
# said one by one. Others are everybody's.
_POSTS = (
    "p.pronamespace = current_schema()::regnamespace AND p.prorettype <> 'trigger'::regtype"
    r" AND (p.prosrc ~ 'INSERT INTO ledger_entry|ledger_book\(' OR p.proname = 'stores_put_away')"
)
# Nobody is given a partition: it is read through its table, by that table's policies.
_COLUMNS = f"""
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    AND NOT a.attisdropped
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
  AND NOT c.relispartition
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND c.relkind = 'S'
      AND d.deptype = 'i') GROUP BY c.relname
UNION ALL SELECT p.proname || '()', ARRAY[]::text[] FROM pg_proc p WHERE {_POSTS}
"""  # noqa: S608  # our own text
# What anybody but the owner may do, everybody's included.
GIVEN = f"""
SELECT coalesce(r.rolname, 'public')::text AS grantee, given.privilege_type AS privilege,
    given.relname::text AS relation,
       given.attname::text AS part FROM (
    SELECT c.relname, ''::text AS attname, e.grantee, e.privilege_type
        FROM pg_class c, aclexplode(c.relacl) e
    WHERE c.relnamespace = current_schema()::regnamespace AND e.grantee <> c.relowner
    UNION ALL SELECT c.relname, a.attname, e.grantee, e.privilege_type
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid, aclexplode(a.attacl) e
    WHERE c.relnamespace = current_schema()::regnamespace AND e.grantee <> c.relowner
    UNION ALL SELECT p.proname || '()', '', e.grantee, e.privilege_type
    FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) e
    WHERE e.grantee <> p.proowner AND {_POSTS}
) given LEFT JOIN pg_roles r ON r.oid = given.grantee
"""  # noqa: S608  # our own text

# Where the roles, or everybody, may make tables and functions of their own, which could be in
# for ours.
OPEN = f"""
SELECT coalesce(r.rolname, 'public')::text AS grantee, place.privilege_type AS privilege, place.name
FROM (
    SELECT 'DATABASE ' || quote_ident(d.datname) AS name, e.grantee, e.privilege_type
    FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) e
    WHERE d.datname = current_database() AND e.grantee <> d.datdba
        AND e.privilege_type IN ('TEMPORARY', 'CREATE')
    UNION ALL SELECT 'SCHEMA ' || quote_ident(n.nspname), e.grantee, e.privilege_type
    FROM pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) e
    WHERE n.nspname = current_schema() AND e.grantee <> n.nspowner AND e.privilege_type = 'CREATE'
) place LEFT JOIN pg_roles r ON r.oid = place.grantee
WHERE place.grantee = 0 OR r.rolname IN ('{"', '".join(ROLES)}')
"""  # noqa: S608  # our own text


class TableGrant(NamedTuple):
    """A role may do one thing with a table, or with a column of it."""

    role: str
    privilege: str
    table: str
    column: str = ""

    def sql(self, verb: str) -> str:
        """`verb` is GRANT or REVOKE."""
        privilege = f'{self.privilege}("{self.column}")' if self.column else self.privilege
        kind = {"USAGE": "SEQUENCE", "EXECUTE": "FUNCTION"}.get(self.privilege, "TABLE")
        return (
            f'{verb} {privilege} ON {kind} "{self.table.removesuffix(_CALL)}"'
            f" {'TO' if verb == 'GRANT' else 'FROM'} {self.role}"
        )


class RoleMissing(Exception):
    """The database has no such role, and anyone who asks may not make it."""


@cache
def decided() -> dict[str, tuple[str, ...]]:
    """By table: what each of ROLES may do, as the file says it."""
    return {table: tuple(cells[: len(ROLES)]) for table, *cells in _lines()}


def reasons() -> dict[str, str]:
    """By table: why the web's role may update it, where the file says so."""
    return {table: "".join(cells[len(ROLES) :]) for table, *cells in _lines()}


def _lines() -> list[list[str]]:
    return [
        line.split("\t")
        for line in FILE.read_text().splitlines()
        if line and not line.startswith("#")
    ]


def columns() -> dict[str, list[str]]:
    """Every table, view and sequence of this database with its columns, and every function that
    writes the books."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        return {table: [column for column in names if column] for table, names in cursor.fetchall()}


def expected() -> set[TableGrant]:
    """The file's grants, for the tables that are there."""
    grants: set[TableGrant] = set()
    for table, names in columns().items():
        for role, cell in zip(ROLES, decided().get(table, ()), strict=False):
            grants |= {
                TableGrant(role, _PRIVILEGES[letter], table, column)
                for letters, cell_columns in _parts(cell, names)
                for letter in letters
                for column in cell_columns
            }
    return grants


def _parts(cell: str, names: list[str]) -> list[tuple[str, list[str]]]:
    """The letters of a cell, each with the columns that they are for; an empty one is the whole
    table."""
    parts = []
    for letters, is_rest, listed in _PART.findall(cell):
        chosen = listed.split()
        if set(chosen) - set(names):
            raise ValueError(f"no such column: {sorted(set(chosen) - set(names))}")
        parts.append(
            (
                letters,
                [name for name in names if name not in chosen] if is_rest else chosen or [""],
            )
        )
    return parts


def current() -> set[TableGrant]:
    """Grants in this database, without the owner's."""
    with connection.cursor() as cursor:
        cursor.execute(GIVEN)
        return {TableGrant(*row) for row in cursor.fetchall()}


def differences() -> tuple[set[TableGrant], set[TableGrant]]:
    """(missing, too much)."""
    required = expected()
    there = current()
    return required - there, there - required


@transaction.atomic
def apply() -> int:
    """Make the roles that are missing, and bring the grants to what the file says; how many were
    changed. Raises RoleMissing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)", [list(ROLES)])
        there = {name for (name,) in cursor.fetchall()}
        for role in ROLES:
            if role not in there:
                _make(role)
        cursor.execute(f"GRANT USAGE ON SCHEMA public TO {', '.join(ROLES)}")
        missing, too_much = differences()
        for grant in sorted(too_much):
            cursor.execute(grant.sql("REVOKE"))
        for grant in sorted(missing):
            cursor.execute(grant.sql("GRANT"))
    return len(missing) + len(too_much) + close()


def close() -> int:
    """Take from the roles, and from everybody, the right to make tables of their own, temporary
    ones too; how many such rights there were. A copy of a database begins with them."""
    with connection.cursor() as cursor:
        cursor.execute(OPEN)
        rights = cursor.fetchall()
        for grantee, privilege, place in rights:
            cursor.execute(f"REVOKE {privilege} ON {place} FROM {grantee}")
    return len(rights)


def _make(role: str) -> None:
    """Without a password nobody comes in as it over the network."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"CREATE ROLE {role} LOGIN")
    except ProgrammingError as error:
        raise RoleMissing(f"There is no role {role}: run config/postgres/roles.sql") from error
