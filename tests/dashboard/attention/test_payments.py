"""Payments and refunds that need a person: each kind comes about, is resolved where its button
leads, and is gone."""

from typing import Any

from apps.access.factors import second_factor
from apps.assets.models import Asset
from apps.chain.addresses import ZERO_ADDRESS
from apps.chain.models import OutgoingTransaction, UnmatchedTransfer
from apps.core import clock
from apps.core.machine import Step
from apps.core.money import cents_from_text
from apps.dashboard.notices.notices import coins_of
from apps.ledger.models import Movement
from apps.payments.models import LateDeposit, Payment, PaymentAddress, PaymentEvent, Refund
from apps.payments.states import REFUND_MACHINE
from apps.payments.transfer_fits import fits_of
from apps.stores.models import AuditEntry, Role
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast
from tests.dashboard.attention.makers import DAY, arrives, books_are_right, late, only, told
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_refunds import confirmed, reviewed
from tests.dashboard.test_search import joined


def test_a_late_deposit_is_accepted_by_its_button(cast: Cast) -> None:
    payment, deposit = late(cast)
    browser = Browser(cast.alice).prove()
    line = only(browser)
    assert (line.notice.title, line.notice.action) == (
        "Deposit arrived after the payment ended",
        "Accept €10.00",
    )
    assert line.notice.page == f"/dashboard/payments/{payment}"
    assert line.notice.detail.startswith("Rye · ") and line.notice.amount == "€10.00"
    assert (
        browser.get("").context["inbox"].count == 1
        and "1<span" in browser.get("payments").content.decode()
    )
    assert browser.get(line.notice.url).status_code == 200
    assert browser.post(line.notice.url).status_code == 303
    assert told(browser) == []
    assert (
        PaymentEvent.objects.filter(payment=payment, event_type="late_deposit.accepted").count()
        == 1
    )
    assert Movement.objects.filter(kind="late_deposit_accepted").count() == 1
    assert AuditEntry.objects.filter(action="late_deposit.accepted").count() == 1
    assert LateDeposit.objects.get(deposit=deposit).store_id == cast.bakery.store.pk
    books_are_right()


def test_the_row_of_a_late_deposit_posts_it_and_leads_back(cast: Cast) -> None:
    """Without a code that is fresh it asks for one first, and books nothing."""
    late(cast)
    browser = Browser(cast.alice)
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    line = only(browser)
    page = browser.get("attention").content.decode()
    assert f'action="{line.notice.url}"' in page
    (refund,) = line.also
    assert refund.action == "Refund" and f'href="{refund.url}"' in page.replace("&amp;", "&")
    assert browser.get(refund.url).status_code == 200
    name, value = line.notice.posts
    fields = {name: value, "next": "/dashboard/attention"}
    asked = browser.post(line.notice.url, **fields)
    assert asked.status_code == 303 and "/dashboard/confirm?" in asked["Location"]
    assert told(browser) != []
    browser.prove()
    pressed = browser.post(line.notice.url, **fields)
    assert (pressed.status_code, pressed["Location"]) == (303, "/dashboard/attention")
    assert told(browser) == []
    books_are_right()


def test_a_late_deposit_that_is_sent_back_is_gone_too(cast: Cast) -> None:
    payment, _ = late(cast)
    answer = cast.bakery.test.post(
        f"/payments/{payment}/refunds",
        {"refund": {"destination_address": make.fresh_address()}},
        key="back",
    )
    assert answer.status_code == 201, answer.content
    assert Refund.objects.get().is_from_held
    assert told(Browser(cast.alice)) == []
    books_are_right()


def test_an_overpayment_is_refunded_from_its_button(cast: Cast) -> None:
    made = make.simulated(
        cast.bakery.test, make.payment(cast.bakery.test, title="Rye")["id"], "overpaid"
    )
    assert made["state_reason"] == "completed_overpaid"
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == ("Customer overpaid", "Refund difference")
    amount = line.notice.amount.removeprefix("€").removesuffix(" over")
    excess = cents_from_text(amount)
    assert 0 < excess < 1000
    assert line.notice.detail == f"Rye · €{(1000 + excess) / 100:.2f} received, €10.00 due"
    assert line.notice.url.startswith(f"/dashboard/payments/{made['id']}/refund?")
    assert f'value="{amount}"' in browser.get(line.notice.url).content.decode()
    confirmed(browser, made, reviewed(browser, made, amount="0.0001"))
    assert Refund.objects.count() == 1 and told(browser) == []
    books_are_right()
    make.advance(cast.bakery.test, 61)
    assert told(browser) == []


