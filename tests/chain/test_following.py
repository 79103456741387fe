"""Records whose transfer is submitted, confirmed, failed or in review, and the people who are
notified, for everything that leaves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from apps.agents.models import PaymentOffer, Settlement, SettlementStep, SignedPayment
from apps.agents.services.dispatch import advance_settlements
from apps.agents.services.x402_progress import advance_signed_payments
from apps.assets.models import Asset
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import following, sender
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.ledger import movements
from apps.payments.models import (
    Payment,
    PaymentAddress,
    Refund,
    TestPayment,
    TransferReturn,
    Withdrawal,
)
from apps.payments.services import cold, sweep_books, test_wallet, withdrawals
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.transfer_returns import advance_returns
from apps.payments.services.transfers import send_transfer_back
from apps.payments.services.withdrawals import WithdrawalRequest, advance_withdrawals
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from apps.stores.models.notifications import Notification
from apps.stores.settings import write_settings
from apps.swaps.models import Swap, SwapStep
from apps.swaps.services.progress import advance_swaps
from apps.webhooks.models import Delivery
from tests import make
from tests.cast import Api, Cast, signed_in
from tests.dashboard.browse import Browser

pytestmark = pytest.mark.django_db
HOT, SAFE = "0x" + "ab" * 20, "0x" + "5a" * 20
ROUTER, WRAPPED = "0x" + "1c" * 20, "0x" + "2d" * 20
COINS = 10**18


@dataclass(frozen=True)
class Purpose:
    """`statuses` of the record once its transfer is submitted, confirmed, failed and in review;
    `noun` and `page` as a store's people read them, none where a store has nothing to do with
    it."""

    purpose: str
    ask: Callable[[Cast, Any], object]
    advance: Callable[[], object]
    statuses: tuple[str, str, str, str]
    status: Callable[[], str]
    noun: str = ""
    page: Callable[[], str] = lambda: ""
    # Failures that somebody else hears of: the caller, or the swap of an approval.
    tells_failure: bool = True
    mode: str = "test"
    is_shown: bool = True


def refund(cast: Cast, settings: Any) -> None:
    sale = make.paid(cast.bakery.test, amount="20.00")
    body = {"refund": {"amount": "0.001", "destination_address": SAFE}}
    answer = cast.bakery.test.post(f"/payments/{sale['id']}/refunds", body, key="once")
    assert answer.status_code == 201, answer.content
    Refund.objects.update(is_simulated=False)


def send_back(cast: Cast, settings: Any) -> None:
    transfer = make.stray_transfer(make.payment(cast.bakery.test)["id"])
    send_transfer_back(signed_in(cast.alice, cast.bakery.store), str(transfer))
    TransferReturn.objects.update(is_simulated=False)


def draw(cast: Cast, settings: Any) -> None:
    write_settings(cast.bakery.store, {"authorization_provider": "policy", "x402_dispatch": True})
    make._correct("ETH", "available", cast.bakery.store.pk, COINS, make.clerk())
    agent = Api(cast.bakery.secrets["live_agent"])
    terms = {"asset_id": "ETH", "total_cap_atomic": "1000", "mandate_ref": "books"}
    assert agent.post("/agentic/mandates", terms).status_code == 201
    wanted = {"asset_id": "ETH", "mandate_ref": "books", "amount_atomic": "1000", "pay_to": SAFE}
    answer = agent.post("/agentic/x402/settlements", wanted, key="k")
    assert answer.status_code == 201, answer.content
    assert SettlementStep.objects.count() == 1


def pay_out(cast: Cast, settings: Any) -> None:
    make.store_coins(cast.bakery.store, "SETH", COINS)
    make.payout(cast.bakery.test, COINS // 10, asset_id="SETH")
    Payout.objects.update(is_simulated=False)


def withdraw(cast: Cast, settings: Any) -> None:
    settings.WITHDRAWAL_ADDRESSES = [SAFE]
    make.paid(cast.bakery.test, amount="50.00")
    make.service_coins("SETH", COINS)
    asset = Asset.objects.select_related("chain").get(pk="SETH")
    wanted = WithdrawalRequest("may", asset, 1000, SAFE, "Salaries")
    row = withdrawals.request_withdrawal(wanted, make.clerk(), clock.real_now())
    withdrawals.approve_withdrawal(row.pk, make.clerk(), clock.real_now())


def exchange(cast: Cast, settings: Any) -> None:
    settings.SWAP_ROUTERS = [f"sepolia={ROUTER}:{WRAPPED}"]
    adapter = {"BACKEND": "apps.swaps.providers.uniswap.Uniswap", "OPTIONS": {}}
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "swaps": {**settings.PROVIDERS["swaps"], "test": [adapter]},
    }
    store, at = cast.bakery.store, clock.real_now()
    make.store_coins(store, "SETH", COINS)
    swap = Swap.objects.create(
        store=store,
        mode="test",
        created_at=at,
        updated_at=at,
        source_asset_id="SETH",
        buy_asset_id="USDC_SETH",
        sell_amount_atomic=1000,
        expected_buy_amount_atomic=900,
        min_buy_amount_atomic=800,
        slippage_bps=100,
        provider="uniswap",
        idempotency_key="k",
    )
    SwapStep.objects.create(swap=swap, to_status=swap.status, at=at)
    movements.swap_created(
        store_id=store.pk, mode="test", asset_id="SETH", swap_id=swap.pk, sell_atomic=1000, at=at
    )


def pay_over_x402(cast: Cast, settings: Any) -> None:
    at = clock.real_now()
    here: dict[str, Any] = {"store": cast.bakery.store, "mode": "test", "created_at": at}
    payment = make.payment(cast.bakery.test)
    address = PaymentAddress.objects.filter(payment=payment["id"], asset="SETH").get()
    offer = PaymentOffer.objects.create(
        **here,
        payment_id=address.payment_id,
        asset_id=address.asset_id,
        pay_to_id=address.address_id,
        amount_atomic=10**6,
        resource="https://rye.example/weather",
        timeout_seconds=60,
    )
    SignedPayment.objects.create(
        **here,
        offer=offer,
        chain_id=offer.asset.chain_id,
        contract_address=SAFE,
        payer=SAFE,
        nonce=f"0x{offer.pk.hex:0>64}",
        amount_atomic=10**6,
        valid_after=0,
        valid_before=1,
        signature="0x" + "00" * 65,
        updated_at=at,
    )


def try_the_wallet(cast: Cast, settings: Any) -> None:
    make.service_coins("SETH", COINS)
    payment = Payment.objects.get(pk=make.payment(cast.bakery.test)["id"])
    TestPayment.objects.create(
        store=cast.bakery.store,
        mode="test",
        created_at=clock.real_now(),
        payment=payment,
        amount_atomic=1000,
    )
    test_wallet.request_test_payments()


def own(purpose: str) -> Callable[[Cast, Any], object]:
    """A transfer of the service's own, which no store has asked for."""

    def ask(cast: Cast, settings: Any) -> None:
        make.service_coins("SETH", COINS)
        sender.request(
            chain_id="sepolia",
            asset_id="SETH",
            to=SAFE,
            amount_atomic=1000,
            purpose=purpose,
            reference="once",
            mode="test",
            at=clock.real_now(),
            sweeps=HOT if purpose == "sweep" else "",
        )

    return ask


