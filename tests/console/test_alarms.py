"""The self-audit never cries wolf: what the product itself forgets or leaves out is no finding.

And a flood of findings stays readable.
"""

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from apps.audit import verify
from apps.core import clock
from apps.core.db import partitions
from apps.ledger.models import Entry
from apps.payments.seals import seal_payments
from apps.stores.auditing import seals
from apps.webhooks.models import Delivery, Event
from apps.webhooks.pruning import MONTHS
from tests import make
from tests.auditing import breaches
from tests.cast import Cast, Shop
from tests.console import test_verify_ledger
from tests.console.test_verify_ledger import tamper
from tests.webhooks.aging import older_ids

day = test_verify_ledger.day
world = test_verify_ledger.world
sold_spans = import_module("apps.payments.migrations.0009_sold_spans")
_MOMENTS = """
SELECT c.table_name, c.column_name
FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
  AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = c.table_name::regclass)
  AND c.data_type = 'timestamp with time zone' AND c.table_name !~ '^(assets|django)'
"""


def listen(shop: Shop) -> str:
    body = {
        "webhook_endpoint": {
            "url": "https://1.1.1.1/hook",
            "subscribed_events": ["payment_intent.completed"],
        }
    }
    answer = shop.test.post("/webhook_endpoints", body)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def age(days: int) -> None:
    """Everything happened so many days earlier; deliveries had long ended."""
    with connection.cursor() as cursor:
        cursor.execute(_MOMENTS)
        moved: dict[str, list[str]] = {}
        for table, column in cursor.fetchall():
            moved.setdefault(table, []).append(f"{column} = {column} - interval '{days} days'")
    tamper(
        "; ".join(f"UPDATE {table} SET {', '.join(columns)}" for table, columns in moved.items())
    )
    tamper(
        f"UPDATE payments_dailysum SET day = day - {days};"
        f" UPDATE payments_soldsum SET day = day - {days};"
        f" UPDATE payments_paymentchange SET sold_on = sold_on - {days};"
        f" DELETE FROM payments_soldspan; DELETE FROM payments_platformsum; {sold_spans.FILL}"
    )
    tamper(older_ids(days))
    tamper(
        "UPDATE webhooks_delivery SET status = 'ignored', next_attempt_at = NULL WHERE status ="
        " 'pending'; DELETE FROM webhooks_queueddelivery"
    )
    seals.seal_lines(clock.real_now())
    seal_payments(clock.real_now())


# A year later what went is what goes after 91 days.
@pytest.mark.parametrize("days", [88, 91, pytest.param(400, marks=pytest.mark.whole)])
def test_books_that_grew_old_and_were_pruned_stay_clean(world: Cast, days: int) -> None:
    age(days)
    before = Event.objects.count()
    assert verify.audit().point is not None

    call_command("prune")

    assert (Event.objects.count() < before) == (days > 90)
    audit = verify.audit(since="last")
    assert (audit.is_broken, audit.since is None) == (False, False)
    assert breaches() == []


def test_what_a_store_far_ahead_of_its_time_was_told_is_pruned_by_the_days_that_passed(
    world: Cast,
) -> None:
    """Its history says next spring of what happened and was forgotten months ago."""
    make.advance(world.bakery.test, 200 * 24 * 3600)
    make.paid(world.bakery.test)
    partitions.make_ahead(MONTHS, clock.real_now() - timedelta(days=150))
    age(150)

    call_command("prune")

    assert breaches() == []


def test_what_should_still_be_there_is_missed(world: Cast) -> None:
    """The bound leaves out what may have been pruned and nothing else."""
    age(85)
    tamper(
        "DELETE FROM webhooks_delivery; DELETE FROM webhooks_event WHERE type ="
        " 'payment_intent.completed'"
    )

    assert {finding.invariant for finding in breaches()} == {"events_told"}


def test_a_test_event_is_told_to_one_endpoint_alone(world: Cast) -> None:
    first, second, third = (listen(world.bakery) for _ in range(3))
    for endpoint in (first, second, second, third):
        assert world.bakery.test.post(f"/webhook_endpoints/{endpoint}/send_test").status_code in (
            200,
            201,
        )

    assert Delivery.objects.filter(is_test=True).count() == 4
    assert breaches() == []


def test_an_event_of_a_payment_is_not_hidden_among_test_events(world: Cast) -> None:
    listen(world.bakery)
    listen(world.bakery)
    make.paid(world.bakery.test)
    tamper(
        "UPDATE webhooks_delivery SET is_test = true WHERE id = (SELECT id FROM webhooks_delivery"
        " ORDER BY created_at DESC LIMIT 1)"
    )

    assert "events_told" in {finding.invariant for finding in breaches()}


def test_a_movement_that_staff_corrected_is_no_finding(world: Cast) -> None:
    shop = world.bakery
    make._correct("SETH", "available", shop.store.pk, 7, make.clerk())

    assert breaches() == []
    assert Entry.objects.filter(movement__kind="correction").count() == 2


def test_a_flood_is_counted_and_cut(world: Cast, capsys: Any) -> None:
    """The alarm lists as many as fit on a screen and in memory, and says how many there are."""
    many = 3 * verify.FINDINGS_MAX
    tamper(
        "INSERT INTO ledger_movement (key, kind, mode, reason, at) SELECT 'empty:' || n,"
        f" 'sweep_confirmed', 'test', '', now() FROM generate_series(1, {many}) n"
    )
    verdict = next(verdict for verdict in verify.verdicts() if verdict.name == "movements_balance")
    assert (verdict.broken, len(verdict.findings)) == (many, verify.FINDINGS_MAX)

    with pytest.raises(SystemExit):
        call_command("verify_ledger")

    lines = capsys.readouterr().out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("movements_balance"))
    assert f"BROKEN ({many})" in lines[start]
    assert (
        lines[start + verify.FINDINGS_MAX + 1].strip() == f"and {many - verify.FINDINGS_MAX} more"
    )


def test_each_question_tells_how_long_it_took(world: Cast, capsys: Any) -> None:
    assert all(timedelta(0) < verdict.took for verdict in verify.verdicts())

    call_command("verify_ledger", "--times")

    lines = capsys.readouterr().out.splitlines()
    assert all(line.split()[3] == "s" and float(line.split()[2]) >= 0 for line in lines[:-2])
