"""The writers of blocks and deposits: the watcher's database role, and an owner who uses
one role for everything."""

from django.db import connection


def may_write() -> bool:
    """Tell whether this session is one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_table_privilege('chain_block', 'INSERT')")
        return bool(cursor.fetchone()[0])
