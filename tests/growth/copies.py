"""Copies of rows, made in the database: each set of rows that belong together as often as it takes,
with keys of their own and the references among them kept; the oldest are written first.

What a copy is called is the start of its identifiers: those of a row and of its copies agree in all
but their first twelve digits, which are the milliseconds of its moment. The higher its number, the
older it is and the lower its serial ids. Triggers and keys don't look: the copies are as sound as
the rows.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

import psycopg
from django.db import connection

from tests.growth.catalog import Column, Table, ask, tables
from tests.growth.values import COUNTED, OF_THE_PAST, Values

# Days after which rows are pruned: no copy is older than that.
KEPT_DAYS = {
    "access_requestentry": 28,
    "core_outgoingmail": 28,
    "stores_notification": 80,
    "webhooks_attempt": 95,
    "webhooks_delivery": 95,
    "webhooks_event": 95,
}
# Serial ids of the rows that are copied are above this: those of their copies are below them.
FIRST_ID = 1_000_000_000
COPIES_AT_ONCE = 20_000
# Of what happened to a payment, a year before; of stores, more than that.
STORES_DAYS = 400
# An odd factor takes each number to another below 2^48: addresses and hashes are in no order.
_HEX_FACTOR = 748_982_857_633
_PREPARATION = """
CREATE SCHEMA town;
CREATE UNLOGGED TABLE town.copies (number bigint PRIMARY KEY, store bigint, name text,
    store_name text, store_id text, hex text, age interval) WITH (autovacuum_enabled = false);
"""
_COPIES = f"""
INSERT INTO town.copies
SELECT n, s, {{name}}, {{store_name}}, CASE s WHEN 0 THEN '{{store_id}}' ELSE {{store_name}}
    || substr('{{store_id}}', 14) END,
    lpad(to_hex(mod(n * {_HEX_FACTOR}, 281474976710656)), 12, '0'),
    make_interval(secs => n * {{seconds}})
