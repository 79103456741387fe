"""`post`: the one way entries come to be, in one round trip, once per key. `post_many` posts a
batch in one statement.

Accounts are made on first use; their ids never change, so each process remembers those whose rows
are committed.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, transaction

from apps.core.db.sql import Statement, array
from apps.ledger import posting_by_record
from apps.ledger.chart import CHART, STORE

INSUFFICIENT = "TG001"
KNOWN_MAX = 50_000
BATCH_MAX = 1_000

AccountKey = tuple[uuid.UUID | None, str, str, str]
_known: dict[AccountKey, int] = {}


class InsufficientBalance(Exception):
    """A guarded balance, or what is set aside for a record, would have gone below zero; nothing was
    posted."""


class NotPostedByTheWeb(Exception):
    """The web has no function for such a movement; a worker posts it."""


class BookedOtherwise(Exception):
    """The record says another amount than the caller: a bug of ours, and nothing stays posted."""


@dataclass(frozen=True)
class EntryLine:
    """A leg: which kind of account, whose (None is the service's), in which asset, and how much
    (credit positive)."""

    kind: str
    asset_id: str
    amount_atomic: int
    role: str
    store_id: uuid.UUID | None = None

    def account(self, mode: str) -> AccountKey:
        return (
            (self.store_id if CHART[self.kind].owner == STORE else None),
            mode,
            self.asset_id,
            self.kind,
        )


@dataclass(frozen=True)
class Posting:
    """A movement to be: `key` makes it happen once, `reference` is the record it serves. Lines of
    zero are left out."""

    key: str
    kind: str
    mode: str
    reference: uuid.UUID | None
    at: datetime
    lines: Sequence[EntryLine]
    reason: str = ""
    staff_id: uuid.UUID | None = None

    @property
    def legs(self) -> list[EntryLine]:
        return [line for line in self.lines if line.amount_atomic]


class Posted(NamedTuple):
    """The movement of a key, and whether this call made it."""

    movement_id: int
    is_new: bool


def account_id(store_id: uuid.UUID | None, mode: str, asset_id: str, kind: str) -> int:
    """The account's id; the account is made when it is missing."""
    return _account_ids([(store_id, mode, asset_id, kind)])[0]


def may_post(kind: str) -> bool:
    """Tells whether this process posts movements of the kind, or leaves them to a worker."""
    is_web: bool = connection.is_web  # type: ignore[attr-defined]  # of core.db.postgresql
    return not is_web or kind in posting_by_record.BY_KIND


def post(posting: Posting) -> Posted:
    """Post a movement, or find the one that its key has posted before. Raises InsufficientBalance.

    After InsufficientBalance the caller's transaction, or savepoint, can only roll back. The web
    posts by the record alone (posting_by_record): NotPostedByTheWeb and BookedOtherwise.
    """
    legs = posting.legs
    if connection.is_web:  # type: ignore[attr-defined]  # of core.db.postgresql
        return _post_by_record(posting, legs)
    accounts = _account_ids([line.account(posting.mode) for line in legs])
    movement_id, is_new = _answer(
        _POST,
        key=posting.key,
        kind=posting.kind,
        mode=posting.mode,
        reference=posting.reference,
        at=posting.at,
        **_columns(accounts, legs),
        reason=posting.reason,
        staff_id=posting.staff_id,
    )
    return Posted(movement_id, is_new)


def _post_by_record(posting: Posting, legs: Sequence[EntryLine]) -> Posted:
    """Accounts and amounts are what the record says; it must be what the caller meant."""
    statement = posting_by_record.BY_KIND.get(posting.kind)
    if statement is None:
        raise NotPostedByTheWeb(posting.kind)
    parts = posting.key.split(":")[1:]
    values: dict[str, object] = {"reference": posting.reference, "at": posting.at}
    values |= zip(("first", "second", "third"), parts, strict=False)
    movement_id, is_new, moved_atomic = _answer(
        statement, **{name: values[name] for name in statement.names}
    )
    if is_new and moved_atomic != -sum(min(0, line.amount_atomic) for line in legs):
        raise BookedOtherwise(f"{posting.kind}: {moved_atomic}")
    return Posted(int(movement_id), is_new)


_LEGS = (
    "%(accounts)s::bigint[], %(assets)s::text[], %(amounts)s::numeric[], %(roles)s::text[],"
    " %(down)s::bigint[]"
)
_POST = Statement(
    "SELECT * FROM ledger_post(%(key)s, %(kind)s, %(mode)s, %(reference)s, %(at)s, "  # noqa: S608
    + _LEGS
    + ", %(reason)s, %(staff_id)s)",
    stays=True,
)


def post_many(postings: Sequence[Posting]) -> int:
    """Post up to BATCH_MAX movements in one statement: all of them or, on InsufficientBalance,
    none. How many were new."""
    if len(postings) > BATCH_MAX:
        raise ValueError(f"at most {BATCH_MAX} movements are posted together")
    numbered = [
        (number, posting, line)
        for number, posting in enumerate(postings, 1)
        for line in posting.legs
    ]
    accounts = _account_ids([line.account(posting.mode) for _, posting, line in numbered])
    (count,) = _answer(
        _POST_MANY,
        keys=[posting.key for posting in postings],
        kinds=[posting.kind for posting in postings],
        modes=[posting.mode for posting in postings],
        references=[posting.reference for posting in postings],
        ats=[posting.at for posting in postings],
        numbers=[number for number, _, _ in numbered],
        **_columns(accounts, [line for _, _, line in numbered]),
    )
    return int(count)


_POST_MANY = Statement(f"""
SELECT ledger_post_many(%(keys)s::text[], %(kinds)s::text[], %(modes)s::text[],
    %(references)s::uuid[], %(ats)s::timestamptz[],
                        %(numbers)s::integer[], {_LEGS})
""")


def locked_balance(store_id: uuid.UUID | None, mode: str, asset_id: str, kind: str) -> int:
    """The balance of an account, which nobody else debits until the caller's transaction ends."""
    account = account_id(store_id, mode, asset_id, kind)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM ledger_account WHERE id = %s FOR NO KEY UPDATE", [account])
        cursor.execute("SELECT ledger_balance(%s)", [account])
        return int(cursor.fetchone()[0])


_PLATFORM_SHARE = Statement("""
SELECT coalesce(sum(e.amount_atomic), 0) FROM ledger_movement m
    JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id
WHERE m.reference = %(payment)s AND e.role = 'platform_fee' AND e.asset_id = %(asset)s
    AND a.store_id = %(platform)s
""")


def platform_share(payment_id: uuid.UUID, platform_id: uuid.UUID, asset_id: str) -> int:
    """The part of a payment that its platform was given and hasn't given back, by the books."""
    (row,) = _PLATFORM_SHARE.rows(payment=payment_id, platform=platform_id, asset=asset_id)
    return int(row[0])


def _columns(accounts: list[int], legs: Sequence[EntryLine]) -> dict[str, object]:
    """The legs by column, and the guarded accounts among them that go down."""
    down = {
        account
        for account, line in zip(accounts, legs, strict=True)
        if line.amount_atomic < 0 and CHART[line.kind].is_guarded
    }
    return {
        "accounts": array(accounts),
        "assets": array(line.asset_id for line in legs),
        "amounts": array(line.amount_atomic for line in legs),
        "roles": array(line.role for line in legs),
        "down": array(sorted(down)) if down else None,
    }


def _answer(statement: Statement, **values: Any) -> tuple[Any, ...]:
    try:
        return statement.rows(**values)[0]
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) == INSUFFICIENT:
            raise InsufficientBalance from None
        raise


