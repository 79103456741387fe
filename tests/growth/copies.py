"""Copies of rows, made in the database: each set of rows that belong together as often as it takes,
with keys of their own and the references among them kept; the oldest are written first.

What a copy is called is the start of its identifiers: those of a row and of its copies agree in all
but their first twelve digits. The higher its number, the older it is and the lower its serial ids.
Triggers and keys don't look: the copies are as sound as the rows.
"""

from collections.abc import Iterable, Mapping, Sequence
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
        "payments_soldsum",
        "payments_withdrawal",
        "stores_auditseal",
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
# What a row of a copy is called, beside what its keys say: these are unique.
NAMES = frozenset(
    {
        *("custom_number", "form_key", "idempotency_key", "key", "mandate_ref", "nonce"),
        *("period_key", "public_token", "reference", "token"),
    }
)
# As they are called in another table, where no rule says so.
NAMED_AS_WELL = {("payments_paymentreference", "reference")}
# Days after which rows are pruned: no copy is older than that.
KEPT_DAYS = {
    "access_requestentry": 28,
    "core_outgoingmail": 28,
    "stores_notification": 80,
    "webhooks_attempt": 95,
    "webhooks_delivery": 95,
    "webhooks_event": 95,
}
# Columns whose values count on from copy to copy, a thousand each.
COUNTED = {
    ("billing_invoice", "number"),
    ("chain_address", "index"),
    ("chain_outgoingtransaction", "nonce"),
}
# Serial ids of the rows that are copied are above this: those of their copies are below them.
FIRST_ID = 1_000_000_000
# What no rule above makes of a column.
EXPRESSIONS = {
    # Calls have the keys of what they made.
    ("access_requestentry", "idempotency_key"): (
        "CASE WHEN t.idempotency_key = '' THEN '' ELSE left(md5(c.name || t.idempotency_key), 12)"
        " || left(t.idempotency_key, 242) END"
    ),
    ("chain_signedtransaction", "raw"): "'0x02' || c.hex || substr(t.raw, 17)",
    # Few merchants have moved their test clock.
    ("stores_store", "test_offset_seconds"): (
        "CASE WHEN c.number > 3 THEN 0 ELSE t.test_offset_seconds END"
    ),
}
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
# Addresses and hashes, but for the wallet's address and the token's, which are the same everywhere.
_HEX = "0x(?!abababab|01010101)[0-9a-fA-F]{12}([0-9a-fA-F]{28,})"
_PREPARATION = """
CREATE FUNCTION pg_temp.copied(value uuid, name text) RETURNS uuid LANGUAGE sql IMMUTABLE
    AS $$ SELECT (name || substr(value::text, 14))::uuid $$;
CREATE TEMPORARY TABLE copies (number int, store int, name text, store_name text, hex text,
    age interval, PRIMARY KEY (number));
"""
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


