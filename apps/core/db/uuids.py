"""UUIDs in the order of time, made by PostgreSQL: by its own function from 18 on, by ours
before."""

import hashlib

from django.db import connection

NAME = "uuidv7()"
_OWN_FROM = 180_000
# 48 bits of milliseconds since 1970, the version and 12 bits of what is left of that time, and 62
# random bits (RFC 9562, section 6.2, method 3), as PostgreSQL 18 makes them.
_SOURCE = """
SELECT encode(overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(micros / 1000) FROM 3)
    || substring(int4send(28672 | (micros % 1000 * 4096 / 1000)::int) FROM 3) FROM 1 FOR 8), 'hex'
)::uuid
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS micros) AS now
"""


def apply() -> None:
    """Make the function where the server has none, and drop ours after an upgrade."""
    with connection.cursor() as cursor:
        cursor.execute(statement_for(_server_version()))


def statement_for(server_version: int) -> str:
    """SQL for a server of that version, as libpq numbers them (160014 is 16.14)."""
    if server_version >= _OWN_FROM:
        return f"DROP FUNCTION IF EXISTS public.{NAME}"
    return (
        f"CREATE OR REPLACE FUNCTION public.{NAME} RETURNS uuid LANGUAGE sql VOLATILE"
        f" PARALLEL SAFE AS $uuid${_SOURCE}$uuid$"
    )


def guards() -> dict[str, str]:
    """The function as the list of guards has it, where there must be one."""
    if _server_version() >= _OWN_FROM:
        return {}
    parts = (_SOURCE, "f", "v", "uuid")
    return {f"function {NAME}": hashlib.sha256("\n".join(parts).encode()).hexdigest()}


def _server_version() -> int:
    connection.ensure_connection()
    return int(connection.connection.info.server_version)
