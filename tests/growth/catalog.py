"""The tables of a database and what is known of their columns: what they refer to, what is unique,
what is copied once per store, with what happened, or never."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection

# Copied once per store. All others are copied with what happened in them.
OF_STORES = frozenset(
    {
        "access_agentcredential",
        "access_apikey",
        "access_coolingsettings",
        "agents_agentpayoutcap",
        "agents_agentsettings",
        "assets_acceptedasset",
        "billing_invoicecounter",
        "billing_invoicesettings",
        "ledger_account",
        "payouts_approvalrule",
        "payouts_destination",
        "payouts_payoutsettings",
        "payouts_schedule",
        "stores_member",
        "stores_notificationchoice",
        "stores_store",
        "stores_user",
        "swaps_autoswap",
        "webhooks_endpoint",
    }
)
# There is one of each, or one chain of them, whatever is sold.
SHARED = frozenset(
    {
        "access_secondfactor",
        "chain_block",
        "chain_head",
        "chain_hotwallet",
        "payments_hourlysum",  # sums are made of the copies
        "payments_paymentchange",
        "payments_paymentseal",
        "payments_platformsum",
        "payments_soldspan",
        "payments_soldsum",
        "payments_withdrawal",
        "stores_auditseal",
        "stores_countedmerchant",
        "stores_merchantcount",
        "stores_staffrequest",
        "webhooks_host",
    }
)
SHARED_APPS = ("assets_asset", "assets_chain", "assets_dailyrate", "assets_rate", "core_lease")
SHARED_PREFIXES = ("auth_", "django_", "core_row")
# References that no foreign key says.
REFERENCES = {
    ("ledger_entry", "account_id"): "ledger_account",
    ("ledger_entry", "movement_id"): "ledger_movement",
    ("webhooks_delivery", "event_id"): "webhooks_event",
    ("webhooks_queueddelivery", "endpoint_id"): "webhooks_endpoint",
}
_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, NULL), a.atttypmod - 4, a.attnotnull,
    (SELECT confrelid::regclass::text FROM pg_constraint k
     WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum] LIMIT 1),
    EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary
            AND (i.indnkeyatts = 1 OR c.relkind = 'p') AND i.indkey[0] = a.attnum),
    EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique
            AND a.attnum = ANY (i.indkey::int2[])), pg_get_serial_sequence(c.relname, a.attname)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
  AND NOT c.relispartition AND a.attnum > 0
  AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY c.relname, a.attnum
"""


@dataclass(frozen=True)
class Column:
    """One of a table, with what it refers to and whether it is the table's key or part of one."""

    name: str
    type: str
    length_max: int
    is_required: bool
    refers_to: str | None
    is_key: bool
    is_unique: bool
    sequence: str | None


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]

    @property
    def key(self) -> Column:
        return next(column for column in self.columns if column.is_key)

    @property
    def is_shared(self) -> bool:
        shared = self.name in SHARED or self.name in SHARED_APPS
        return shared or self.name.startswith(SHARED_PREFIXES)


def ask(text: str, *arguments: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text, arguments or None)
        return cursor.fetchall() if cursor.description else []


def tables() -> dict[str, Table]:
    """Every table of the database that has a key of one column, and a time at most."""
    columns: dict[str, list[Column]] = {}
    for table, *facts in ask(_COLUMNS):
        facts[4] = facts[4] or REFERENCES.get((table, facts[0]))
        columns.setdefault(table, []).append(Column(*facts))
    return {
        name: Table(name, tuple(found))
        for name, found in columns.items()
        if any(column.is_key for column in found)
    }


def keys_of(some: Iterable[Table]) -> dict[str, set[str]]:
    """The keys of all rows there are, as text."""
    return {
        table.name: {
            key for (key,) in ask(f"SELECT {table.key.name}::text FROM {table.name}")
        }  # names of the catalog
        for table in some
    }