def _account_ids(keys: Sequence[AccountKey]) -> list[int]:
    """Those that this process doesn't know are found, or made, in their order by one statement."""
    ids = {key: _known[key] for key in keys if key in _known}
    unknown = [key for key in dict.fromkeys(keys) if key not in ids]
    if unknown:
        stores, modes, assets, kinds = zip(*unknown, strict=True)
        rows = _ACCOUNT_IDS.rows(
            stores=list(stores),
            modes=array(modes),
            assets=array(assets),
            kinds=array(kinds),
            guarded=[CHART[kind].is_guarded for kind in kinds],
        )
        new = {key: int(row[0]) for key, row in zip(unknown, rows, strict=True)}
        ids |= new
        # Only on commit: a rollback takes a new account back, and with it this call.
        transaction.on_commit(lambda: _remember(new))
    return [ids[key] for key in keys]


_ACCOUNT_IDS = Statement("""
SELECT ledger_account_id(store_id, mode, asset_id, kind, is_guarded)
FROM unnest(%(stores)s::uuid[], %(modes)s::text[], %(assets)s::text[], %(kinds)s::text[],
    %(guarded)s::boolean[]) AS wanted(store_id, mode, asset_id, kind, is_guarded)
""")


def _remember(ids: Mapping[AccountKey, int]) -> None:
    if len(_known) + len(ids) > KNOWN_MAX:
        _known.clear()
    _known.update(ids)