def handled() -> str:
    return OutgoingTransaction.objects.get().handled_status


def payment_page() -> str:
    return f"/dashboard/payments/{Payment.objects.get().pk}"


BOOKED_ALONE = ("", "confirmed", "failed", "")
PURPOSES = [
    Purpose(
        "refund",
        refund,
        advance_refunds,
        ("submitted", "confirmed", "failed", "pending"),
        lambda: Refund.objects.get().status,
        "Refund",
        payment_page,
    ),
    Purpose(
        "refund",
        send_back,
        advance_returns,
        ("submitted", "confirmed", "failed", "pending"),
        lambda: TransferReturn.objects.get().status,
        "Return",
        lambda: f"/dashboard/transfers/{TransferReturn.objects.get().transfer_id}",
    ),
    Purpose(
        "payout",
        pay_out,
        advance_payouts,
        ("submitted", "confirmed", "failed", "requires_review"),
        lambda: Payout.objects.get().status,
        "Payout",
        lambda: f"/dashboard/payouts/{Payout.objects.get().pk}",
    ),
    Purpose(
        "settlement",
        draw,
        advance_settlements,
        ("submitted", "confirmed", "failed", "submitted"),
        lambda: Settlement.objects.get().status,
        "Draw",
        lambda: f"/dashboard/agents/mandates/{Settlement.objects.get().mandate_id}",
        mode="live",
    ),
    Purpose(
        "swap",
        exchange,
        advance_swaps,
        ("submitted", "completed", "failed", "submitted"),
        lambda: Swap.objects.get().status,
        "Swap",
        lambda: f"/dashboard/swaps/{Swap.objects.get().pk}",
    ),
    Purpose(
        "x402",
        pay_over_x402,
        advance_signed_payments,
        ("submitted", "settled", "submitted", "submitted"),
        lambda: SignedPayment.objects.get().status,
        "Payment",
        payment_page,
        tells_failure=False,
    ),
    Purpose(
        "test_payment",
        try_the_wallet,
        test_wallet.book_test_payments,
        ("", "confirmed", "failed", "review"),
        handled,
        "Test payment",
        payment_page,
    ),
    Purpose(
        "withdrawal",
        withdraw,
        advance_withdrawals,
        ("approved", "confirmed", "failed", "approved"),
        lambda: Withdrawal.objects.get().status,
    ),
    Purpose("cold", own("cold"), cold.book_cold, BOOKED_ALONE, handled),
    Purpose("join", own("join"), sweep_books.book_sweeps, BOOKED_ALONE, handled),
    Purpose("sweep", own("sweep"), sweep_books.book_sweeps, BOOKED_ALONE, handled),
    Purpose("sweep_gas", own("sweep_gas"), sweep_books.book_sweeps, BOOKED_ALONE, handled),
]
NAMES = ["return" if purpose.ask is send_back else purpose.purpose for purpose in PURPOSES]
EACH = pytest.mark.parametrize("purpose", PURPOSES, ids=NAMES)