def test_an_overpayment_is_rounded_as_on_its_page(cast: Cast) -> None:
    """0.0071924586 ETH at 1,750 are 12.587."""
    made = make.payment(cast.bakery.test, amount="12.34", currency="CHF")
    assert make.simulated(cast.bakery.test, made["id"], "overpaid")["amount_paid"] == "12.59"
    browser = Browser(cast.alice)
    notice = only(browser).notice
    assert plain(notice.detail).endswith("CHF 12.59 received, CHF 12.34 due")
    assert plain(notice.amount) == "CHF 0.25 over"
    assert "CHF 12.59" in plain(text(browser.get(f"payments/{made['id']}")))
    assert 'value="0.25"' in browser.get(notice.url).content.decode()


def plain(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


def test_an_overpayment_that_is_left_alone_is_shown_for_a_month(cast: Cast) -> None:
    make.simulated(cast.bakery.test, make.payment(cast.bakery.test)["id"], "overpaid")
    assert told(Browser(cast.alice)) == ["Customer overpaid"]
    make.advance(cast.bakery.test, 31 * DAY)
    assert told(Browser(cast.alice)) == []


def test_a_title_from_right_to_left_leaves_the_amounts_beside_it_in_order(cast: Cast) -> None:
    made = make.payment(cast.bakery.test, title="قهوة", amount="24.00")
    make.simulated(cast.bakery.test, made["id"], "underpaid")
    browser = Browser(cast.alice)
    detail = only(browser).notice.detail
    assert detail.startswith("\N{FIRST STRONG ISOLATE}قهوة\N{POP DIRECTIONAL ISOLATE} · €12.00 of")
    # The first letter of a <bdi> decides, also one that is isolated.
    shown = text(browser.get("attention"))
    assert f'<bdi dir="ltr">{detail.partition(" · ")[0]}</bdi>' in shown
    assert '<bdi dir="ltr">€12.00 of €24.00</bdi>' in shown


def test_a_payment_that_is_short_is_told_until_the_rest_has_come_or_its_time_is_over(
    cast: Cast,
) -> None:
    made = make.payment(cast.bakery.test, title="Rye", amount="24.00")
    make.simulated(cast.bakery.test, made["id"], "underpaid")
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == ("Partially paid", "View checkout")
    assert line.notice.url == line.notice.copies == made["hosted_url"]
    assert line.notice.detail.startswith("Rye · €12.00 of €24.00 · Expires ")
    assert line.notice.amount == "€12.00 missing"
    shown = browser.get("attention").content.decode()
    assert f'data-copy="{made["hosted_url"]}"' in shown
    assert [button.action for button in line.also] == ["Accept what arrived", "Give more time"]
    assert all(f'href="{button.url}"' in shown for button in line.also)
    assert [browser.get(button.url).status_code for button in line.also] == [200, 200]
    assert [
        [button.action for button in only(joined(cast, role)).also]
        for role in (Role.DEVELOPER, Role.VIEWER)
    ] == [["Give more time"], []]
    make.simulated(cast.bakery.test, made["id"], "exact", reference="rest")
    assert told(browser) == []
    books_are_right()


def test_what_is_on_its_way_counts_as_paid_in_part(cast: Cast) -> None:
    made = make.payment(cast.bakery.test, title="Rye", amount="24.00")
    make.simulated(cast.bakery.test, made["id"], "underpaid", confirmations=0)
    assert "€12.00 of €24.00" in only(Browser(cast.alice)).notice.detail


def test_an_underpayment_that_was_accepted_is_shown_for_a_month(cast: Cast) -> None:
    change_store(cast.bakery.store, accept_underpayments=True)
    made = make.payment(cast.bakery.test, title="Rye", amount="24.00", expires_in=300)
    make.simulated(cast.bakery.test, made["id"], "underpaid")
    make.advance(cast.bakery.test, 400)
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.detail, line.notice.url) == (
        "Underpaid payment was accepted",
        "Rye · €12.00 of €24.00",
        f"/dashboard/payments/{made['id']}",
    )
    make.advance(cast.bakery.test, 31 * DAY)
    assert told(browser) == []


def test_an_underpayment_that_goes_back_is_no_longer_told(cast: Cast) -> None:
    change_store(cast.bakery.store, accept_underpayments=False)
    made = make.payment(cast.bakery.test, title="Rye", amount="24.00", expires_in=300)
    make.simulated(cast.bakery.test, made["id"], "underpaid")
    make.advance(cast.bakery.test, 400)
    assert Refund.objects.get().reason == "failed_underpaid"
    assert told(Browser(cast.alice)) == []


def test_a_rejected_payment_of_an_unknown_sender_is_refunded_to_an_address_that_is_named(
    cast: Cast,
) -> None:
    change_store(cast.bakery.store, accept_overpayments=False)
    made = make.payment(cast.bakery.test, title="Rye")
    arrives(made, sender=ZERO_ADDRESS, share=2)
    browser = Browser(cast.alice)
    line = only(browser)
    assert line.notice.title == "Refund needs an address"
    assert (line.notice.action, line.notice.amount[-3:]) == ("Refund to an address", "ETH")
    assert "asset_id=SETH" in line.notice.url
    review = reviewed(browser, made, destination_address=make.fresh_address())
    confirmed(browser, made, review)
    assert Refund.objects.count() == 1 and told(browser) == []
    books_are_right()


