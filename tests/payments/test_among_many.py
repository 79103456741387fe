"""Among thousands of payments, those that are looked for are found by reading few, also beneath the
policies, and their net is added up without the ledger."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from apps.audit.grants import WEB
from apps.core.db import tenancy
from apps.payments.models import Payment
from apps.payments.net import _NET
from tests.cast import Cast, assemble
from tests.dashboard.browse import Browser
from tests.dashboard.test_search import groups, month_of_payments
from tests.growth.buffers import reading
from tests.payments.test_net import net, ranges
from tests.payments.test_references import found
from tests.roles import acting_as
from tests.stage import standing

MANY = 5_000
# The payments' own pages alone are more than twice that.
REFERENCES_MAX = 100
# What the page, and the search over everything, reads beside the payments that are found; those
# pages would come to as much again.
LIST_MAX = 300
SEARCH_MAX = 200
# Whatever other tests have left there, PostgreSQL knows how little it is.
READ = (
    "payments_payment, payments_paymentemail, payments_paymentreference, payments_paymentnet,"
    " billing_customer, billing_invoice, billing_invoicepayment, links_paymentlink,"
    " links_linkpayment"
)


def month() -> Cast:
    """Each payment reconciled, with a net of 9.90."""
    cast = assemble()
    first = month_of_payments(cast, MANY, reconciliation_due="false")
    Payment.objects.filter(pk=first.pk).update(reconciliation_due=False)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO payments_paymentnet (payment_id, store_id, mode, created_at, net_cents)"
            " SELECT id, store_id, mode, created_at, 990 FROM payments_payment WHERE completed_at"
            " IS NOT NULL"
        )
        cursor.execute(f"ANALYZE {READ}")
    return cast


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    yield from standing(django_db_blocker, month)


@pytest.fixture
def cast(stage: Cast, db: None) -> Cast:
    return stage.again()


def test_a_part_of_a_reference_is_found_by_reading_few(cast: Cast) -> None:
    """The policies let no index serve LIKE."""
    own = Payment.objects.filter(store=cast.bakery.store, mode="test")
    first = own.get(order_id="A-0")
    for part in (first.reference[5:9], "ABCD", "F00D", "ZZQQ", "0123456"):
        holding = own.filter(reference__contains=part).order_by("-created_at", "-id")
        with reading() as read:
            assert found(cast.bakery, part) == [str(row.pk) for row in holding], part
        assert sum(read.buffers.values()) < REFERENCES_MAX, f"{part}: {read.buffers}"


def test_the_email_of_the_oldest_is_found_by_reading_few(cast: Cast) -> None:
    browser = Browser(cast.alice)
    oldest = Payment.objects.filter(store=cast.bakery.store).earliest("created_at")
    typed = f"BUYER{MANY}@example.com"
    for email, holding in ((typed, [oldest]), ("nobody@example.com", [])):
        with reading() as read:
            answer = browser.get("payments", data={"q": email})
        assert list(answer.context["payments"]) == holding
        assert sum(read.buffers.values()) < LIST_MAX, read.buffers
        with reading() as read:
            titles = groups(browser, email).get("Payments", [])
        assert titles == [row.title for row in holding]
        assert sum(read.buffers.values()) < SEARCH_MAX, read.buffers


def test_their_net_is_added_up_without_the_ledger(cast: Cast) -> None:
    with acting_as(WEB), tenancy.within(tenancy.of([cast.bakery.store], ["test"])):
        figures = net(cast.bakery)
        now, before = ranges(cast.bakery)
        viewer = cast.bakery.access()
        asked = {
            "store_id": viewer.store_id,
            "mode": viewer.mode,
            "currency": "EUR",
            "begin": now.begin,
            "end": now.end,
        }
        asked |= {"begin_before": before.begin, "end_before": before.end}
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {_NET._with_values}", asked)
            answer: Any = cursor.fetchone()[0]
        (told,) = json.loads(answer) if isinstance(answer, str) else answer
    paid = Payment.objects.exclude(completed_at=None).filter(store=cast.bakery.store)
    assert sum(figures) == 990 * paid.count()
    assert told["Execution Time"] < 1_000, told  # a few where nobody else is at work
    assert told["Plan"]["Shared Hit Blocks"] + told["Plan"]["Shared Read Blocks"] < 1_250, told