def asked(cast: Cast, settings: Any, purpose: Purpose) -> OutgoingTransaction:
    HotWallet.objects.get_or_create(chain_id="sepolia", address=HOT, defaults={"next_nonce": 1})
    purpose.ask(cast, settings)
    purpose.advance()
    return OutgoingTransaction.objects.get(purpose=purpose.purpose)


def comes_to(row: OutgoingTransaction, purpose: Purpose, status: str) -> str:
    """Status of the record once its transfer has come so far."""
    changes: dict[str, Any] = {"tx_hash": "0x" + "16" * 32, "from_address": HOT, "nonce": 0}
    if status in ("confirmed", "failed"):
        changes |= {"network_fee_atomic": 5, "block_number": 1}
        changes["received_atomic"] = 900 if purpose.purpose == "swap" else 0
    if status != "submitted":
        changes["finished_at"] = clock.real_now()
    if status == "failed":
        changes["reason"] = "The recipient refuses it"
    OutgoingTransaction.objects.filter(pk=row.pk).update(status=status, **changes)
    for _ in range(3):
        purpose.advance()
    return purpose.status()


def heard() -> list[tuple[str, str]]:
    """Notifications of the store's people, besides those of what had come in."""
    rows = Notification.objects.exclude(kind__in=["payment_completed", "payout_confirmed"])
    rows = rows.exclude(title__contains="arrived").exclude(title__contains="paid")
    return list(rows.order_by("pk").values_list("title", "path"))


