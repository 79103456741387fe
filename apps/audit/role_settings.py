"""Timeouts of a role's statements, locks and idle transactions: settings of the role itself, which
reach every connection of it, through a pooler too.

Brought to PostgreSQL after every migration. What an operator has set for a role stays.
"""

from collections.abc import Mapping

from django.db import ProgrammingError, connection, transaction

from apps.audit.grants import READER, SIGNER, WATCHER, WEB, WORKER

# Statements of core.sql are planned once, for any values (config/databases.py).
_ONE_PLAN = {"plan_cache_mode": "force_generic_plan"}
# A request is over in seconds. A job ends after five minutes, and what takes longer says so
# (apps.core.db.timeouts). The signer may wait for its keystore within a transaction. People wait.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    WEB: {
        "statement_timeout": "30s",
        "lock_timeout": "8s",
        "idle_in_transaction_session_timeout": "30s",
        **_ONE_PLAN,
    },
    WORKER: {
        "statement_timeout": "5min",
        "lock_timeout": "1min",
        "idle_in_transaction_session_timeout": "5min",
        **_ONE_PLAN,
    },
    WATCHER: {
        "statement_timeout": "5min",
        "lock_timeout": "1min",
        "idle_in_transaction_session_timeout": "5min",
        **_ONE_PLAN,
    },
    SIGNER: {
        "statement_timeout": "1min",
        "lock_timeout": "30s",
        "idle_in_transaction_session_timeout": "2min",
        **_ONE_PLAN,
    },
    READER: {
        "statement_timeout": "5min",
        "lock_timeout": "5s",
        "idle_in_transaction_session_timeout": "10min",
    },
}
_SET = """
SELECT r.rolname, split_part(line, '=', 1)
FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) line
WHERE s.setdatabase = 0 AND r.rolname = ANY (%s)
"""


class NotPermitted(Exception):
    """The migrating role may not change roles; the message has what somebody who may should run."""


def missing() -> list[str]:
    """The statements that set what a role has no setting for yet."""
    with connection.cursor() as cursor:
        cursor.execute(_SET, [list(SETTINGS)])
        there = set(cursor.fetchall())
    return [
        f"ALTER ROLE {role} SET {name} = '{value}'"
        for role, settings in SETTINGS.items()
        for name, value in settings.items()
        if (role, name) not in there
    ]


def apply() -> int:
    """Set what is missing; how many settings. Raises NotPermitted."""
    statements = missing()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
    except ProgrammingError as error:
        raise NotPermitted(";\n".join(statements) + ";") from error
    return len(statements)
