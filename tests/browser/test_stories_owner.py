"""An owner's way from signing up to money in the bank, through the list of what to do; begun on a
phone, ended in the dark."""

import re
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from apps.access.factors import second_factor
from apps.access.person import sign_up
from apps.assets.models import Asset
from apps.core import clock
from apps.payouts.models import Destination, Payout
from apps.payouts.services.bank_reviews import verify_bank
from apps.payouts.services.progress import advance_payouts
from apps.platforms.services.verifications import approve_verification, submit_own
from apps.stores.models import Store, User
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from dev.demo.billing import BUSINESS
from tests import make
from tests.browser.conftest import OpenPage, turn_to
from tests.browser.stories import Teller, breaches, email_to
from tests.cast import Cast, Shop
from tests.dashboard.browse import code_of

PASSWORD = "a sentence to remember"
COIN = "USDC_SETH"  # banks are paid out of stablecoins
NEXT = "li[aria-current=step]"


@pytest.fixture
def stablecoin(world: Cast) -> None:
    """Test mode has one, as on a service whose operator has put its contract on the test chain."""
    Asset.objects.filter(pk=COIN).update(contract_address="0x" + "01" * 20, is_active=True)


def test_an_owner_signs_up_and_is_paid_at_the_bank(
    stablecoin: None, open_page: OpenPage, server: str, settings: Any, tmp_path: Path
) -> None:
    settings.EMAIL_BACKEND = "apps.core.mailbox.Folder"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    settings.SIGN_UP = sign_up.OPEN
    settings.PUBLIC_URL = server
    known = breaches()
    kim = joined(open_page)
    be_paid(kim)
    kim.page.set_viewport_size({"width": 1280, "height": 900})
    protect(kim)
    connected(kim)
    be_verified(kim)
    kim.page.emulate_media(color_scheme="dark")
    add_the_bank(kim)
    pay_out(kim)
    read_the_books(kim)
    assert breaches() <= known


def joined(open_page: OpenPage) -> Teller:
    """A stranger on a phone, who has a store three pages later."""
    email = f"kim-{uuid.uuid4().hex[:8]}@example.com"
    kim = Teller(open_page("/dashboard/sign-up", width=390, height=844), "owner")
    kim.page.get_by_label("Email").fill(email)
    kim.see("Create an account", "address-phone")
    kim.press("Continue")
    code = re.search(r"^\s+(\d{6})$", email_to(email).text, re.MULTILINE)
    assert code is not None
    kim.page.get_by_label("Code").fill(code.group(1))
    kim.see("Check your email", "code-phone")
    kim.press("Verify email")
    kim.see("Create your store", "store-phone")
    kim.fill(store_name="Records of Kim", your_name="Kim", password=PASSWORD)
    kim.press("Create store")
    kim.reads("Welcome to Records of Kim")
    kim.see("Home", "welcome-phone")
    kim.person = User.objects.get(email=email)
    return kim


def be_paid(kim: Teller) -> None:
    """The first step of the list; its form has a story of its own."""
    step = kim.page.locator(NEXT)
    expect(step).to_contain_text("Take a test payment")
    expect(step.get_by_role("link", name="Create one-time link")).to_be_visible()
    sold = make.payment(shop_of(kim).test, amount="480.00", title="A crate of records")
    make.simulated(shop_of(kim).test, sold["id"], asset_id=COIN)


def protect(kim: Teller) -> None:
    assert kim.person is not None
    kim.go("security/authenticator")
    kim.page.get_by_label("Your password").fill(PASSWORD)
    kim.page.get_by_role("textbox", name="Code").fill(code_of(second_factor.pending(kim.person)))
    kim.press("Turn on")
    kim.reads("They won’t be shown again.")


def connected(kim: Teller) -> None:
    """By her developer, whose own story tells how: a key that has made a call, and an endpoint."""
    shop = shop_of(kim)
    make.payment(shop.test)
    asked = EndpointRequest(
        url="https://1.1.1.1/hooks", subscribed_events=["payment_intent.completed"]
    )
    register_endpoint(shop.access(), asked)


def be_verified(kim: Teller) -> None:
    """By staff; its form has a story of its own."""
    kim.go("")
    expect(kim.page.locator(NEXT)).to_contain_text("Verify your business")
    kim.see_again("Home", "go-live")
    approve_verification(submit_own(store_of(kim), BUSINESS), "As in the register")


def store_of(kim: Teller) -> Store:
    return Store.objects.get(members__user=kim.person)


def shop_of(kim: Teller) -> Shop:
    assert kim.person is not None
    return Shop(store_of(kim), kim.person)


def add_the_bank(kim: Teller) -> None:
    """It can be paid once staff has found that it is the store's."""
    kim.go("payouts/destinations/bank")
    kim.page.get_by_label("Account holder").fill("Kim Records GmbH")
    kim.page.get_by_label("IBAN or account number").fill("DE89370400440532013000")
    kim.page.get_by_label("Name").fill("House bank")
    kim.see("Add test bank account", "bank-dark")
    kim.press("Add bank account")
    kim.give_code()
    kim.press("Confirm")
    kim.reads("Pending verification")
    verify_bank(Destination.objects.get(store=store_of(kim), kind="bank"))
    kim.page.reload()
    kim.reads("Verified")


def pay_out(kim: Teller) -> None:
    kim.go("payouts/new")
    kim.page.get_by_label("Amount", exact=True).fill("200")
    kim.page.get_by_role("radio", name="House bank").check()
    kim.see_again("Pay out", "payout-dark")
    kim.press("Review payout")
    kim.reads("House bank")
    kim.see_again("Confirm payout", "payout-review-dark")
    kim.give_code()
    kim.press("Send payout")
    kim.reads("Pending")
    payout = Payout.objects.get(store=store_of(kim))
    advance_payouts()
    Payout.objects.filter(pk=payout.pk).update(
        submitted_real_at=clock.real_now() - timedelta(minutes=1)
    )
    advance_payouts()
    kim.page.reload()
    kim.see_again("Payout", "payout-paid-dark")
    payout.refresh_from_db()
    assert payout.paid_fiat_amount_cents and payout.paid_external_reference


def read_the_books(kim: Teller) -> None:
    kim.go("statement")
    kim.reads("A crate of records")
    kim.reads("Payout to House bank")
    kim.see_again("Statement", "statement-dark")
    turn_to(kim.page, "/dashboard/balances")
    expect(kim.page.locator("main")).to_contain_text("USDC")
    kim.see("Balances", "balances-dark")