@EACH
@pytest.mark.parametrize("number", range(4), ids=["submitted", "confirmed", "failed", "review"])
def test_what_becomes_of_it_and_who_hears_of_it(
    cast: Cast, settings: Any, purpose: Purpose, number: int
) -> None:
    status = ("submitted", "confirmed", "failed", "review")[number]
    row = asked(cast, settings, purpose)
    assert heard() == []
    assert comes_to(row, purpose, status) == purpose.statuses[number]
    is_told = status == "review" or (status == "failed" and purpose.tells_failure)
    words = "failed" if status == "failed" else "is under review"
    news = [
        (title.startswith(f"{purpose.noun} of "), title.endswith(words), path)
        for title, path in heard()
    ]
    assert news == [(True, True, purpose.page())] * bool(purpose.noun and is_told)
    row.refresh_from_db()
    if status in ("confirmed", "failed") and purpose.purpose != "x402":
        assert row.handled_status == status
    browser = Browser(cast.alice)
    browser.post("mode", mode=purpose.mode)
    shown = [
        (line.notice.title, line.notice.action, line.notice.url)
        for line in browser.get("attention").context["lines"]
        if "under review" in line.notice.title
    ]
    if status == "review" and purpose.noun:
        noun = purpose.noun
        assert shown == [(f"{noun} is under review", f"View {noun.lower()}", purpose.page())]
        page = purpose.page().removeprefix("/dashboard/")
        assert browser.get(page).status_code == 200
    else:
        assert shown == []


def test_a_refund_that_fails_is_an_event(cast: Cast, settings: Any) -> None:
    """One event, with the payment as it is and the refund; its endpoint has asked for it."""
    wanted = {"url": "https://1.1.1.1/hook", "subscribed_events": ["refund.failed"]}
    made = cast.bakery.test.post("/webhook_endpoints", {"webhook_endpoint": wanted})
    assert made.status_code == 201, made.content
    purpose = PURPOSES[NAMES.index("refund")]
    row = asked(cast, settings, purpose)
    assert comes_to(row, purpose, "failed") == "failed"
    events = cast.bakery.test.get("/events").json()["data"]
    (event,) = [one for one in events if one["type"] == "refund.failed"]
    told = event["data"]["object"]
    payment = Payment.objects.get()
    assert (told["id"], told["payment_intent_id"]) == (payment.reference, str(payment.pk))
    assert told["status"] == told["from_status"] == told["to_status"] == "completed"
    assert told["refund"] == cast.bakery.test.get(f"/payments/{payment.pk}/refunds").json()[0]
    assert told["refund"]["status"] == "failed"
    assert told["refund"]["failure_reason"] == "The recipient refuses it"
    (delivery,) = Delivery.objects.all()
    assert delivery.event.type == "refund.failed"


def test_every_purpose_has_a_follower() -> None:
    known = {
        purpose
        for follower in following.followers()
        for purpose in (follower.purposes or (follower.purpose,))
    }
    assert known == set(OutgoingTransaction.Purpose.values)


@pytest.mark.parametrize("name", ["withdrawal", "cold", "sweep"])
def test_of_what_no_store_asked_for_the_service_hears(
    cast: Cast, settings: Any, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Of a withdrawal both members of staff; of a sweep nobody, as it is asked for again."""
    purpose = PURPOSES[NAMES.index(name)]
    row = asked(cast, settings, purpose)
    comes_to(row, purpose, "failed")
    failures = [line for line in caplog.text.splitlines() if "own_transfer_failed" in line]
    assert len(failures) == (name != "sweep")
    emails = OutgoingMail.objects.filter(key__contains=":failed:")
    assert emails.count() == (2 if name == "withdrawal" else 0)


def test_a_record_that_was_booked_is_not_in_review_again(cast: Cast, settings: Any) -> None:
    """A reorganization took back what had ended: staff look, and nothing is said or booked."""
    purpose = PURPOSES[NAMES.index("test_payment")]
    row = asked(cast, settings, purpose)
    assert comes_to(row, purpose, "confirmed") == "confirmed"
    assert comes_to(row, purpose, "review") == "confirmed"
    assert heard() == []
