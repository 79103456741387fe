"""Subscriptions from their start to their end, as the merchant's pages show them."""

from apps.billing.models import Invoice, Subscription
from tests import make
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.billing.forms import acts_of, new, rows_of
from tests.dashboard.browse import Browser, text


def start(cast: Cast, browser: Browser) -> Subscription:
    """Two of a price of ten euros, for a new customer."""
    api = cast.bakery.test
    new(
        browser,
        "subscriptions/new",
        email=billing.customer(api)["email"].upper(),
        price=[billing.price(api)["id"], ""],
        quantity=["2", "1"],
        trial_days="0",
        grace_cycles="2",
    )
    return Subscription.objects.select_related("customer", "price").get()


def test_a_subscription_begins_with_an_invoice(cast: Cast, browser: Browser) -> None:
    api = cast.bakery.test
    more = new(
        browser,
        "subscriptions/new",
        email=billing.customer(api)["email"],
        price=[billing.price(api)["id"]],
        quantity=["2"],
        more="1",
    )
    assert more.status_code == 200 and text(more).count('name="quantity"') == 4
    row = start(cast, browser)
    assert (row.quantity, row.grace_cycles, row.status) == (2, 2, "active")
    page = text(browser.get(f"subscriptions/{row.pk}"))
    assert (
        "The next period is billed: <strong>€20.00</strong>" in page
        and "INV-0001" in page
        and "An invoice is due." in page
    )


def test_a_subscription_changes_pauses_resumes_and_ends(cast: Cast, browser: Browser) -> None:
    row = start(cast, browser)
    second = billing.price(cast.bakery.test, unit_amount_cents=500)
    browser.post(
        f"subscriptions/{row.pk}/change",
        price=[str(row.price_id), second["id"]],
        quantity=["1", "3"],
        grace_cycles="2",
    )
    assert "The next period is billed: <strong>€25.00</strong>" in text(
        browser.get(f"subscriptions/{row.pk}")
    )
    browser.post(f"subscriptions/{row.pk}/pause")
    assert "Nothing is billed until you resume this subscription." in text(
        browser.get(f"subscriptions/{row.pk}")
    )
    assert "Changes apply when you resume it" in text(browser.get(f"subscriptions/{row.pk}/change"))
    assert "an invoice of €25.00 is created and emailed immediately" in text(
        browser.get(f"subscriptions/{row.pk}/resume")
    )
    browser.post(f"subscriptions/{row.pk}/resume")
    assert Invoice.objects.filter(subscription=row).count() == 2
    assert "At the end of the period" in text(browser.get(f"subscriptions/{row.pk}/cancel"))
    browser.post(f"subscriptions/{row.pk}/cancel", when="period_end")
    assert "The subscription ends. Nothing more is billed." in text(
        browser.get(f"subscriptions/{row.pk}")
    )
    browser.post(f"subscriptions/{row.pk}/uncancel")
    browser.post(f"subscriptions/{row.pk}/cancel", when="now")
    row.refresh_from_db()
    assert row.status == "canceled" and "Cancel subscription" not in text(
        browser.get(f"subscriptions/{row.pk}")
    )
    refused = browser.post(f"subscriptions/{row.pk}/pause")
    assert refused.status_code == 422 and "Cannot change a canceled subscription." in text(refused)
    acts = [
        "created",
        "changed",
        "paused",
        "resumed",
        "cancellation_scheduled",
        "cancellation_cleared",
        "canceled",
    ]
    assert acts_of(cast) == [f"subscription.{act}" for act in acts]
    line = rows_of(browser.get("subscriptions.csv?status=canceled"))[1]
    assert (line[0], line[3], line[7]) == (row.customer.email, "25.00", "canceled")
    assert len(rows_of(browser.get("subscriptions.csv?status=active"))) == 1
    assert browser.get(f"subscriptions/{row.pk}/explode").status_code == 404


def test_what_time_did_to_a_subscription_is_told_on_its_page(cast: Cast, browser: Browser) -> None:
    made = billing.subscribe(cast.bakery.test, grace_cycles=1)
    make.advance(cast.bakery.test, 8 * billing.DAY)
    page = text(browser.get(f"subscriptions/{made['id']}"))
    assert "1 failed payment in a row" in page and "Payment failed" in page
    assert (
        "Past due" in text(browser.get("subscriptions?status=past_due"))
        and made["customer"]["name"] in page
    )
    make.advance(cast.bakery.test, 31 * billing.DAY)
    assert "This subscription ended on" in text(browser.get(f"subscriptions/{made['id']}"))
