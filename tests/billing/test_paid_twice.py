"""An invoice that two payments paid: the surplus is reported, and what is left never goes below
zero."""

from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import Invoice
from apps.payments.models import Payment
from apps.payments.services.late import accept_late_deposit
from tests import auditing, make
from tests.billing import records as r
from tests.cast import Shop
from tests.dashboard.browse import Browser, text


def paid_twice(shop: Shop) -> tuple[dict[str, object], str]:
    """By a payment in time, and by a late one that was accepted afterward; the late one's id."""
    api = shop.test
    sent = r.opened(api)
    first = str(r.start_payment(sent["public_token"]).json()["payment"]["payment_intent_id"])
    make.advance(api, 3601)
    assert r.pay(api, sent)["needs_attention"] is None
    deposit_id = make.late_deposit(first)
    accept_late_deposit(Payment.objects.get(pk=first), deposit_id, shop.access().now())
    update_paid_amounts()
    return r.invoice(api, str(sent["id"])), first


def test_more_than_the_total_is_flagged_until_it_is_given_back(bakery: Shop) -> None:
    api = bakery.test
    sent, late_id = paid_twice(bakery)
    assert (sent["status"], sent["amount_paid_cents"], sent["needs_attention"]) == (
        "paid",
        2000,
        "overpaid",
    )
    row = Invoice.objects.get(pk=str(sent["id"]))
    assert (row.left_cents, row.excess_cents) == (0, 1000)

    browser = Browser(bakery.owner)
    home = text(browser.get(""))
    assert "Invoice was paid more than once" in home and "€10.00" in home
    page = browser.get(f"invoices/{sent['id']}")
    shown = text(page)
    assert "€10.00 more than its total arrived" in shown
    late = Payment.objects.get(pk=late_id)
    assert shown.count(late.reference) == 2 and f"payments/{late_id}" in page.content.decode()

    make.paid(api, amount="100.00")  # which bears the fees
    body = {"refund": {"destination_address": make.fresh_address()}}
    r.ok(api.post(f"/payments/{late_id}/refunds", body, key="back"), 201)
    for _ in range(2):
        make.advance(api, 61)
    update_paid_amounts()
    now = r.invoice(api, str(sent["id"]))
    assert now["needs_attention"] is None and now["refunded_cents"] > 0
    assert "Invoice was paid more than once" not in text(browser.get(""))
    assert auditing.breaches() == []


def test_the_page_that_resumes_warns_of_a_period_that_is_paid_ahead(bakery: Shop) -> None:
    api = bakery.test
    yearly = r.price(api, interval="yearly")["id"]
    paid, unpaid = (r.subscribe(api, price_id=yearly) for _ in range(2))
    [bill] = r.invoices_of(api, paid["id"])
    r.pay(api, bill)
    for made in (paid, unpaid):
        r.ok(r.change(api, made["id"], "pause"))
    make.advance(api, 30 * r.DAY)
    browser = Browser(bakery.owner)
    warning = "has already paid until"
    assert warning in text(browser.get(f"subscriptions/{paid['id']}/resume"))
    assert warning not in text(browser.get(f"subscriptions/{unpaid['id']}/resume"))
    make.advance(api, 340 * r.DAY)
    assert warning not in text(browser.get(f"subscriptions/{paid['id']}/resume"))
