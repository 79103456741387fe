"""The payouts rooms: everything once more before it leaves, destinations that look alike, retries,
balances."""

import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access.factors import second_factor
from apps.assets.models import Asset, Rate
from apps.core import clock
from apps.ledger.selectors import balances
from apps.payouts.models import Destination, Payout, PayoutSettings
from apps.payouts.services import moves
from apps.payouts.services.bank_reviews import verify_bank
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.destinations import add_bank, add_wallet
from apps.payouts.services.progress import advance_payouts
from apps.stores.services import change_store, create_user
from tests import make
from tests.cast import PASSWORD, Cast
from tests.dashboard.browse import Browser, code_of, field_errors, hidden_fields, text

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
TWIN = "0x5290000000000000000000000000000000009ee7"


def hidden(answer: Any, name: str) -> str:
    found = re.search(rf'name="{name}" value="([0-9a-f]+)"', answer.content.decode())
    assert found is not None, answer.content
    return found[1]


def wish(**fields: str) -> dict[str, str]:
    """The form as it is filled in."""
    return {
        "form_key": uuid.uuid4().hex,
        "asset_id": "SETH",
        "amount": "0.1",
        "destination": "",
        "destination_address": ADDRESS,
        **fields,
    }


def test_everything_is_shown_once_more_before_it_leaves(rich: Cast, alice: Browser) -> None:
    form = alice.get("payouts/new")
    asked = wish(form_key=hidden(form, "form_key"))
    review = alice.post("payouts/new", **asked)
    told = text(review)
    assert (
        review.status_code == 200
        and ADDRESS in told
        and "0.1 <span" in told
        and "This destination is new" in told
    )
    assert "In live mode a payout can’t be undone" in told
    assert not Payout.objects.exists()
    agreed = hidden(review, "agreed")
    other = alice.post("payouts/new", **{**asked, "amount": "0.2"}, agreed=agreed)
    assert other.status_code == 422 and not Payout.objects.exists()
    made = alice.post("payouts/new", **asked, agreed=agreed)
    payout = Payout.objects.get()
    assert (made.status_code, made.headers["Location"]) == (303, f"/dashboard/payouts/{payout.pk}")
    alice.post("payouts/new", **asked, agreed=agreed)
    assert (
        Payout.objects.count() == 1
        and balances(rich.bakery.store.pk, "test")["SETH"].reserved_atomic == 10**17
    )
    advance_payouts()
    assert "Sent" in text(alice.get(f"payouts/{payout.pk}")) and "0.1 <span" in text(
        alice.get("payouts")
    )
    assert "No matches" in text(alice.get("payouts?status=failed"))


def test_a_wallet_payout_needs_two_factor_authentication(rich: Cast) -> None:
    browser = Browser(rich.alice)
    assert "Set it up" in text(browser.get("payouts/new"))
    refused = browser.post("payouts/new", **wish())
    assert refused.status_code == 403 and "two-factor" in text(refused)


def test_the_form_begins_at_the_amount_and_without_destinations_asks_for_an_address_alone(
    rich: Cast,
) -> None:
    browser = Browser(rich.alice)
    form = browser.get("payouts/new")
    page = form.content.decode()
    assert page.count("autofocus") == 1 and re.search(r'<input id="amount"[^>]*autofocus', page)
    alone = text(form)
    assert 'type="radio"' not in alone and 'name="destination" value=""' in alone
    assert "You have no saved destinations yet." in alone
    assert "ETH can’t be paid out to a bank account." in alone and ">Add destinations</a>" in alone
    add_wallet(rich.bakery.store, "test", "sepolia", ADDRESS)
    both = text(browser.get("payouts/new"))
    assert both.count('type="radio" name="destination"') == 2 and "A different address" in both


def test_a_developer_may_look_and_send_nothing(rich: Cast) -> None:
    bob = Browser(rich.bob)
    assert bob.get("payouts").status_code == bob.get("balances").status_code == 200
    for path in (
        "payouts/new",
        "payouts/destinations/wallet",
        "payouts/destinations/bank",
        "payouts/schedules/new",
    ):
        assert bob.get(path).status_code == 403


