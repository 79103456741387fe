"""Records that fall due while a test clock is moved: of most kinds a store has nothing, and their
modules aren't asked; records that begin on the way are done in their time like everything else."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.billing.models import Invoice
from apps.core import clock
from apps.core.models import OutgoingMail
from tests import make
from tests.billing import records as billing
from tests.cast import Shop


def test_tables_that_have_nothing_of_the_store_are_looked_at_together(bakery: Shop) -> None:
    expired = make.payment(bakery.test, expires_in=300)
    with CaptureQueriesContext(connection) as asked:
        clock.advance(bakery.store, 400)

    reading = [item["sql"] for item in asked if "payouts_payout" in item["sql"]]
    assert make.detail(bakery.test, expired["id"])["status"] == "expired"
    assert reading and all("billing_subscription" in statement for statement in reading)


def test_what_first_comes_into_being_on_the_way_is_asked_about_from_then_on(bakery: Shop) -> None:
    """A subscription's first invoice: nothing of the store was reminded of before."""
    made = billing.subscribe(bakery.test, trial_period_days=10)
    assert not Invoice.objects.filter(store=bakery.store).exists()
    make.advance(bakery.test, 40 * billing.DAY)

    emails = OutgoingMail.objects.filter(to=made["customer"]["email"])
    reminders = {"invoice_open", "invoice_due_soon", "invoice_overdue"}
    assert reminders <= set(emails.values_list("template", flat=True))
