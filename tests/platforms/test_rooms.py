"""A platform's rooms in the dashboard: becoming one, accounts, links that are shown once, closing,
and what others never see."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.access.factors import second_factor
from apps.core import clock
from apps.dashboard.platform import platforms
from apps.payments import hourly_sums, sold_sums
from apps.payouts.services.destinations import add_wallet
from apps.platforms.models import AccessRequest, OnboardingLink
from apps.platforms.services.verifications import approve_verification
from apps.stores.models import Store, Verification
from apps.stores.verifying.documents import documents_of
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_verification import FORM as BUSINESS
from tests.dashboard.test_verification_documents import picture
from tests.platforms.makers import VERIFICATION, Platform


@pytest.fixture
def owner(cast: Cast) -> Browser:
    """Alice, signed in with a code a moment ago."""
    return Browser(cast.alice, answers=True).prove()


def test_a_store_asks_to_be_a_platform(cast: Cast) -> None:
    browser = Browser(cast.alice)
    asking = text(browser.get("platform"))
    assert "Become a platform" in asking
    assert re.search(r'aria-label="Breadcrumb"> <a href="/dashboard/settings/features">', asking)
    assert browser.post("platform/ask", reason="A market hall").status_code == 303
    assert AccessRequest.objects.get().reason == "A market hall"
    assert "We’re reviewing your request" in text(browser.get("platform"))
    assert browser.post("platform/ask").status_code == 409
    for path in ("platform/accounts", "platform/payments", "platform/accounts/new"):
        assert browser.get(path).status_code == 404


def test_an_account_is_added_found_and_changed(platform: Platform, owner: Browser) -> None:
    refused = owner.post("platform/accounts/new", name="Corner Shop", platform_fee_percentage="100")
    assert refused.status_code == 422 and "Corner Shop" in text(refused)
    sent = {
        "name": "Corner Shop",
        "external_id": "c-1",
        "platform_fee_percentage": "2",
        "country": "DE",
    }
    made = owner.post("platform/accounts/new", **sent)
    account = Store.objects.get(platform=platform.store)
    assert made.headers["Location"] == f"/dashboard/platform/accounts/{account.pk}"
    listed = text(owner.get("platform/accounts"))
    assert "Corner Shop" in listed and ">2%<" in listed and "Not started" in listed
    assert "Corner Shop" in text(owner.get("platform/accounts?q=corner"))
    assert "No matching sub-merchants" in text(owner.get("platform/accounts?q=nobody"))
    page = f"platform/accounts/{account.pk}"
    assert platform.account(account.pk)["platform_fee_percentage"] == "0.02"
    assert 'value="2"' in owner.get(page).content.decode()
    assert (
        owner.post(page, name="New name", external_id="", platform_fee_percentage="").status_code
        == 303
    )
    account.refresh_from_db()
    assert (account.name, account.external_id, account.platform_fee_fraction) == (
        "New name",
        None,
        None,
    )
    assert owner.post(page, name=" ").status_code == 422


def test_a_fee_is_typed_in_percent_and_told_to_programs_as_a_fraction(
    platform: Platform, owner: Browser
) -> None:
    account_id = platform.sub().id
    page = f"platform/accounts/{account_id}"
    for typed, fraction in (
        ("1.5", "0.015"),
        ("0", "0"),
        ("1,5", "0.015"),
        ("0.000001", "0.00000001"),
        ("1.5 %", "0.015"),
        ("90", "0.9"),
    ):
        owner.post(page, name="Corner Shop", external_id="", platform_fee_percentage=typed)
        assert platform.account(account_id)["platform_fee_percentage"] == fraction, typed
        shown = typed.replace(",", ".").removesuffix(" %")
        assert f'value="{shown}"' in owner.get(page).content.decode(), typed


def test_a_link_is_shown_once(platform: Platform, owner: Browser) -> None:
    merchant = platform.sub(kyc=False)
    page = f"platform/accounts/{merchant.id}/link"
    assert (
        owner.post(page, purpose="kyb", return_url="javascript:x", expires_in="86400").status_code
        == 422
    )
    made = owner.post(page, purpose="kyb", return_url="https://shop.example", expires_in="86400")
    assert made.status_code == 201
    shown = text(made)
    found = re.search(r"http://localhost:8000/onboarding/(svcob_\w{40})", shown)
    assert found is not None
    link = OnboardingLink.objects.get()
    assert (link.purpose, link.expires_at - link.created_at) == (
        "kyb",
        link.expires_at.resolution * 86_400 * 10**6,
    )
    detail = text(owner.get(f"platform/accounts/{merchant.id}"))
    assert link.token_prefix in detail and found[1] not in detail


def test_making_a_link_and_closing_need_a_fresh_code(platform: Platform, cast: Cast) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    merchant = platform.sub(kyc=False)
    page = f"platform/accounts/{merchant.id}"
    link = {"purpose": "kyb", "expires_in": "86400"}
    assert Browser(cast.alice).prove().post(f"{page}/link", **link).context["asks_code"]
    closing = Browser(cast.alice).post(f"{page}/close")
    assert "/dashboard/confirm" in closing.headers["Location"]
    assert not OnboardingLink.objects.exists() and platform.account(merchant.id)


def test_a_platform_tells_of_a_business(platform: Platform, owner: Browser) -> None:
    merchant = platform.sub(kyc=False)
    page = f"platform/accounts/{merchant.id}/verification"
    assert owner.post(page, business_legal_name="x").status_code == 422
    assert owner.post(page, **VERIFICATION).status_code == 422
    details = {**BUSINESS, "document": SimpleUploadedFile("register.png", picture("PNG"))}
    assert owner.post(page, **details).status_code == 303
    told = Verification.objects.get(store_id=merchant.id)
    assert (told.business_legal_name, told.representative, told.street, told.city) == (
        "Bakery GmbH",
        "Alice Baker",
        "Hauptstraße 1",
        "Berlin",
    )
    assert [document.name for document in documents_of(told)] == ["register.png"]
    assert "Under review" in text(owner.get(f"platform/accounts/{merchant.id}"))


def test_an_account_is_closed_when_nothing_is_left_and_opened_again(
    platform: Platform, owner: Browser
) -> None:
    merchant = platform.sub()
    page = f"platform/accounts/{merchant.id}/close"
    make.payment(merchant.test)
    assert "Payments that can still be paid" in text(owner.get(page))
    assert owner.post(page).status_code == 409
    make.advance(merchant.test, 3601)
    assert owner.post(page).status_code == 303
    assert "Reopen" in text(owner.get("platform/accounts"))
    assert owner.get(f"platform/accounts/{merchant.id}").status_code == 404
    assert owner.post(f"platform/accounts/{merchant.id}/restore").status_code == 303
    assert owner.get(f"platform/accounts/{merchant.id}").status_code == 200


def test_figures_and_payments_are_on_their_pages(platform: Platform, owner: Browser) -> None:
    merchant = platform.sub()
    made = make.paid(merchant.test, amount="30.00")
    page = text(owner.get("platform"))
    assert "Corner Shop" in page and "ETH on Ethereum Sepolia" in page
    assert 'Fees earned</span> <span class="value">≈ €0.45</span>' in page
    listed = text(owner.get(f"platform/payments?account_id={merchant.id}&status=completed"))
    assert 'data-label="Your fee"' in listed
    assert made["reference"] in listed and '€0.45 <span class="small muted">(1.5%)' in listed
    assert made["reference"] not in text(owner.get("platform/payments?status=pending"))
    assert "<bdi>Corner Shop</bdi>" in text(owner.get("events"))
    theirs = text(owner.get(f"events?account_id={merchant.id}&type=payment_intent.completed"))
    assert "<bdi>Corner Shop</bdi>" in theirs
    none = text(owner.get(f"events?account_id={platform.sub(name='Other').id}"))
    assert "No matching events" in none
    home = text(owner.get(""))
    assert "No test payments of your own yet" in home and "platform/payments" in home
    owner.switch("live")
    assert made["reference"] not in text(owner.get("platform/payments"))


def test_another_platforms_account_is_not_there(
    other: Platform, platform: Platform, owner: Browser
) -> None:
    theirs = other.sub().id
    for tail in ("", "/link", "/verification", "/close"):
        assert owner.get(f"platform/accounts/{theirs}{tail}").status_code == 404
    assert owner.post(f"platform/accounts/{theirs}/restore").status_code == 404


def test_an_account_without_an_approved_contact_says_what_that_means(
    platform: Platform, owner: Browser
) -> None:
    merchant = platform.sub(kyc=True)
    page = f"platform/accounts/{merchant.id}"
    shown = text(owner.get(page))
    assert (
        "None confirmed yet" in shown
        and "are on hold until the business has an approved contact" in shown
    )
    assert "Submit business details" in shown
    assert owner.post(f"{page}/verification", **BUSINESS).status_code == 303
    approve_verification(Verification.objects.get(store_id=merchant.id))
    shown = text(owner.get(page))
    assert VERIFICATION["contact_email"] in shown
    assert (
        "are on hold until the business has an approved contact" not in shown
        and "Submit business details" not in shown
    )


def test_a_statement_says_of_a_platforms_fee_whose_payment_it_is_of(platform: Platform) -> None:
    merchant = platform.sub()
    paid = make.paid(merchant.test, amount="24.00")
    make.paid(platform.test, amount="10.00")
    shown = text(Browser(platform.shop.owner).get("statement"))
    assert shown.count("Platform fee</td>") == 1 and shown.count("Payment settled</td>") == 1
    page = f'href="/dashboard/platform/payments?account_id={merchant.id}"><bdi>Corner Shop</bdi>'
    assert page in shown and paid["reference"] in shown


def test_a_new_sub_merchant_is_shown_its_three_steps(platform: Platform, owner: Browser) -> None:
    merchant = platform.sub(kyc=False)
    page = f"platform/accounts/{merchant.id}"

    def steps() -> list[tuple[str, bool, bool]]:
        found = owner.get(page).context["steps"]
        return [(step.title, step.is_done, step.is_next) for step in found]

    assert steps() == [
        ("Business details", False, True),
        ("Review", False, False),
        ("Payout destination", False, False),
    ]
    shown = text(owner.get(page))
    assert re.search(r'class="button primary"[^>]*accounts/[^"]+/link"', shown)
    assert "Latest payments" not in shown
    owner.post(f"{page}/verification", **BUSINESS)
    assert steps()[0][1:] == (True, False) and steps()[1][1:] == (False, True)
    Store.objects.filter(pk=merchant.id).update(kyc_confirmed_at=clock.real_now())
    add_wallet(Store.objects.get(pk=merchant.id), "test", "sepolia", make.fresh_address())
    assert steps() == []


def test_a_row_of_platform_payments_opens_the_payment(platform: Platform, owner: Browser) -> None:
    merchant = platform.sub()
    made = make.paid(merchant.test, amount="30.00", order_id="A-1")
    assert f'href="/dashboard/platform/payments/{made["id"]}"' in text(
        owner.get("platform/payments")
    )
    page = text(owner.get(f"platform/payments/{made['id']}"))
    assert all(words in page for words in ("€30.00", "Corner Shop", "A-1", "€0.45", "Completed"))
    owner.switch("live")
    assert owner.get(f"platform/payments/{made['id']}").status_code == 404


def test_a_platform_opens_no_payment_of_its_own_or_of_others_there(
    platform: Platform, owner: Browser, cast: Cast
) -> None:
    own = make.payment(platform.test)
    other = make.payment(cast.bakery.test)
    for id in (own["id"], other["id"], "nonsense"):
        assert owner.get(f"platform/payments/{id}").status_code == 404, id


def test_the_list_has_what_each_sub_merchant_sold_and_brought_lately(
    platform: Platform, owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    merchant = platform.sub()
    other = platform.sub(name="Other", external_id="other")
    make.paid(merchant.test, amount="30.00")
    make.paid(merchant.test, amount="7.00", currency="USD")
    hourly_sums.sum_hours()
    sold_sums.move_newest_days(clock.now(platform.store, "test").date())

    def listed() -> dict[str, tuple[list[tuple[str, int]], ...]]:
        return {
            account.store.name: tuple(
                [(amount.currency, amount.cents) for amount in amounts]
                for amounts in (sold, earned)
            )
            for account, _, sold, earned in owner.get("platform/accounts").context["accounts"]
        }

    sold = [("EUR", 3000), ("USD", 700)]
    fees = [("EUR", 45), ("USD", 10)]
    assert listed() == {"Corner Shop": (sold, fees), "Other": ([], [])}
    assert other.id and "€30.00" in text(owner.get("platform/accounts"))
    assert "€0.45" in text(owner.get("platform/accounts"))
    monkeypatch.setattr(platforms, "FEES_ASKED_MAX", 1)
    assert listed() == {"Corner Shop": (sold, []), "Other": ([], [])}, "too many payments to ask"
