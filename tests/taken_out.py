"""A committed cast, which other threads see: what was written of it is taken out again, which only
a superuser can."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.models import Q

from apps.chain.models import Deposit
from apps.stores.models import Store
from tests.cast import Cast, assemble

# What is written of a platform's merchants stands under their platform.
_OF_STORES = """
SELECT table_name, column_name FROM information_schema.columns
WHERE column_name IN ('store_id', 'platform_id') AND table_schema = 'public'
    AND table_name NOT LIKE 'ledger_%'
"""
# A sweep of the tests may have booked what others left under way: that stays.
_ENTRIES = """
DELETE FROM ledger_entry e WHERE e.movement_id > %s AND NOT EXISTS (
    SELECT 1 FROM ledger_entry o JOIN ledger_account a ON a.id = o.account_id
    WHERE o.movement_id = e.movement_id AND a.store_id <> ALL(%s))
"""
_MOVEMENTS = """
DELETE FROM ledger_movement m WHERE m.id > %s
    AND NOT EXISTS (SELECT 1 FROM ledger_entry e WHERE e.movement_id = m.id)
"""
_ACCOUNTS = """
DELETE FROM ledger_account a WHERE a.id > %s
    AND NOT EXISTS (SELECT 1 FROM ledger_entry e WHERE e.account_id = a.id)
"""
# Table, its reference, and the table of what it is part of.
_PARTS = (
    ("payouts_payouttransition", "payout_id", "payouts_payout"),
    ("payouts_schedulerun", "schedule_id", "payouts_schedule"),
    ("payouts_payoutbatchline", "batch_id", "payouts_payoutbatch"),
    ("payments_paymentaddress", "payment_id", "payments_payment"),
    ("payments_paymentevent", "payment_id", "payments_payment"),
)


@contextmanager
def committed_cast() -> Iterator[Cast]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT coalesce(max(id), 0) FROM ledger_movement),"
            " (SELECT coalesce(max(id), 0) FROM ledger_account)"
        )
        last_movement, last_account = cursor.fetchone()
    deposits = list(Deposit.objects.values_list("pk", flat=True))
    cast = assemble()
    yield cast
    own = [cast.bakery.store.pk, cast.strangers.store.pk]
    theirs = Q(platform__in=own) | Q(archive_of__in=own) | Q(archive_of__platform__in=own)
    stores = [*own, *Store.objects.filter(theirs).values_list("pk", flat=True)]
    with connection.cursor() as cursor:
        cursor.execute(_OF_STORES)
        references = cursor.fetchall()
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM chain_deposit WHERE NOT id = ANY(%s)", [deposits])
        cursor.execute(_ENTRIES, [last_movement, stores])
        cursor.execute(_MOVEMENTS, [last_movement])
        cursor.execute(_ACCOUNTS, [last_account])
        for table, column in references:
            cursor.execute(f"DELETE FROM {table} WHERE {column} = ANY(%s)", [stores])
        for table, reference, whole in _PARTS:
            cursor.execute(
                f"DELETE FROM {table} t WHERE NOT EXISTS"
                f" (SELECT 1 FROM {whole} w WHERE w.id = t.{reference})"
            )
        cursor.execute("DELETE FROM core_outgoingmail")  # emails belong to no store
        cursor.execute(
            "DELETE FROM stores_auditentry WHERE action = 'books.corrected' AND (details ->>"
            " 'movement')::bigint > %s",
            [last_movement],
        )
        cursor.execute("DELETE FROM stores_store WHERE id = ANY(%s)", [stores])
        cursor.execute("SET session_replication_role = origin")