REFUSED = (
    ({"amount": "x"}, "amount", "Amount must be a decimal number of coins with at most 18 places."),
    (
        {"amount": "1\0e"},
        "amount",
        "Amount must be a decimal number of coins with at most 18 places.",
    ),
    ({"amount": "0"}, "amount", "Amount must be greater than zero."),
    ({"amount": "0.00001"}, "amount", "Amount is below the network minimum."),
    ({"amount": "2"}, "amount", "Insufficient available balance."),
    (
        {"destination_address": "0x1"},
        "destination_address",
        "Destination address is not valid for Ethereum Sepolia.",
    ),
    ({"destination_address": ""}, "destination_address", "Exactly one destination is required."),
    ({"destination": "wallet:x"}, "destination", "Payout detail not found."),
    ({"asset_id": "ETH"}, "asset_id", "Asset is not active."),
    ({"asset_id": "NOPE"}, "asset_id", "Choose what to pay out."),
)


def test_each_error_stands_at_its_input_which_has_the_focus(alice: Browser) -> None:
    marked = (
        r'<(?:input|select|fieldset)\b[^>]*aria-describedby="(?:[\w-]+ )?(\w+)-error" autofocus>'
    )
    for fields, name, sentence in REFUSED:
        answer = alice.post("payouts/new", **wish(**fields))
        assert answer.status_code in (404, 422), fields
        page = answer.content.decode()
        told = re.findall(
            r'<span class="error" id="([a-z_]+)-error" role="alert">([^<]+)</span>', page
        )
        assert told == [(name, sentence)], fields
        assert re.findall(marked, page) == [name] and 'id="errors"' not in page, fields
    assert not Payout.objects.exists()


def test_what_belongs_to_no_input_stands_above_them_all(alice: Browser) -> None:
    page = alice.post("payouts/new", **wish(form_key="x")).content.decode()
    assert (
        'id="errors"' in page
        and "The form is too old; open it again." in page
        and "aria-invalid" not in page
    )
    assert not Payout.objects.exists()


def test_an_address_that_only_looks_like_a_known_one_must_be_compared(
    rich: Cast, alice: Browser
) -> None:
    add_wallet(rich.bakery.store, "test", "sepolia", ADDRESS)
    asked = wish(destination_address=TWIN)
    review = alice.post("payouts/new", **asked)
    assert "only looks like one you know" in text(review) and ADDRESS in text(review)
    agreed = hidden(review, "agreed")
    assert alice.post("payouts/new", **asked, agreed=agreed).status_code == 422
    assert alice.post("payouts/new", **asked, agreed=agreed, compared="yes").status_code == 303
    form = alice.post("payouts/destinations/wallet", network="sepolia", address=TWIN)
    assert "only looks like one you know" in text(form)
    assert (
        alice.post(
            "payouts/destinations/wallet", network="sepolia", address=TWIN, compared="yes"
        ).status_code
        == 303
    )


def test_a_failed_payout_is_tried_again_or_taken_back(rich: Cast, alice: Browser) -> None:
    made = make.payout(rich.bakery.test, 10**17)
    payout = Payout.objects.select_related("store").get(pk=made["id"])
    moves.fail(payout, "unknown", "Declined", clock.real_now())
    page = text(alice.get(f"payouts/{payout.pk}"))
    assert "Declined." in page and "Retry now" in page and "Return to balance" in page
    assert alice.post(f"payouts/{payout.pk}/retry").status_code == 303
    payout.refresh_from_db()
    assert payout.status == "retrying"
    alice.post(f"payouts/{payout.pk}/give-up")
    assert "be returned" in text(alice.get(f"payouts/{payout.pk}"))
    moves.fail(payout, "unknown", "Declined", clock.real_now())
    alice.post(f"payouts/{payout.pk}/give-up")
    assert "Funds returned to your balance" in text(alice.get(f"payouts/{payout.pk}"))
    assert balances(rich.bakery.store.pk, "test")["SETH"].available_atomic == 10**18


