"""Jobs and PostgreSQL's upkeep while a town grew: balances, sums of days, how far tables were read,
statistics and the maps of what is visible."""

from importlib import import_module

from django.db import transaction

from apps.billing.invoices import payment_intents
from apps.core.models import RowTurn
from apps.ledger import balance_marks, checkpoints
from apps.ledger.long_tails import ENTRIES_AT_ONCE, TAIL_MAX
from apps.payments import daily_sums, hourly_sums
from apps.reports import hourly_bookings
from tests.growth.catalog import ask
from tests.growth.copies import run_all

# Jobs that read a table on from a place, each with the table.
READ_ON = {
    checkpoints.TAILS.mark.name: "ledger_entry",
    balance_marks.TAILS.mark.name: "ledger_entry",
    daily_sums.MARK.name: "ledger_entry",
    hourly_bookings.TAILS.mark.name: "ledger_entry",
    payment_intents.MARK.name: "ledger_movement",
}
# Of accounts; all but the first, of those of stores.
SUMS = (balance_marks.mark_account, daily_sums.sum_account, hourly_bookings.sum_account)
# As the triggers write them, which don't look at copies.
_CHANGES = """
INSERT INTO payments_paymentchange (store_id, mode, platform_id, hour, sold_on, currency, status,
    payments, completed, completed_cents, nets, net_cents)
SELECT p.store_id, p.mode, p.platform_id, date_trunc('hour', p.created_at, 'UTC'),
    (p.completed_at AT TIME ZONE 'UTC')::date, p.settlement_currency, p.status, 1,
    (p.completed_at IS NOT NULL)::int,
    CASE WHEN p.completed_at IS NULL THEN 0 ELSE p.settlement_amount_cents END,
    (n.net_cents IS NOT NULL)::int, coalesce(n.net_cents, 0)
FROM payments_payment p LEFT JOIN payments_paymentnet n ON n.payment_id = p.id
"""
CHANGES_AT_ONCE = 1_000_000


def rate_days() -> None:
    """A service that ran for the year has a rate of each of its days, and of those that the clocks
    of its stores have come to."""
    columns = "asset_id, currency, rate, source, as_of"
    ask(
        f"INSERT INTO assets_dailyrate (day, {columns}) SELECT d.day::date, {columns}"
        " FROM assets_dailyrate r CROSS JOIN generate_series(r.day - 370, r.day + 10,"
        " interval '1 day') d (day) WHERE r.day = (SELECT max(day) FROM assets_dailyrate"
        " WHERE day <= (now() AT TIME ZONE 'UTC')::date) ON CONFLICT DO NOTHING"
    )


def keep_up(lanes: int) -> None:
    ask("ANALYZE ledger_account, ledger_entry, ledger_movement, payments_payment")
    _count()
    _count_merchants()
    _fold()
    _sum_days()
    _sum_hours()
    _read_on()
    _vacuum(lanes)


def postpone() -> None:
    """Records that wait go on waiting in a town that was founded hours ago, and its newest days are
    today's."""
    hourly_sums.sum_hours()
    ask(
        "UPDATE payments_payment SET expires_at = expires_at + interval '30 days'"
        " WHERE status IN ('pending', 'processing')"
    )
    ask("VACUUM payments_payment")


def _count() -> None:
    ask(
        "UPDATE billing_invoicecounter c SET last_number = s.number FROM (SELECT store_id,"
        " mode, max(number) AS number FROM billing_invoice GROUP BY 1, 2) s"
        " WHERE s.store_id = c.store_id AND s.mode = c.mode AND s.number IS NOT NULL"
    )


def _count_merchants() -> None:
    ask("TRUNCATE stores_countedmerchant, stores_merchantcount")
    ask(import_module("apps.stores.migrations.0004_merchants_counted").FILL)


def _fold() -> None:
    """Nobody looks: a checkpoint is usually made by the ledger's own function."""
    ask("SET session_replication_role = replica")
    ask(
        "UPDATE ledger_account a SET checkpoint_id = (SELECT coalesce(max(id), 0) FROM"
        " ledger_entry), checkpoint_atomic = coalesce(s.amount, 0)"
        " FROM ledger_account b LEFT JOIN (SELECT account_id, sum(amount_atomic) AS amount"
        " FROM ledger_entry GROUP BY account_id) s ON s.account_id = b.id WHERE b.id = a.id"
    )
    ask("SET session_replication_role = origin")


def _sum_days() -> None:
    """Of the accounts that are so long that the jobs sum them."""
    ask(
        "TRUNCATE payments_dailysum, payments_dailysumplace, reports_hourlybooking,"
        " reports_hourlybookingplace, ledger_balancemark"
    )  # older entries have come
    long = ask(
        "SELECT e.account_id, a.store_id, count(*) FROM ledger_entry e JOIN ledger_account a"
        " ON a.id = e.account_id GROUP BY 1, 2 HAVING count(*) > %s",
        TAIL_MAX,
    )
    for account_id, store_id, entries in long:
        for _ in range(0, entries, ENTRIES_AT_ONCE):
            for keep in SUMS if store_id else SUMS[:1]:
                with transaction.atomic():
                    keep(account_id)


def _sum_hours() -> None:
    ask(
        "TRUNCATE payments_paymentchange, payments_hourlysum, payments_soldsum, payments_soldspan,"
        " payments_platformsum"
    )
    ask(_CHANGES)
    hourly_sums.sum_hours(CHANGES_AT_ONCE)


def _read_on() -> None:
    for job, table in READ_ON.items():
        ((newest,),) = ask(f"SELECT coalesce(max(id), 0) FROM {table}")
        RowTurn.objects.update_or_create(job=job, defaults={"row_id": f"{newest}:{newest}:0"})


def _vacuum(lanes: int) -> None:
    names = ask(
        "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r'"
        " AND relnamespace = 'public'::regnamespace ORDER BY pg_relation_size(oid) DESC"
    )
    if lanes > 1:
        run_all([f"VACUUM {name}" for (name,) in names], lanes)
    ask("VACUUM ANALYZE")