FROM (SELECT n, {{store}} AS s FROM unnest(%s::bigint[]) n) c
"""  # our own text


class Copier:
    """Copies parts of the database. A part is a name, and the keys of its rows by table."""

    def __init__(
        self, store_id: str, parts: Mapping[str, Mapping[str, set[str]]], days: float
    ) -> None:
        """`days` are what a copy is older than the one before."""
        self.tables = tables()
        self.parts = {part: {t: k for t, k in rows.items() if k} for part, rows in parts.items()}
        self.store_id = store_id
        self.seconds = days * 86_400
        self.kept_days = dict(KEPT_DAYS)
        ask(_PREPARATION)
        # Before the identifiers of the rows themselves, which are of their moment as well.
        ((self._newest_ms,),) = ask(
            "SELECT (extract(epoch FROM now() - interval '1 hour') * 1000)::bigint"
        )
        spans = self._spans()
        self._statements = {
            part: self._statements_of(
                Values(part, self.parts[part], self.parts["store"], store_id, spans)
            )
            for part in self.parts
        }

    def copy(self, part: str, numbers: Sequence[int], stores: int, lanes: int = 1) -> None:
        """Copies of a part by number, dealt out among the stores: two of five go to the first. Only
        what has come to rest has an age. As many lanes fill tables at a time."""
        for begin in range(0, len(numbers), COPIES_AT_ONCE):
            self._list(part, numbers[begin : begin + COPIES_AT_ONCE], stores)
            statements = [
                statement.format(days=self.kept_days.get(table, 10_000))
                for table, statement in self._statements[part].items()
            ]
            run_all(statements, lanes)

    def advance_sequences(self) -> None:
        for table in self.tables.values():
            for column in table.columns:
                if column.sequence:
                    newest = f"(SELECT max({column.name}) FROM {table.name})"
                    ask(f"SELECT setval(%s, greatest({newest}, 1))", column.sequence)

    def _list(self, part: str, numbers: Sequence[int], stores: int) -> None:
        hashed = "(hashint8({}) & 2147483647)"
        other = f"mod({hashed.format('-n')}, {stores})"
        store = f"CASE WHEN mod({hashed.format('n')}, 5) < 2 THEN 0 ELSE {other} END"
        before = f"{self._newest_ms} - n * {{}}"
        opened = self._newest_ms - STORES_DAYS * 86_400_000
        name = before.format(self.seconds * 1000 if part in OF_THE_PAST else 1)
        values = {
            "store": "n" if part == "store" else store,
            "name": _name(f"{opened} + n" if part == "store" else name),
            "store_name": _name(f"{opened} + s"),
            "store_id": self.store_id,
            "seconds": self.seconds if part in OF_THE_PAST else 0,
        }
        ask("TRUNCATE town.copies")
        ask(_COPIES.format(**values), sorted(numbers, reverse=True))
        ask("ANALYZE town.copies")

    def _statements_of(self, values: Values) -> dict[str, str]:
        return {
            table: self._statement(values, self.tables[table], keys)
            for table, keys in values.keys.items()
        }

    def _statement(self, values: Values, table: Table, keys: set[str]) -> str:
        """All copies of the rows, those of the oldest copy first."""
        names = [f'"{column.name}"' for column in table.columns]
        read = ", ".join(f"{name}::text" for name in names)
        rows = ask(
            f"SELECT {read} FROM {table.name} WHERE {table.key.name}::text = ANY (%s)"
            f" ORDER BY {table.key.name}",
            list(keys),
        )
        branches = " UNION ALL ".join(
            f"SELECT {self._columns(values, table, row)}, c.number AS copy_number"
            " FROM town.copies c WHERE c.age < interval '<days> days'"
            for row in rows
        )
        listed = ", ".join(names)
        statement = (
            f"INSERT INTO {table.name} ({listed}) OVERRIDING SYSTEM VALUE SELECT {listed}"
            f" FROM ({branches}) copied ORDER BY copy_number DESC"
        )
        braces = statement.replace("{", "{{").replace("}", "}}")
        return braces.replace("<days>", "{days}")

    @staticmethod
    def _columns(values: Values, table: Table, row: tuple[Any, ...]) -> str:
        return ", ".join(
            f'{values.of(table, column, value)} AS "{column.name}"'
            for column, value in zip(table.columns, row, strict=True)
        )

    def _spans(self) -> dict[str, int]:
        """Numbers that one copy takes, by table for its key, and by table and column."""
        found = {}
        for table in self.tables.values():
            for column in table.columns:
                is_counted = column.sequence or (table.name, column.name) in COUNTED
                is_number = column.type in ("bigint", "integer")
                if is_counted or (column.is_key and is_number):
                    found[f"{table.name}.{column.name}"] = span = _span(table, column)
                    if column.is_key and is_number:
                        found[table.name] = span
        return found


def run_all(statements: Sequence[str], lanes: int) -> None:
    """Each once, past triggers and keys: in connections of their own when there are lanes."""
    if lanes == 1:
        ask("SET session_replication_role = replica")
        for statement in statements:
            ask(statement)
        ask("SET session_replication_role = origin")
        return
    waiting: SimpleQueue[str] = SimpleQueue()
    for statement in statements:
        waiting.put(statement)
    with ThreadPoolExecutor(lanes) as pool:
        for lane in [pool.submit(_run_lane, waiting) for _ in range(lanes)]:
            lane.result()


def _run_lane(waiting: "SimpleQueue[str]") -> None:
    options = connection.get_connection_params()
    named = {key: options[key] for key in ("dbname", "user", "host", "port") if options.get(key)}
    with psycopg.connect(**named, autocommit=True) as lane:
        lane.execute("SET session_replication_role = replica")
        with suppress(Empty):
            while True:
                lane.execute(waiting.get_nowait().encode(), prepare=False)


def _span(table: Table, column: Column) -> int:
    ((low, high),) = ask(f"SELECT min({column.name}), max({column.name}) FROM {table.name}")
    return int(high) - int(low) + 1 if high is not None else 1


def _name(milliseconds: str) -> str:
    """Of a copy: as the first twelve digits of an identifier are written."""
    digits = f"lpad(to_hex(({milliseconds})::bigint), 12, '0')"
    return f"substr({digits}, 1, 8) || '-' || substr({digits}, 9, 4)"