def test_destinations_are_added_and_removed_and_no_account_number_is_shown(
    rich: Cast, alice: Browser
) -> None:
    assert (
        alice.post(
            "payouts/destinations/wallet", network="sepolia", address=ADDRESS, label="Cold"
        ).status_code
        == 303
    )
    again = alice.post("payouts/destinations/wallet", network="sepolia", address=ADDRESS)
    assert again.status_code == 422 and "already saved" in text(again)
    bank = {"currency": "EUR", "holder": "Alice", "account": "DE89 3704 0044 0532 0130 00"}
    wrong = alice.post("payouts/destinations/bank", **{**bank, "account": "DE00370400440532013000"})
    assert wrong.status_code == 422 and "That is not an account number." in text(wrong)
    assert alice.post("payouts/destinations/bank", **bank).status_code == 303
    page = text(alice.get("payouts/destinations"))
    assert "Ethereum Sepolia" in page and "reviewed until" not in page
    PayoutSettings.objects.create(store=rich.bakery.store, review_new_destinations=True)
    assert "Payouts reviewed until" in text(alice.get("payouts/destinations"))
    assert (
        ADDRESS in page
        and "EUR account ending in 3000" in page
        and "Pending verification" in page
        and "0532" not in page
    )
    assert "EUR account" not in text(alice.get("payouts/new"))
    verify_bank(Destination.objects.get(kind="bank"))
    offered = text(alice.get("payouts/new"))
    assert ADDRESS in offered and "EUR account" not in offered, "no bank takes ETH"
    wallet = Destination.objects.get(kind="wallet")
    assert "Remove this destination?" in text(alice.get(f"payouts/destinations/{wallet.pk}/remove"))
    alice.post(f"payouts/destinations/{wallet.pk}/remove")
    assert ADDRESS not in text(alice.get("payouts/destinations"))
    assert alice.get(f"payouts/destinations/{wallet.pk}/remove").status_code == 404


def test_a_bank_payout_shows_what_would_land(rich: Cast, alice: Browser) -> None:
    shop = rich.bakery
    change_store(shop.store, kyc_confirmed_at=clock.real_now())
    Asset.objects.filter(pk="USDC_SETH").update(
        is_active=True, is_fiat_eligible=True, contract_address="0x" + "c" * 40
    )
    make.store_coins(shop.store, "USDC_SETH", 10**8)
    assert "swap it into a" in text(alice.get("payouts/new?asset=SETH"))
    assert "appear once they’re verified" in text(alice.get("payouts/new?asset=USDC_SETH"))
    account = add_bank(
        shop.store,
        "test",
        currency="EUR",
        holder="Alice",
        account="DE89370400440532013000",
        is_verified=True,
    )
    schedule = alice.get("payouts/schedules/new").context["form"].values
    assert (schedule["asset_id"], schedule["destination"]) == ("USDC_SETH", f"bank:{account.pk}")
    form = text(alice.get("payouts/new?asset=USDC_SETH"))
    assert (
        "EUR account ending in 3000" in form
        and "0.1 <span" in form
        and "EUR account" not in text(alice.get("payouts/new?asset=SETH"))
    )
    asked = wish(asset_id="USDC_SETH", amount="10", destination=f"bank:{account.pk}")
    review = alice.post("payouts/new", **asked)
    assert "Arrives in the bank, about" in text(review) and "€" in text(review)
    made = alice.post("payouts/new", **asked, agreed=hidden(review, "agreed"))
    assert made.status_code == 303 and Payout.objects.get().rail == "fiat_manual"
    assert "EUR account ending in 3000" in text(alice.client.get(made.headers["Location"]))


def filled_in(page: Any) -> str:
    (amount,) = re.findall(r'id="amount"[^>]*?value="([^"]*)"', page.content.decode(), re.S)
    return str(amount)


