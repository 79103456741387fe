from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from apps.chain.models import Deposit
from apps.stores.models import Store
from tests.auditing import nothing_new_found
from tests.cast import Cast, assemble
from tests.sending.conftest import world as world  # the local test chain

_LEDGER = ("ledger_entry", "ledger_movement", "ledger_account")
_OF_STORES = """
SELECT table_name FROM information_schema.columns
WHERE column_name = 'store_id' AND table_schema = 'public' AND table_name NOT LIKE 'ledger_%'
"""


def pytest_itemcollected(item: pytest.Item) -> None:
    if "committed" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.django_db)


@pytest.fixture
def _django_db_helper(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """Tests of a `committed` cast run in no transaction of their own, and nothing is truncated:
    PostgreSQL would refuse it."""
    if "committed" not in request.fixturenames:
        request.getfixturevalue("_django_db_helper")
        yield
        return
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def sound_books(committed: Cast) -> Iterator[None]:
    with nothing_new_found():
        yield


@pytest.fixture
def committed(_django_db_helper: None) -> Iterator[Cast]:
    """A cast whose rows other threads see; what was written is taken out again, which only a
    superuser can."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT "
            + ", ".join(f"(SELECT coalesce(max(id), 0) FROM {table})" for table in _LEDGER)
        )
        last = cursor.fetchone()
    deposits = list(Deposit.objects.values_list("pk", flat=True))
    cast = assemble()
    yield cast
    own = [cast.bakery.store.pk, cast.strangers.store.pk]
    stores = [*own, *Store.objects.filter(platform__in=own).values_list("pk", flat=True)]
    with connection.cursor() as cursor:
        cursor.execute(_OF_STORES)
        tables = [item[0] for item in cursor.fetchall()]
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM chain_deposit WHERE NOT id = ANY(%s)", [deposits])
        for table, last_id in zip(_LEDGER, last, strict=True):
            cursor.execute(f"DELETE FROM {table} WHERE id > %s", [last_id])
        for table in tables:
            cursor.execute(f"DELETE FROM {table} WHERE store_id = ANY(%s)", [stores])
        cursor.execute(
            "DELETE FROM payouts_payouttransition t WHERE NOT EXISTS (SELECT 1 FROM payouts_payout"
            " p WHERE p.id = t.payout_id)"
        )
        cursor.execute(
            "DELETE FROM payouts_schedulerun r WHERE NOT EXISTS (SELECT 1 FROM payouts_schedule s"
            " WHERE s.id = r.schedule_id)"
        )
        cursor.execute(
            "DELETE FROM payouts_payoutbatchline l WHERE NOT EXISTS (SELECT 1 FROM"
            " payouts_payoutbatch b WHERE b.id = l.batch_id)"
        )
        cursor.execute("DELETE FROM core_outgoingmail")  # letters belong to no store
        for table in ("payments_paymentaddress", "payments_paymentevent"):
            cursor.execute(
                f"DELETE FROM {table} t WHERE NOT EXISTS (SELECT 1 FROM payments_payment p WHERE"
                " p.id = t.payment_id)"
            )
        cursor.execute(
            "DELETE FROM stores_auditentry WHERE action = 'books.corrected' AND (details ->>"
            " 'movement')::bigint > %s",
            [last[1]],
        )
        cursor.execute("DELETE FROM stores_store WHERE id = ANY(%s)", [stores])
        cursor.execute("SET session_replication_role = origin")