class Copier:
    """Copies parts of the database. A part is a name, and the keys of its rows by table."""

    def __init__(
        self, store_id: str, parts: Mapping[str, Mapping[str, set[str]]], days: float
    ) -> None:
        """`days` are what a copy is older than the one before."""
        self.tables = tables()
        self.parts = {part: {t: k for t, k in rows.items() if k} for part, rows in parts.items()}
        self.store_id = store_id
        self.days = days
        self._spans = {name: self._span(table) for name, table in self.tables.items()}
        self._of_store = self.parts["store"]
        ask(_PREPARATION)

    def copy(self, part: str, numbers: Sequence[int], stores: int) -> None:
        """Copies of a part by number, dealt out among the stores: two of five go to the first. Only
        what has come to rest has an age."""
        store = (
            "n"
            if part == "store"
            else f"CASE WHEN mod(n, 5) < 2 THEN 0 ELSE mod(abs(hashint4(n)), {stores}) END"
        )
        name = _name(f"'{part}' || n")
        store_name = _name("'store' || s")
        days = self.days if part == "settled" else 0
        ask("DELETE FROM copies")
        ask(
            f"INSERT INTO copies SELECT n, s, {name}, {store_name},"
            f" replace({name}, '-', ''), n * {days} * interval '1 day' FROM (SELECT n, {store} AS s"
            " FROM unnest(%s::int[]) n) c",
            list(numbers),
        )
        ask("SET session_replication_role = replica")
        for table, keys in self.parts[part].items():
            self._copy_table(part, self.tables[table], keys)
        ask("SET session_replication_role = origin")

    def advance_sequences(self) -> None:
        for table in self.tables.values():
            for column in table.columns:
                if column.sequence:
                    newest = f"(SELECT max({column.name}) FROM {table.name})"
                    ask(f"SELECT setval(%s, greatest({newest}, 1))", column.sequence)

    def _copy_table(self, part: str, table: Table, keys: set[str]) -> None:
        texts = ", ".join(self._expression(part, table, column) for column in table.columns)
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        kept = KEPT_DAYS.get(table.name)
        young = f"AND c.age < interval '{kept} days'" if kept else ""
        ask(
            f"INSERT INTO {table.name} ({names}) OVERRIDING SYSTEM VALUE SELECT {texts}"
            f" FROM {table.name} t CROSS JOIN copies c"
            f" WHERE t.{table.key.name}::text = ANY (%s) {young} ORDER BY c.number DESC",
            list(keys),
        )

    def _expression(self, part: str, table: Table, column: Column) -> str:
        value = f't."{column.name}"'
        if (table.name, column.name) in EXPRESSIONS:
            return EXPRESSIONS[table.name, column.name]
        if column.refers_to or column.is_key:
            return self._reference(part, column, column.refers_to or table.name, value)
        if column.sequence:
            return f"{value} - c.number * {self._span_of(table, column)}"
        if part == "waiting" and column.name == "created_at":
            # No two are made at the same moment.
            return f"{value} - c.number * interval '1 microsecond'"
        if column.type == "timestamp with time zone":
            return f"{value} - c.age"
        if column.type == "date":
            return f"({value} - c.age)::date"
        if column.type == "uuid":
            return self._unless_shared(part, value, f"pg_temp.copied({value}, c.name)")
        if column.type == "bytea":
            return f"sha256({value} || c.name::bytea)" if column.is_unique else value
        if (table.name, column.name) in COUNTED:
            return f"{value} + c.number * 1000"
        if column.type in ("jsonb", "character varying", "text"):
            return self._text(part, table, column, value)
        return value

    def _text(self, part: str, table: Table, column: Column, value: str) -> str:
        """With the identifiers of the copy where it has some; else a name becomes another's."""
        text = f"{value}::text" if column.type == "jsonb" else value
        copied = text
        if self._has(table, column, _HEX):
            copied = f"regexp_replace({copied}, '{_HEX}', '0x' || c.hex || '\\1', 'g')"
        if self._has(table, column, _UUID):
            copied = f"regexp_replace({copied}, '{_UUID}', c.name || '\\1', 'g')"
        if self._has(table, column, self.store_id):
            copied = f"replace({copied}, {self._store_text('c.name')}, {self._own_store()})"
        if (table.name, column.name) == ("webhooks_event", "object"):
            reference = self._named("(t.object ->> 'reference')", 16)
            own = f"jsonb_build_object('id', {reference})"
            is_intent = "t.object ->> 'id' = t.object ->> 'reference'"
            return (
                f"jsonb_set_lax({copied}::jsonb, '{{reference}}', to_jsonb({reference}), false,"
                f" 'return_target') || CASE WHEN {is_intent} THEN {own} ELSE '{{}}' END"
            )
        if column.type == "jsonb":
            return f"{copied}::jsonb" if copied != text else value
        is_email = column.name in ("email", "email_key") and column.length_max > 100
        is_name = column.name in NAMES and column.is_unique
        if not (is_email or is_name or (table.name, column.name) in NAMED_AS_WELL):
            return copied
        is_same = f"{value} <> '' AND {copied} = {value}"
        return f"CASE WHEN {is_same} THEN {self._named(value, column.length_max)} ELSE {copied} END"

    @staticmethod
    def _named(value: str, length_max: int) -> str:
        """Another name, and what it was before where there is room."""
        name = f"left(md5(c.name || {value}), {min(length_max, 12)})"
        return name + (f" || left({value}, {length_max - 13})" if length_max > 30 else "")

    def _store_text(self, name: str) -> str:
        return f"pg_temp.copied('{self.store_id}', {name})::text"

    def _own_store(self) -> str:
        store = self._store_text("c.store_name")
        return f"CASE c.store WHEN 0 THEN '{self.store_id}' ELSE {store} END"

    def _reference(self, part: str, column: Column, target: str, value: str) -> str:
        """To a row that is copied as well, by whatever it is copied with; to another, as it is."""
        keys = self.parts[part].get(target, set())
        is_store = part != "store" and bool(self._of_store.get(target))
        keys = self._of_store[target] if is_store else keys
        if not keys:
            return value
        number = "c.store" if is_store else "c.number"
        if column.type in ("bigint", "integer"):
            copied = f"{value} - {number} * {self._spans[target]}"
        elif column.type == "uuid":
            copied = f"pg_temp.copied({value}, {'c.store_name' if is_store else 'c.name'})"
        else:
            copied = f"'0x' || c.hex || substr({value}, 15)"
        listed = ", ".join(f"'{key}'" for key in sorted(keys))
        own = f"{value}::text IN ({listed})" + (" AND c.store > 0" if is_store else "")
        return f"CASE WHEN {own} THEN {copied} ELSE {value} END"

    def _unless_shared(self, part: str, value: str, copied: str) -> str:
        listed = ", ".join(
            f"'{key}'" for name in ("stores_store", "stores_user") for key in self._of_store[name]
        )
        store = f"CASE WHEN c.store = 0 THEN {value} ELSE pg_temp.copied({value}, c.store_name) END"
        return f"CASE WHEN {value}::text IN ({listed}) THEN {store} ELSE {copied} END"

    @staticmethod
    def _has(table: Table, column: Column, pattern: str) -> bool:
        """Whether any row's text has it; the hashes of blocks are those of one chain."""
        if column.name in ("block_hash", "contract_address"):
            return False
        statement = 'SELECT 1 FROM {} WHERE "{}"::text ~ %s LIMIT 1'
        return bool(ask(statement.format(table.name, column.name), pattern))

    def _span_of(self, table: Table, column: Column) -> int:
        low, high = ask(f"SELECT min({column.name}), max({column.name}) FROM {table.name}")[
            0
        ]  # names of the catalog
        return int(high) - int(low) + 1 if high is not None else 1

    def _span(self, table: Table) -> int:
        return self._span_of(table, table.key) if table.key.type in ("bigint", "integer") else 1


def _name(text: str) -> str:
    """Of a copy: as the first twelve digits of an identifier are written."""
    return f"substr(md5({text}), 1, 8) || '-' || substr(md5({text}), 9, 4)"