@pytest.mark.parametrize("unit", ["", "fiat"])
def test_the_maximum_is_filled_in_and_can_be_sent(rich: Cast, alice: Browser, unit: str) -> None:
    amount = filled_in(alice.get(f"payouts/new?asset=SETH&maximum=1&unit={unit}"))
    assert amount == ("1800.00" if unit else "1")
    asked = wish(amount=amount, unit=unit)
    review = alice.post("payouts/new", **asked)
    assert "Available balance afterwards" in text(review)
    sent = {**hidden_fields(review), "destination": "", "destination_address": ADDRESS}
    assert alice.post("payouts/new", **sent).status_code == 303
    assert Payout.objects.get().amount_atomic == 10**18


def test_the_maximum_is_within_what_staff_have_set(rich: Cast, alice: Browser) -> None:
    set_store_cap(rich.bakery.store, "SETH", per_tx_atomic=5 * 10**17, daily_atomic=6 * 10**17)
    assert filled_in(alice.get("payouts/new?maximum=1")) == "0.5"
    make.payout(rich.bakery.test, 2 * 10**17)
    assert filled_in(alice.get("payouts/new?maximum=1")) == "0.4"
    refused = alice.post("payouts/new", **wish(amount="0.41"))
    assert refused.status_code == 422 and field_errors(refused) == {
        "amount": "At most 0.4 ETH can be paid out now."
    }


def test_an_amount_in_fiat_is_reviewed_and_sent_in_coins(rich: Cast, alice: Browser) -> None:
    review = alice.post("payouts/new", **wish(amount="90", unit="fiat"))
    assert "0.05 <span" in text(review) and "€90.00" in text(review)
    Rate.objects.filter(asset="SETH", currency="EUR").update(rate=3600)
    assert alice.post("payouts/new", **hidden_fields(review)).status_code == 303
    assert Payout.objects.get().amount_atomic == 5 * 10**16
    beyond = alice.post("payouts/new", **wish(amount="9000", unit="fiat"))
    assert field_errors(beyond) == {"amount": "Amount is more than the maximum of €3,420.00."}


def test_only_destinations_that_fit_are_offered_and_the_last_used_is_chosen(
    rich: Cast, alice: Browser
) -> None:
    store = rich.bakery.store
    older = add_wallet(store, "test", "sepolia", ADDRESS)
    add_wallet(store, "test", "sepolia", TWIN)
    add_wallet(store, "test", "base", ADDRESS)
    make.payout(rich.bakery.test, 10**17, crypto_payout_detail_id=str(older.pk))
    page = alice.get("payouts/new").content.decode()
    assert re.findall(r'name="destination" value="([^"]*)"\s+(checked)?', page)[0] == (
        f"wallet:{older.pk}",
        "checked",
    )
    assert page.count('name="destination"') == 3 and "(Base)" not in page


def test_the_form_asks_no_more_questions_with_more_destinations(rich: Cast, alice: Browser) -> None:
    add_wallet(rich.bakery.store, "test", "sepolia", ADDRESS)
    alice.get("payouts/new")
    with CaptureQueriesContext(connection) as few:
        alice.get("payouts/new")
    for _ in range(12):
        add_wallet(rich.bakery.store, "test", "sepolia", make.fresh_address())
    with CaptureQueriesContext(connection) as many:
        page = alice.get("payouts/new")
    assert len(many) == len(few) and "More destinations" in text(page)


def test_balances_say_what_each_part_means(rich: Cast) -> None:
    browser = Browser(rich.alice)
    make.payout(rich.bakery.test, 25 * 10**16)
    page = text(browser.get("balances"))
    assert "0.75" in page and "0.25" in page and "How balances work" in page
    assert page.index("Total balance") < page.index(">≈ €") < page.index("Value</th>")
    assert '>0.75 <span class="unit">ETH' in page and "0.7500" not in page
    make.store_coins(rich.bakery.store, "USDC_SETH", 10**8)
    symbols = [entry["coin_symbol"] for entry in browser.get("balances").context["entries"]]
    assert symbols == ["ETH", "USDC"]
    make.store_coins(rich.bakery.store, "USDC_SETH", 10**10)
    symbols = [entry["coin_symbol"] for entry in browser.get("balances").context["entries"]]
    assert symbols == ["USDC", "ETH"]
    browser.switch("live")
    assert "No balance yet" in text(browser.get("balances")) and "Nothing to pay out" in text(
        browser.get("payouts/new")
    )