def test_a_rejected_card_payment_waits_for_the_merchants_address(cast: Cast) -> None:
    change_store(cast.bakery.store, accept_overpayments=False)
    made = make.payment(cast.bakery.test, title="Rye")
    Payment.objects.filter(pk=made["id"]).update(is_card_funded=True)
    arrives(made, sender=ZERO_ADDRESS, share=2)
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == (
        "Card payment needs a refund",
        "Issue refund",
    )
    confirmed(browser, made, reviewed(browser, made, destination_address=make.fresh_address()))
    assert told(browser) == []


def test_a_refund_that_failed_is_made_again(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    made = make.paid(cast.bakery.test, title="Rye")
    browser = Browser(cast.alice)
    confirmed(browser, made, reviewed(browser, made))
    row = Refund.objects.get()
    assert told(browser) == []
    REFUND_MACHINE.change_status(row, Step("failed"), at=clock.real_now())
    line = only(browser)
    assert (line.notice.title, line.notice.url) == (
        "Refund failed",
        f"/dashboard/payments/{made['id']}/refund",
    )
    Refund.objects.filter(pk=row.pk).update(status="submitted")
    assert told(browser) == []


def usdc_arrives(cast: Cast, made: dict[str, Any]) -> None:
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    arrives(made, "USDC_SETH")


def test_coins_that_an_address_was_not_made_for_are_told(cast: Cast) -> None:
    made = make.payment(cast.bakery.test, title="Rye")
    usdc_arrives(cast, made)
    transfer = UnmatchedTransfer.objects.select_related("asset").get()
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == (
        "Unexpected coins arrived",
        f"Accept {coins_of(transfer.amount_atomic, transfer.asset)}",
    )
    assert "USDC" in line.notice.detail and made["reference"] in line.notice.detail
    assert "Rye" in text(browser.get(line.notice.page))
    assert told(Browser(cast.charlie)) == []
    make.advance(cast.bakery.test, 31 * DAY)
    assert told(browser) != [], "it is somebody's money"


def test_a_transfer_that_one_payment_fits_is_accepted_by_a_press_and_a_code(cast: Cast) -> None:
    made = make.payment(cast.bakery.test, title="Rye")
    usdc_arrives(cast, made)
    browser = Browser(cast.alice).prove()
    line = only(browser)
    assert [button.action for button in line.also] == ["Send back"]
    name, value = line.notice.posts
    asked = browser.post(line.notice.url, **{name: value})
    assert asked.context["asks_code"] and made["reference"] in text(asked)
    assert LateDeposit.objects.count() == 0
    accepted = browser.confirm(asked, line.notice.url, **{name: value})
    assert accepted["Location"] == f"/dashboard/payments/{made['id']}"
    assert told(browser) == []
    books_are_right()


def test_a_transfer_that_another_payment_fits_is_decided_on_its_page(cast: Cast) -> None:
    made = make.payment(cast.bakery.test, title="Rye")
    usdc_arrives(cast, made)
    transfer = UnmatchedTransfer.objects.get()
    other = Payment.objects.get(pk=make.payment(cast.bakery.test, title="Mug")["id"])
    row = PaymentAddress.objects.filter(payment=other)
    for percent, action in ((120, "Accept "), (109, "Review transfer")):
        row.update(asset="USDC_SETH", required_atomic=transfer.amount_atomic * percent // 100)
        assert only(Browser(cast.alice)).notice.action.startswith(action)
    fits = fits_of(cast.bakery.access(), transfer, Payment.objects.get(pk=made["id"]))
    assert [fit.payment.pk for fit in fits] == [Payment.objects.get(pk=made["id"]).pk, other.pk]


def test_a_refund_whose_outcome_is_unclear_is_told(cast: Cast) -> None:
    made = make.paid(cast.bakery.test)
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    confirmed(Browser(cast.alice), made, reviewed(Browser(cast.alice), made))
    refund = Refund.objects.select_related("asset").get()
    sending = OutgoingTransaction.objects.create(
        store=cast.bakery.store,
        mode="test",
        chain_id=refund.asset.chain_id,
        asset=refund.asset,
        purpose="refund",
        reference=str(refund.pk),
        to_address=refund.destination_address,
        amount_atomic=refund.amount_atomic,
        status="review",
        requested_at=clock.real_now(),
    )
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.url) == (
        "Refund is under review",
        f"/dashboard/payments/{made['id']}",
    )
    OutgoingTransaction.objects.filter(pk=sending.pk).update(status="failed")
    assert told(browser) == []
