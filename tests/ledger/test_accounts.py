"""Accounts are found by their index: beside three thousand of other stores as beside none."""

import pytest
from django.db import connection

from apps.ledger import posting, selectors
from tests.cast import Cast
from tests.growth.buffers import reading

pytestmark = pytest.mark.django_db
OTHERS = 3_000
# Two levels of the index, the row and its checkpoint, for an account that is looked for and its
# balance.
BUFFERS_MAX = 15
_OTHER_ACCOUNTS = """
INSERT INTO ledger_account (store_id, mode, asset_id, kind, is_guarded, checkpoint_atomic)
SELECT gen_random_uuid(), 'test', 'SETH', 'available', true, 0
FROM generate_series(1, %s)
"""


@pytest.mark.parametrize(
    ("kind", "is_of_the_store"), [("available", True), ("custody_deposits", False)]
)
def test_an_account_is_found_without_reading_those_of_others(
    cast: Cast, kind: str, is_of_the_store: bool
) -> None:
    store_id = cast.bakery.store.pk if is_of_the_store else None
    account = posting.account_id(store_id, "test", "SETH", kind)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # stores that nobody has
        cursor.execute(_OTHER_ACCOUNTS, [OTHERS])
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE ledger_account")

    for _ in range(2):  # what the database draws up at first isn't the account's
        posting._known.clear()
        with reading() as read:
            assert posting.account_id(store_id, "test", "SETH", kind) == account
            assert selectors.account_balance(store_id, "test", "SETH", kind) == 0

    assert len(read.buffers) == 2
    assert max(read.buffers.values()) <= BUFFERS_MAX, dict(read.buffers)
