"""This process's connection to PostgreSQL: through a pooler or directly.

Through a pooler nothing is asked of a connection that outlives its transaction. Importing this
connects to nothing.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

ENGINE = "apps.core.db.postgresql"
# What these do takes a connection of their own for longer than a transaction, or as long as they
# run: a pooler would give them nothing.
DIRECT_COMMANDS = frozenset(
    {
        "migrate",
        "backup",
        "restore",
        "dbshell",
        "watch_chains",
        "signer",
        "verify_ledger",
        "ledger",
    }
)
# Statements of core.sql are planned once per connection, for any values: PostgreSQL would else plan
# the larger ones each time (measured: a third of the time that creating a payment takes there).
# Django's own cursors never prepare.
PREPARED_FROM_USE = 2
ONE_PLAN = "-c plan_cache_mode=force_generic_plan"
# Whatever a replica's address leads to, nothing is written there; and nobody waits for it long, as
# the primary answers the same.
READ_ONLY = "-c default_transaction_read_only=on"
REPLICA_OPTIONS = {"connect_timeout": 2, "tcp_user_timeout": 5000}
CONSOLE = "pgbouncer"


class DatabaseAddress(NamedTuple):
    """Address of PostgreSQL, and whether a pooler is between."""

    url: str
    is_pooled: bool


def address_of(
    pooled: DatabaseAddress, direct_url: str, arguments: Sequence[str] = tuple(sys.argv)
) -> DatabaseAddress:
    """The address of this process: the direct one for the commands above, where there is one."""
    is_direct = (
        len(arguments) > 1
        and Path(arguments[0]).name == "manage.py"
        and arguments[1] in DIRECT_COMMANDS
    )
    return DatabaseAddress(direct_url, is_pooled=False) if is_direct and direct_url else pooled


def console_of(address: DatabaseAddress, *, may_read: bool) -> str:
    """Address of PgBouncer's console: a database of its own, with the same role."""
    if not (address.is_pooled and may_read):
        return ""
    return urlsplit(address.url)._replace(path=f"/{CONSOLE}").geturl()


def database(config: dict[str, Any], *, is_pooled: bool, is_prepared: bool) -> dict[str, Any]:
    """Django's settings of a database; `config` is what its address says."""
    options = dict(config.get("OPTIONS", {}))
    options["prepare_threshold"] = PREPARED_FROM_USE if is_prepared else None
    # A pooler hands no options of a connection on: there the settings of the role count
    # (apps/audit/role_settings.py).
    if not is_pooled:
        options["options"] = f"{options.get('options', '')} {ONE_PLAN}".strip()
    return {
        **config,
        "ENGINE": ENGINE,
        "OPTIONS": options,
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        # Cursors that outlive their transaction belong to a connection: long results are read by
        # apps.core.db.streams.
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }


def replica(config: dict[str, Any]) -> dict[str, Any]:
    """Django's settings of a replica, which is reached directly."""
    options = {**REPLICA_OPTIONS, **config.get("OPTIONS", {})}
    options["options"] = f"{options.get('options', '')} {READ_ONLY}".strip()
    return database({**config, "OPTIONS": options}, is_pooled=False, is_prepared=True)
