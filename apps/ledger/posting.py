"""`post`: the one way entries come to be, in one round trip. Accounts are made on first use and their ids remembered."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import DatabaseError, connection

from apps.ledger.chart import CHART, STORE


class InsufficientBalance(Exception):
    """A guarded balance would have gone below zero; nothing was posted."""


@dataclass(frozen=True)
class Line:
    """One leg: whose account (None is the service's), of which kind, and how much (credit positive)."""

    kind: str
    amount_atomic: int
    role: str
    store_id: uuid.UUID | None = None


INSUFFICIENT = "TG001"
_known: dict[tuple[uuid.UUID | None, str, str, str], int] = {}


def account_id(store_id: uuid.UUID | None, mode: str, asset_id: str, kind: str) -> int:
    """The account's id; made when it is missing. An id is remembered once its row is older than any running transaction,
    for a rollback takes a new row back."""
    key = (store_id, mode, asset_id, kind)
    if key in _known:
        return _known[key]
    with connection.cursor() as cursor:
        cursor.execute(_FIND, [store_id, mode, asset_id, kind])
        row = cursor.fetchone()
        if row is not None:
            if row[1]:
                _known[key] = row[0]
            return int(row[0])
        cursor.execute(_MAKE, [store_id, mode, asset_id, kind, CHART[kind].is_guarded])
        cursor.execute(_FIND, [store_id, mode, asset_id, kind])
        return int(cursor.fetchone()[0])


_FIND = """
SELECT id, xmin::text::bigint < (pg_snapshot_xmin(pg_current_snapshot())::text::bigint & 4294967295)
FROM ledger_account WHERE store_id IS NOT DISTINCT FROM %s AND mode = %s AND asset_id = %s AND kind = %s
"""
_MAKE = """
INSERT INTO ledger_account (store_id, mode, asset_id, kind, is_guarded, checkpoint_atomic) VALUES (%s, %s, %s, %s, %s, 0)
ON CONFLICT DO NOTHING
"""


def _owner(line: Line) -> tuple[uuid.UUID | None, str]:
    return (line.store_id if CHART[line.kind].owner == STORE else None), line.kind


def post(
    key: str,
    kind: str,
    *,
    mode: str,
    asset_id: str,
    reference: uuid.UUID | None,
    at: datetime,
    lines: Sequence[Line],
    reason: str = "",
    staff_id: uuid.UUID | None = None,
) -> bool:
    """Post a movement in one asset; False when its key was posted before. Raises InsufficientBalance.

    Lines of zero are left out; `lines` must sum to zero. After InsufficientBalance the caller's transaction can only roll back.
    """
    legs = [line for line in lines if line.amount_atomic]
    ids = {owner: account_id(owner[0], mode, asset_id, owner[1]) for owner in sorted({_owner(line) for line in legs}, key=str)}
    arguments = [
        key,
        kind,
        mode,
        reference,
        at,
        [ids[_owner(line)] for line in legs],
        [asset_id] * len(legs),
        [line.amount_atomic for line in legs],
        [line.role for line in legs],
        reason,
        staff_id,
    ]
    try:
        with connection.cursor() as cursor:
            cursor.execute(_POST, arguments)
            return bool(cursor.fetchone()[1])
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) == INSUFFICIENT:
            raise InsufficientBalance from None
        raise


_POST = "SELECT * FROM ledger_post(%s, %s, %s, %s, %s, %s::bigint[], %s::text[], %s::numeric[], %s::text[], %s, %s)"