def test_nobody_else_sees_them(rich: Cast) -> None:
    made = make.payout(rich.bakery.test, 10**17)
    saved = add_wallet(rich.bakery.store, "test", "sepolia", ADDRESS)
    stranger = Browser(rich.charlie)
    for path in (
        f"payouts/{made['id']}",
        f"payouts/destinations/{saved.pk}/remove",
        "payouts/x",
        f"payouts/schedules/{saved.pk}",
    ):
        assert stranger.get(path).status_code == 404


def test_staff_decide_about_a_payout_with_a_reason(rich: Cast) -> None:
    shop = rich.bakery
    change_store(shop.store, payout_review_threshold_cents=0)
    made = make.payout(shop.test, 10**17)
    clerk = create_user("clerk@tillgate.example", PASSWORD, is_staff=True)
    factor = second_factor.switch_on(clerk, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    staff = Browser()
    staff.post("sign-in", email=clerk.email, password=PASSWORD)
    staff.post("sign-in/code", code=code_of(factor), next="/admin/")
    assert "Review" in text(staff.get("/admin/payouts/payout/"))
    path = f"/admin/payouts/payout/{made['id']}/decide/"
    assert "The amount is above" in text(staff.get(path))
    assert staff.post(path, decision="reject").status_code == 422
    assert staff.post(path, decision="reject", reason="Not theirs").status_code == 302
    assert Payout.objects.get().failure_reason == "Not theirs"
    add_bank(shop.store, "test", currency="EUR", holder="Alice", account="DE89370400440532013000")
    for page in ("destination", "schedule", "storepayoutcap"):
        assert staff.get(f"/admin/payouts/{page}/").status_code == 200
    bank = Destination.objects.get()
    assert "0532" not in text(staff.get(f"/admin/payouts/destination/{bank.pk}/change/"))
    staff.post(
        f"/admin/payouts/destination/{bank.pk}/decide/",
        decision="approve",
        reason="Seen a statement",
    )
    bank.refresh_from_db()
    assert bank.verified_at is not None


def test_a_session_of_the_api_pays_out_to_a_wallet_with_two_factors_only(rich: Cast) -> None:
    body = {"asset_id": "SETH", "amount_atomic": str(10**16), "destination_address": ADDRESS}
    browser = Browser(rich.alice)

    def ask(**headers: str) -> Any:
        sent = {"Idempotency-Key": "one", **headers}
        return browser.client.post(
            "/api/v2/payouts", body, content_type="application/json", headers=sent
        )

    assert (ask().status_code, ask().json()["error"]["code"]) == (403, "mfa_required")
    factor = second_factor.switch_on(rich.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    assert ask().json()["error"]["code"] == "otp_required"
    assert ask(**{"X-OTP-Code": code_of(factor)}).status_code == 201


@pytest.mark.parametrize(("asset_id", "amount"), [("SETH", 10**16), ("SETH_USDC", 10**7)])
def test_a_payout_tells_what_the_network_took_in_its_coin_and_what_came_last_first(
    rich: Cast, asset_id: str, amount: int
) -> None:
    make.store_coins(rich.bakery.store, asset_id, amount)
    made = make.payout(rich.bakery.test, amount, asset_id=asset_id, destination_address=ADDRESS)
    advance_payouts()
    Payout.objects.update(network_fee_atomic=21 * 10**12)
    page = text(Browser(rich.alice).get(f"payouts/{made['id']}"))
    assert '0.000021 <span class="unit">ETH</span>' in page
    history = page.partition('id="history"')[2]
    assert 0 < history.index(">Sent<") < history.index(">Pending<")
