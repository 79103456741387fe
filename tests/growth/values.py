"""A column's value in a copy of its row, as SQL over `copies c`: the row's own value, with the
identifiers of the copy where it has some.

The row is known when the statement is written, so that nothing is looked for as rows are made.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.growth.catalog import Column, Table

# What a row of a copy is called, beside what its keys say: these are unique.
NAMES = frozenset(
    {
        "custom_number",
        "form_key",
        "idempotency_key",
        "key",
        "mandate_ref",
        "nonce",
        "period_key",
        "public_token",
        "reference",
        "token",
    }
)
# As they are called in another table, where no rule says so.
NAMED_AS_WELL = {
    ("access_requestentry", "idempotency_key"),
    ("payments_paymentreference", "reference"),
}
# Columns whose values count on from copy to copy, far from those that are drawn meanwhile.
COUNTED = {
    ("billing_invoice", "number"),
    ("chain_address", "index"),
    ("chain_outgoingtransaction", "nonce"),
}
COUNTED_FROM = 1_000_000
# Parts that are as old as their number says; what waits isn't.
OF_THE_PAST = frozenset({"settled", "sold"})
# What an event says of its invoice, which is as old as the invoice of the copy.
MOMENTS_OF_EVENTS = frozenset({"due_at", "paid_at"})
# The hashes of blocks are those of one chain.
OF_CHAINS = {"block_hash", "contract_address"}
REFERENCE_LENGTH = 16
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
# Addresses and hashes, but for the wallet's address and the token's, which are the same everywhere,
# also where events write them with capitals.
_HEX = re.compile("0x(?!(?i:abababab)|01010101)[0-9a-fA-F]{12}([0-9a-fA-F]{28,})")
# Stand in a text for what each copy has of its own.
_NAME, _HEX_NAME, _STORE, _REFERENCE = "<<name>>", "<<hex>>", "<<store>>", "<<reference>>"


def quoted(text: str) -> str:
    """As a literal of SQL, in a statement without arguments."""
    return "'" + text.replace("'", "''") + "'"


def named(text: str, length_max: int) -> str:
    """Another name, and the one before where there is room. Short ones are references: of all
    letters and digits."""
    digest = f"md5(c.name || {quoted(text)})"
    if length_max == REFERENCE_LENGTH:
        letters = f"left(encode(decode({digest}, 'hex'), 'base64'), {length_max})"
        return f"translate(upper({letters}), '+/', 'QX')"
    if 0 < length_max <= 2 * REFERENCE_LENGTH:
        return f"left({digest}, {length_max})"
    kept = text[: length_max - REFERENCE_LENGTH] if length_max > 0 else text
    return f"left({digest}, {REFERENCE_LENGTH}) || {quoted(kept)}"


@dataclass(frozen=True)
class Values:
    """Of the rows of one part. `keys` are those of the rows that are copied with it, `of_store`
    those that each store has; `spans` what the numbers of a table or column of each copy take."""

    part: str
    keys: Mapping[str, set[str]]
    of_store: Mapping[str, set[str]]
    store_id: str
    spans: Mapping[str, int]

    def of(self, table: Table, column: Column, value: str | None) -> str:
        return f"({self._copied(table, column, value)})::{column.type}"

    def _copied(self, table: Table, column: Column, value: str | None) -> str:
        if value is None:
            return "NULL"
        literal = f"{quoted(value)}::{column.type}"
        if (table.name, column.name) == ("stores_store", "test_offset_seconds"):
            # Some merchants have moved their test clock, and nothing is due by it.
            return f"CASE WHEN mod(c.number, 2) = 0 THEN 0 ELSE {value} END"
        if (table.name, column.name) == ("chain_signedtransaction", "raw"):
            return f"'0x02' || c.hex || {quoted(value[16:])}"
        if column.refers_to or column.is_key:
            return self._reference(column, column.refers_to or table.name, value)
        if column.sequence:
            return f"{value} - c.number * {self.spans[f'{table.name}.{column.name}']}"
        if (table.name, column.name) in COUNTED:
            span = self.spans[f"{table.name}.{column.name}"]
            return f"{int(value) + COUNTED_FROM} + c.number * {span}"
        if column.type in ("timestamp with time zone", "date"):
            return self._moment(column, literal)
        if column.type == "uuid":
            return self._identifier(value)
        if column.type == "bytea" and column.is_unique:
            return f"sha256({literal} || c.name::bytea)"
        if column.type in ("jsonb", "character varying", "text"):
            return self._text(table, column, value)
        return literal

    def _moment(self, column: Column, literal: str) -> str:
        if self.part == "waiting":
            # No two are made at the same moment.
            is_made = column.name == "created_at"
            return f"{literal} - c.number * interval '1 microsecond'" if is_made else literal
        return f"({literal} - c.age)"

    def _identifier(self, value: str) -> str:
        """That no key refers to: of the copy, but for stores and their owners."""
        copied = f"c.name || {quoted(value[13:])}"
        if value in self.of_store["stores_store"] | self.of_store["stores_user"]:
            return self._of_store(value, f"c.store_name || {quoted(value[13:])}")
        return copied

    @staticmethod
    def _of_store(value: str, copied: str) -> str:
        return f"CASE WHEN c.store = 0 THEN {quoted(value)} ELSE {copied} END"

    def _reference(self, column: Column, target: str, value: str) -> str:
        """To a row that is copied as well, by whatever it is copied with; to another, as it is."""
        is_store = self.part != "store" and bool(self.of_store.get(target))
        if value not in (self.of_store if is_store else self.keys).get(target, ()):
            return quoted(value)
        if column.type in ("bigint", "integer"):
            return f"{value} - {'c.store' if is_store else 'c.number'} * {self.spans[target]}"
        if column.type == "uuid":
            rest = quoted(value[13:])
            if is_store:
                return self._of_store(value, f"c.store_name || {rest}")
            return f"c.name || {rest}"
        return f"'0x' || c.hex || {quoted(value[14:])}"

    def _text(self, table: Table, column: Column, value: str) -> str:
        """With the identifiers of the copy where it has some; else a name becomes another's."""
        if column.name in OF_CHAINS:
            return quoted(value)
        text, own_texts = value, dict[str, str]()
        if (table.name, column.name) == ("webhooks_event", "object"):
            text, own_texts = self._of_event(value)
        text = _HEX.sub(rf"0x{_HEX_NAME}\1", text.replace(self.store_id, _STORE))
        text = _UUID.sub(rf"{_NAME}\1", text)
        if text == value and value and _is_name(table, column):
            return named(value, column.length_max)
        copied = quoted(text)
        for mark, own in ((_NAME, "c.name"), (_HEX_NAME, "c.hex"), (_STORE, "c.store_id")):
            if mark in text:
                copied = f"replace({copied}, '{mark}', {own})"
        for mark, own in own_texts.items():
            copied = f"replace({copied}, '{mark}', {own})"
        return copied

    def _of_event(self, value: str) -> tuple[str, dict[str, str]]:
        """An event's object with marks, and the values of a copy: the reference of its payment,
        which names it in some, and the moments that it says of an invoice."""
        found = json.loads(value)
        own_texts = {}
        reference = found.get("reference")
        if isinstance(reference, str):
            if found.get("id") == reference:
                found["id"] = _REFERENCE
            found["reference"] = _REFERENCE
            own_texts[_REFERENCE] = named(reference, REFERENCE_LENGTH)
        for name in MOMENTS_OF_EVENTS & found.keys():
            if self.part in OF_THE_PAST and isinstance(found[name], str):
                own_texts[f"<<{name}>>"] = _iso(f"{quoted(found[name])}::timestamptz - c.age")
                found[name] = f"<<{name}>>"
        return (json.dumps(found), own_texts) if own_texts else (value, {})


def _is_name(table: Table, column: Column) -> bool:
    is_email = column.name in ("email", "email_key") and column.length_max > 100
    is_name = column.name in NAMES and column.is_unique
    return is_email or is_name or (table.name, column.name) in NAMED_AS_WELL


def _iso(moment: str) -> str:
    """As text in the object of an event."""
    return f"""to_char(({moment}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
