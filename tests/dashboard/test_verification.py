"""The verification of one's own business: submitted, decided, notified, submitted again; and what
waits for it."""

from typing import Any

import pytest
from django.core import mail as django_mail

from apps.core import mail
from apps.platforms.services.verifications import approve_verification, reject_verification
from apps.stores.models import AuditEntry, Role, Store, Verification
from apps.webhooks.models import Event
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser, text

FORM = {
    "business_legal_name": "Bakery GmbH",
    "legal_form": "GmbH",
    "registration_number": "HRB 1234",
    "tax_id": "DE123456789",
    "representative": "Alice Baker",
    "street": "Hauptstraße 1",
    "postal_code": "10115",
    "city": "Berlin",
    "business_country": "DE",
    "business_website": "https://bakery.example",
    "contact_email": "owner@bakery.example",
    "contact_phone": "+49 30 123456",
    "business_description": "Bread and cake",
}


def submitted(cast: Cast) -> Verification:
    assert Browser(cast.alice).post("verification", **FORM).status_code == 303
    found: Verification = Verification.objects.get(store=cast.bakery.store, status="pending")
    return found


def emails(cast: Cast) -> list[Any]:
    mail.send_due()
    return [item for item in django_mail.outbox if item.to == [cast.alice.email]]


def test_a_store_submits_and_sees_what_waits_for_it(cast: Cast) -> None:
    browser = Browser(cast.alice)
    begun = text(browser.get("verification"))
    assert "Not started" in begun and "Payouts to a bank account" in begun
    made = submitted(cast)
    said = {name: getattr(made, name) for name in FORM}
    assert said == FORM
    shown = text(browser.get("verification"))
    assert (
        "Under review since" in shown
        and "Bakery GmbH" in shown
        and "Bread and cake" in shown
        and "+49 30 123456" in shown
        and "Submit for review" not in shown
    )
    store = Store.objects.get(pk=cast.bakery.store.pk)
    assert (store.street, store.postal_code, store.city) == ("Hauptstraße 1", "10115", "Berlin")
    assert store.kyc_confirmed_at is None
    assert AuditEntry.objects.get(action="verification.submitted").store_id == store.pk


def test_one_waits_at_a_time(cast: Cast) -> None:
    submitted(cast)
    refused = Browser(cast.alice).post("verification", **FORM)
    assert refused.status_code == 409 and "already pending" in text(refused)
    assert Verification.objects.filter(store=cast.bakery.store).count() == 1


def test_an_approval_is_told_and_lifts_what_waited(cast: Cast) -> None:
    approve_verification(submitted(cast))
    shown = text(Browser(cast.alice).get("verification"))
    assert "Verified" in shown and "Available once you’re verified" not in shown
    (email,) = emails(cast)
    assert "is verified" in email.subject and "/dashboard/verification" in email.body
    told = Event.objects.filter(store=cast.bakery.store, type="store.verification.approved")
    assert sorted(told.values_list("mode", flat=True)) == ["live", "test"]
    assert "Payouts to a bank account start" not in text(
        Browser(cast.alice).get("payouts/destinations")
    )


def test_a_rejection_tells_why_and_the_details_can_be_corrected(cast: Cast) -> None:
    reject_verification(submitted(cast), "The registration number is of another company")
    (email,) = emails(cast)
    assert "another company" in email.body
    browser = Browser(cast.alice)
    shown = browser.get("verification").content.decode()
    assert "another company" in shown and 'value="HRB 1234"' in shown
    assert (
        browser.post("verification", **FORM | {"registration_number": "HRB 77"}).status_code == 303
    )
    assert "Under review" in text(browser.get("verification"))


def test_an_address_that_the_store_has_stays(cast: Cast) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(street="Old Road 5", city="Cork")
    submitted(cast)
    store = Store.objects.get(pk=cast.bakery.store.pk)
    assert (store.street, store.city) == ("Old Road 5", "Cork")


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.VIEWER, Role.ACCOUNTANT])
def test_only_managers_submit(cast: Cast, role: str) -> None:
    colleague = person(role)
    join(cast.bakery.store, colleague, role)
    browser = Browser(colleague)
    assert "Owners and admins can submit" in text(browser.get("verification"))
    assert browser.post("verification", **FORM).status_code == 403
    assert not Verification.objects.exists()


def test_pages_about_banks_lead_to_it(cast: Cast) -> None:
    for path in ("payouts/destinations", "payouts/destinations/bank"):
        assert b'href="/dashboard/verification"' in Browser(cast.alice).prove().get(path).content
