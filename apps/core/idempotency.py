"""`once`: the record that the first call made carries the key, so the record is the memory.

Keys are unique per store, mode, operation and caller. A first call that failed made no record and
leaves the key free.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import IntegrityError, models, transaction

from apps.core.errors import Failure
from apps.core.messages.invalid import Invalid

Row = TypeVar("Row", bound=models.Model)
Made = TypeVar("Made")
_PRINTABLE = re.compile(r"[\x20-\x7e]{1,255}")


class KeyRefused(Failure):
    """The Idempotency-Key header is missing, or isn't printable ASCII."""


def check_key(key: str | None, *, required: bool) -> str | None:
    """The key as given, None when there is none; refuses a missing required one and one that isn't
    printable ASCII."""
    if not key:
        if required:
            raise KeyRefused("Idempotency-Key header is required", code="idempotency_key_required")
        return None
    if not _PRINTABLE.fullmatch(key):
        raise KeyRefused("Idempotency-Key is invalid", code="idempotency_key_invalid")
    return key


def once(rows: models.QuerySet[Row], create: Callable[[], Row]) -> tuple[Row, bool]:
    """The row that `rows` finds, else the one that `create` makes; True when this call made it.

    `create` must insert the row that carries the key before it touches anything else. Of two
    simultaneous calls the loser meets the unique constraint and answers with the winner's row.
    """
    row = rows.first()
    return make_once(rows.first, create) if row is None else (row, False)


def make_once(find: Callable[[], Made | None], create: Callable[[], Made]) -> tuple[Made, bool]:
    """Variant for callers that don't look first, or that make several rows: `find` runs only when
    the unique constraint has refused."""
    try:
        with transaction.atomic():
            return create(), True
    except IntegrityError:
        row = find()
        if row is None:
            raise
        return row, False


def insert_once(
    find: Callable[[], Made | None], insert: Callable[[], Made | None]
) -> tuple[Made, bool]:
    """Variant by one statement that skips existing rows (ON CONFLICT DO NOTHING): `insert` then
    returns None."""
    row = insert()
    if row is not None:
        return row, True
    existing = find()
    if existing is None:
        raise RuntimeError("the winner of an idempotency key is missing")
    return existing, False


def once_per_form(
    rows: models.QuerySet[Any], form_key: str | None, create: Callable[[], Row]
) -> Row:
    """The row that a form makes, which is there already when the form was sent before; without a
    key a new one each time.

    A twin that is slower may be refused for what the quicker one took (a name, an address): it gets
    the quicker one's row too.
    """
    if form_key is None:
        return create()
    same_form: models.QuerySet[Row] = rows.filter(form_key=form_key)
    try:
        return once(same_form, create)[0]
    except (Failure, Invalid):
        row = same_form.first()
        if row is None:
            raise
        return row
