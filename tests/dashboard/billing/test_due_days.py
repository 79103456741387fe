"""A due date is a date: one day on every page, file and email, for every reader in every zone, and
it ends at midnight in the store's zone."""

from datetime import datetime, timedelta
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from django.core import mail as outbox
from django.test import Client

from apps.billing.invoices import files
from apps.billing.models import Invoice, Subscription
from apps.billing.services.portal import portal_url
from apps.stores.models import Store, User
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.billing.forms import EMAIL, draft_form, new
from tests.dashboard.browse import Browser, text
from tests.make import mail_leaves

ZONES = ("Europe/Berlin", "Pacific/Kiritimati", "America/Los_Angeles", "America/Havana")
# Clocks are turned in Berlin on two of these, and in Havana at midnight of the last.
DAYS = ("2027-01-31", "2027-03-28", "2027-10-31", "2027-11-07")


def shown(day: str) -> str:
    return f"{datetime.fromisoformat(day):%-d %b %Y}"


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS)
def test_a_due_day_ends_at_midnight_of_the_store_and_has_no_hour(
    cast: Cast, browser: Browser, zone: str, day: str
) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(time_zone=zone)
    User.objects.filter(pk=cast.alice.pk).update(time_zone="Asia/Tokyo")
    billing.customer(cast.bakery.test, email=EMAIL)
    new(browser, "invoices/new", **draft_form(save="1", due=day))
    invoice = Invoice.objects.get()
    due = invoice.due_at
    assert due is not None and due.astimezone(ZoneInfo(zone)).strftime("%F %T") == f"{day} 23:59:59"
    assert (due + timedelta(seconds=1)).astimezone(ZoneInfo(zone)).date().isoformat() > day

    assert f'value="{day}"' in text(browser.get(f"invoices/{invoice.pk}/edit"))
    browser.post(f"invoices/{invoice.pk}/edit", **draft_form(save="1", due=day))
    invoice.refresh_from_db()
    assert invoice.due_at == due
    browser.post(f"invoices/{invoice.pk}/finalize", send="on")
    invoice.refresh_from_db()
    page = text(browser.get(f"invoices/{invoice.pk}"))
    due_of_page = page.split("<dt>Due</dt>")[1].split("</dd>")[0]
    assert f">{shown(day)}<" in due_of_page
    assert f">{shown(day)}<" in text(browser.get("invoices"))
    assert shown(day) in Client().get(f"/invoice/{invoice.public_token}").content.decode()

    mail_leaves()
    message = str(outbox.outbox[-1].body)
    assert f"{datetime.fromisoformat(day):%-d %B %Y}" in message


def test_the_files_of_an_invoice_name_the_same_day(cast: Cast, browser: Browser) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(time_zone="Europe/Berlin")
    made = billing.opened(cast.bakery.test, due_at="2027-01-31T22:59:59Z")
    late = billing.opened(cast.bakery.test, due_at="2027-01-31T23:30:00Z")
    for record, day in ((made, "31 Jan 2027"), (late, "1 Feb 2027")):
        invoice = Invoice.objects.get(pk=record["id"])
        assert day in files._page(invoice, is_receipt=False)
        assert record["due_at"].startswith("2027-01-31T2")


def test_an_invoice_keeps_its_day_when_the_store_moves(cast: Cast, browser: Browser) -> None:
    made = billing.opened(cast.bakery.test, due_at="2027-01-31T23:59:59Z")
    Store.objects.filter(pk=cast.bakery.store.pk).update(time_zone="Europe/Berlin")
    assert ">31 Jan 2027<" in text(browser.get(f"invoices/{made['id']}"))
    assert "31 Jan 2027" in Client().get(f"/invoice/{made['public_token']}").content.decode()


def test_the_zone_of_a_store_is_chosen_from_the_list(cast: Cast) -> None:
    browser = Browser(cast.alice).prove()
    page = text(browser.get("settings/store"))
    assert 'value="Europe/Berlin"' in page
    details = {"name": "Bakery", "country": "DE", "customer_language": "en"}
    browser.post("settings/store", **details, time_zone="Europe/Berlin")
    assert Store.objects.get(pk=cast.bakery.store.pk).time_zone == "Europe/Berlin"
    refused = browser.post("settings/store", **details, time_zone="Mars/Olympus")
    assert refused.status_code == 422 and "Choose a time zone from the list" in text(refused)


def shown_days(period: str) -> str:
    first, last = period.split(" to ")
    return f"{shown(first)} – {shown(last)}"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_days_of_a_subscription_are_those_of_its_invoices(
    cast: Cast, browser: Browser, zone: str
) -> None:
    """One of the zones is on another day than the reader, whatever the hour."""
    Store.objects.filter(pk=cast.bakery.store.pk).update(time_zone=zone)
    made = billing.subscribe(cast.bakery.test)
    invoice = Invoice.objects.get()
    period = shown_days(str(invoice.description))
    page = text(browser.get(f"subscriptions/{made['id']}"))
    this_period = page.split("<dt>This period</dt>")[1].split("</dd>")[0]
    assert period in this_period
    due = invoice.due_day
    assert due is not None
    assert f">{shown(due.isoformat())}<" in page.split("An invoice is due.")[1].split("</li>")[0]

    next_bill = Subscription.objects.get().next_billing_at
    assert next_bill is not None
    next_day = shown(next_bill.astimezone(ZoneInfo(zone)).date().isoformat())
    assert f">{next_day}<" in text(browser.get("subscriptions"))
    portal = Client().get(urlsplit(portal_url(invoice.customer)).path).content.decode()
    assert "Next invoice on <time" in portal and f">{next_day}<" in portal
    assert portal.count(f">{shown(due.isoformat())}<") == 2, "of the invoice and what is coming"
