"""Platforms and agents in a real browser: a merchant is added, onboarded by a link and overseen; an
agent gets a credential."""

import re
from typing import Any

import pytest
from django.core import mail as django_mail
from playwright.sync_api import Page, expect

from apps.access.factors import second_factor
from apps.core import clock, mail
from apps.payments import hourly_sums, sold_sums
from apps.stores.models import Store
from apps.stores.services import change_store
from apps.stores.settings import write_settings
from tests import make
from tests.browser.conftest import OpenPage, shoot, turn_to
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Api, Cast
from tests.dashboard.browse import next_code
from tests.dashboard.papers import small_pdf
from tests.platforms.conftest import platform_of
from tests.platforms.destinations.makers import approve, code_in, named, stop_in

LOOKS = [("desktop", 1280, False), ("phone-dark", 390, True)]


def signed_in(world: Cast, open_page: OpenPage, path: str, width: int, dark: bool) -> Page:
    """Alice at the path, with a fresh code."""
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    page: Page = open_page(path, width=width, dark=dark, person=world.alice)
    return page


def see(page: Page, heading: str, name: str) -> None:
    expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    fine(page)
    shoot(page, name)


@pytest.mark.whole  # in platforms/test_rooms.py and test_every_page.py of the suite
@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_a_platform_adds_a_merchant_and_makes_a_link(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    change_store(world.bakery.store, is_platform=True)
    page = signed_in(world, open_page, "/dashboard/platform/accounts/new", width, dark)
    page.get_by_label("Name", exact=True).fill("Corner Shop")
    see(page, "Add sub-merchant", f"platform-new-{look}")
    page.get_by_role("button", name="Add sub-merchant", exact=True).click()
    see(page, "Corner Shop", f"platform-account-{look}")
    steps = page.get_by_role("region", name="Get this sub-merchant ready")
    expect(steps.get_by_role("listitem")).to_have_count(3)
    steps.get_by_role("link", name="Create onboarding link").click()
    see(page, "Onboarding link", f"platform-link-new-{look}")
    page.get_by_role("button", name="Create link").click()
    page.get_by_role("textbox", name="Code from your authenticator app").fill(
        next_code(world.alice)
    )
    page.get_by_role("button", name="Confirm").click()
    see(page, "Onboarding link created", f"platform-link-{look}")
    for path in ("platform", "platform/accounts", "platform/payments"):
        turn_to(page, f"/dashboard/{path}")
        fine(page)
        shoot(page, f"{path.replace('/', '-')}-{look}")
    assert Store.objects.get(platform=world.bakery.store).name == "Corner Shop"


@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_a_merchant_onboards_by_a_link(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    platform = platform_of(world.bakery)
    token = platform.mint(platform.sub(kyc=False).id, return_url=None).json()["token"]
    page = open_page(f"/onboarding/{token}", width=width, dark=dark)
    see(page, "Your business", f"onboarding-business-{look}")
    page.get_by_label("Legal business name").fill("Corner Shop GmbH")
    page.get_by_label("Legal form").fill("GmbH")
    page.get_by_label("Representative").fill("Grete Corner")
    page.get_by_label("Street and number").fill("Marktplatz 1")
    page.get_by_label("City").fill("Bonn")
    page.get_by_label("Country").select_option("DE")
    page.get_by_label("What you sell").fill("Vegetables")
    paper = {"name": "register.pdf", "mimeType": "application/pdf", "buffer": small_pdf()}
    page.get_by_label("File").set_input_files(paper)
    page.get_by_role("button", name="Add document").click()
    expect(page.get_by_role("button", name="Remove register.pdf")).to_be_visible()
    expect(page.get_by_label("City")).to_have_value("Bonn")
    see(page, "Your business", f"onboarding-documents-{look}")
    page.get_by_role("button", name="Submit").click()
    see(page, "Payout destination", f"onboarding-payout-{look}")
    page.get_by_role("link", name="Bank account").click()
    page.get_by_label("Account holder").fill("Corner Shop GmbH")
    page.get_by_label("Account number or IBAN").fill("DE89370400440532013000")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Payout destination")
    fine(page)
    shoot(page, f"onboarding-after-{look}")
    page.goto(page.url.split("?")[0])
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    fine_again(page)


def look_at(page: Page, heading: str, name: str, *, script: bool) -> None:
    expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    if script:
        fine(page)
    shoot(page, name)


@pytest.mark.parametrize(
    ("look", "width", "dark", "script"),
    [
        pytest.param("desktop", 1280, False, False, marks=pytest.mark.whole),
        ("phone-dark", 390, True, True),
    ],
)
def test_a_live_destination_is_hurried_by_the_contacts_code_or_stopped_by_them(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool, script: bool
) -> None:
    """Without a script too."""
    platform = platform_of(world.bakery)
    merchant = platform.sub(kyc=False)
    contact = f"{merchant.id[:8]}@corner.example"

    def email() -> Any:
        while mail.send_due():  # other tests' too
            pass
        return [item for item in django_mail.outbox if item.to == [contact]][-1]

    platform.attest(merchant.id, contact_email=contact)
    path = named(platform, merchant, make.fresh_address())
    page = open_page(path, width=width, dark=dark, script=script)
    site = page.url.partition("/onboarding/")[0]
    expect(page.get_by_role("heading", name="Saved, not active yet", level=1)).to_be_visible()
    expect(page.get_by_label("Code from the email")).to_have_count(0)

    approve(merchant)
    page.reload()
    page.get_by_label("Code from the email").fill("0000 0000")
    page.get_by_role("button", name="Activate now").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "This code isn’t the one from the latest email"
    )
    look_at(page, "Saved, not active yet", f"live-wrong-{look}", script=script)
    page.get_by_role("button", name="Send a new code").click()
    expect(page.get_by_role("alert")).to_contain_text("Wait a minute")
    page.get_by_label("Code from the email").fill(code_in(email()))
    page.get_by_role("button", name="Activate now").click()
    look_at(page, "Ready for payouts", f"live-confirmed-{look}", script=script)
    assert (
        page.get_by_role("link", name="Continue to shop.example").get_attribute("href")
        == "https://shop.example/back"
    )

    other = named(platform, merchant, make.fresh_address())
    page.goto(site + stop_in(email()))
    look_at(page, "Remove this destination?", f"live-stop-{look}", script=script)
    page.get_by_role("button", name="Remove destination").click()
    look_at(page, "Destination removed", f"live-stop-done-{look}", script=script)
    page.goto(site + other)
    expect(page.get_by_role("heading", name="Destination removed", level=1)).to_be_visible()


@pytest.mark.whole  # in dashboard/test_agents.py and test_every_page.py of the suite
@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_an_agent_gets_a_credential_and_its_mandate_is_seen(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    write_settings(world.bakery.store, {"authorization_provider": "policy"})
    make.store_coins(world.bakery.store, "SETH", 10**18)
    agent = Api(world.bakery.secrets["test_agent"])
    agent.post(
        "/agentic/mandates",
        {"asset_id": "SETH", "total_cap_atomic": str(10**17), "mandate_ref": "books"},
    )
    drawn = {
        "asset_id": "SETH",
        "mandate_ref": "books",
        "amount_atomic": str(10**16),
        "pay_to": make.fresh_address(),
    }
    assert agent.post("/agentic/x402/settlements", drawn, key="k").status_code == 201

    page = signed_in(world, open_page, "/dashboard/agents/new", width, dark)
    page.get_by_label("Name", exact=True).fill("The shopping agent")
    see(page, "Create test credential", f"agents-new-{look}")
    page.get_by_role("checkbox", name="Select all").check()
    page.get_by_role("button", name="Create credential").click()
    expect(page.get_by_role("heading", name="Verify it’s you", level=1)).to_be_visible()
    fine_again(page)
    shoot(page, f"agents-confirm-{look}")
    page.get_by_label("Code from your authenticator app").fill(next_code(world.alice))
    page.get_by_role("button", name="Confirm").click()
    see(page, "Your new test credential", f"agents-created-{look}")
    turn_to(page, "/dashboard/agents")
    see(page, "Agents", f"agents-{look}")
    page.get_by_role("link", name="caps").first.click()
    expect(page.get_by_role("button", name="Save caps")).to_be_visible()
    fine_again(page)
    shoot(page, f"agents-caps-{look}")
    page.get_by_label("Maximum per day").first.fill("a lot")
    page.get_by_role("button", name="Save caps").click()
    wrong = page.get_by_label("Maximum per day").first
    expect(wrong).to_have_accessible_description(
        "Maximum per day must be a decimal number of coins with at most 18 places."
    )
    expect(wrong).to_be_focused()
    fine(page)
    shoot(page, f"agents-caps-wrong-{look}")
    turn_to(page, "/dashboard/agents/mandates")
    see(page, "Mandates", f"agents-mandates-{look}")
    turn_to(page, str(page.get_by_role("link", name="books").get_attribute("href")))
    see(page, "books", f"agents-mandate-{look}")


@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_a_platform_reads_what_each_merchant_brings_and_opens_their_payment(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    """It isn't asked to take a payment of its own."""
    platform = platform_of(world.bakery)
    merchant = platform.sub()
    made = make.paid(merchant.test, amount="30.00", order_id="A-1")
    hourly_sums.sum_hours()
    sold_sums.move_newest_days(clock.now(platform.store, "test").date())
    page = signed_in(world, open_page, "/dashboard/", width, dark)
    expect(page.get_by_text("No test payments of your own yet")).to_be_visible()
    expect(page.get_by_text(re.compile("take a test payment", re.I))).to_have_count(0)
    turn_to(page, "/dashboard/platform/accounts")
    row = page.get_by_role("row").filter(has_text="Corner Shop")
    for amount in ("€30.00", "€0.45"):
        expect(row).to_contain_text(amount)
    fine(page)
    page.goto(page.url.split("/dashboard/")[0] + "/dashboard/platform/payments")
    page.get_by_role("row").filter(has_text=made["reference"]).get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(f"/platform/payments/{made['id']}$"))
    for words in ("€30.00", "Corner Shop", "A-1", "€0.45", "Completed"):
        expect(page.locator("main")).to_contain_text(words)
    see(page, "€30.00", f"platform-payment-{look}")
