"""Every transfer from a hot wallet waits for a token that is stopped; one that the chain reverted
for that alone is asked for again by itself, from the same coins, and arrives once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from apps.agents.models import Settlement, SettlementStep
from apps.agents.services.dispatch import advance_settlements
from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.chain.models import HotWallet, OutgoingTransaction, UnmatchedTransfer
from apps.chain.sending import attempts, obstacles, reservations, sender, signing_rounds
from apps.core import clock
from apps.ledger.models import Movement
from apps.payments.models import Payment, PaymentAddress, Refund, TransferReturn, Withdrawal
from apps.payments.services import withdrawals
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.transfer_returns import advance_returns
from apps.payments.services.transfers import send_transfer_back
from apps.payments.services.withdrawals import WithdrawalRequest, advance_withdrawals
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from apps.payouts.services.runs import run_schedules
from apps.stores.services import create_user
from apps.stores.settings import write_settings
from tests import auditing, make
from tests.cast import Api, Shop, signed_in
from tests.payouts.moody import Issuer, open_moody
from tests.payouts.test_lanes import rounds, time_passes
from tests.payouts.test_tokens_that_lie import issuer, pay_out
from tests.payouts.test_tokens_that_stop import STOPS, stop
from tests.swaps.conftest import DOLLAR, Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_lanes import SECOND
from tests.swaps.test_sweeps import paid_in

__all__ = ["bakery", "issuer", "place"]
pytestmark = pytest.mark.chain
ground = ground_of(open_moody)
TOKEN = "USDC_SETH"
TO = "0x" + "5a" * 20


@dataclass
class Kind:
    """A kind of transfer: its request, its jobs, and its notification."""

    purpose: str
    ask: Callable[[Venue, Shop, Any], object]
    advance: Callable[[], object]
    status: Callable[[], str]
    is_waiting: str
    was_sent: str


def refund(place: Venue, shop: Shop, settings: Any) -> None:
    address = paid_in(place, shop, TOKEN)
    payment_id = PaymentAddress.objects.get(address=address).payment_id
    body = {"refund": {"destination_address": TO}}
    asked = shop.test.post(f"/payments/{payment_id}/refunds", body, key="refund")
    assert asked.status_code == 201, asked.content


def send_back(place: Venue, shop: Shop, settings: Any) -> None:
    payment = make.payment(shop.test)
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset_id="SETH")
    # The clock of a chain that goes back for each test isn't ours.
    Payment.objects.update(created_at=clock.real_now() - timedelta(days=1))
    place.chain.mint(place.token, entry.address_id, 7 * DOLLAR)
    place.arrives()
    transfer = UnmatchedTransfer.objects.get()
    send_transfer_back(signed_in(shop.owner, shop.store), str(transfer.pk), TO)


def draw(place: Venue, shop: Shop, settings: Any) -> None:
    write_settings(shop.store, {"authorization_provider": "policy", "x402_dispatch": True})
    agent = Api(shop.secrets["test_agent"])
    mandate = {"asset_id": TOKEN, "total_cap_atomic": str(9 * DOLLAR), "mandate_ref": "books"}
    assert agent.post("/agentic/mandates", mandate).status_code == 201
    body = {
        "asset_id": TOKEN,
        "mandate_ref": "books",
        "amount_atomic": str(7 * DOLLAR),
        "pay_to": TO,
    }
    answer = agent.post("/agentic/x402/settlements", body, key="draw")
    assert answer.status_code == 201, answer.content
    # Of test mode nothing leaves; here it does as in live mode.
    Settlement.objects.update(is_dispatched=True, status="pending")
    SettlementStep.objects.update(to_status="pending")


def withdraw(place: Venue, shop: Shop, settings: Any) -> None:
    settings.WITHDRAWAL_ADDRESSES = [TO]
    sam, tess = (
        create_user(f"{name}@example.com", "pw-0123456789", name=name, is_staff=True)
        for name in ("sam", "tess")
    )
    make._correct(TOKEN, "service_fees", None, 9 * DOLLAR, sam)
    asset = Asset.objects.select_related("chain").get(pk=TOKEN)
    wanted = WithdrawalRequest("may", asset, 7 * DOLLAR, TO, "Salaries")
    row = withdrawals.request_withdrawal(wanted, sam, clock.real_now())
    withdrawals.approve_withdrawal(row.pk, tess, clock.real_now())


KINDS = [
    Kind(
        "refund",
        refund,
        advance_refunds,
        lambda: Refund.objects.get().status,
        "pending",
        "submitted",
    ),
    Kind(
        "refund",
        send_back,
        advance_returns,
        lambda: TransferReturn.objects.get().status,
        "pending",
        "submitted",
    ),
    Kind(
        "settlement",
        draw,
        advance_settlements,
        lambda: Settlement.objects.get().status,
        "pending",
        "submitted",
    ),
    Kind(
        "withdrawal",
        withdraw,
        advance_withdrawals,
        lambda: Withdrawal.objects.get().status,
        "approved",
        "approved",
    ),
]
EACH = pytest.mark.parametrize("kind", KINDS, ids=["refund", "return", "draw", "withdrawal"])


def work(place: Venue, kind: Kind, count: int = 1) -> None:
    for _ in range(count):
        kind.advance()
        place.work()
        kind.advance()


def rows_of(kind: Kind) -> list[OutgoingTransaction]:
    return list(OutgoingTransaction.objects.filter(purpose=kind.purpose).order_by("reference"))


@EACH
def test_waits_and_goes_on(
    place: Venue, bakery: Shop, issuer: Issuer, settings: Any, kind: Kind
) -> None:
    kind.ask(place, bakery, settings)
    issuer.pause()
    work(place, kind, 2)
    (row,) = rows_of(kind)
    assert (row.reason_code, row.waits_for, row.nonce) == ("token_stopped", "token", None)
    assert kind.status() == kind.is_waiting and is_exact()

    issuer.pause(False)
    time_passes()
    work(place, kind)
    assert kind.status() == "confirmed" and is_exact()
    assert place.tokens(TO) == row.amount_atomic


def signed(kind: Kind) -> OutgoingTransaction:
    """It was estimated and signed while the token moved, and no node has it yet."""
    kind.advance()
    signing_rounds.sign_due()
    row = rows_of(kind)[-1]
    assert row.status == "signed"
    return row


def reverted(place: Venue, kind: Kind, issuer: Issuer, how: str = "token") -> OutgoingTransaction:
    row = signed(kind)
    stop(issuer, how)
    sender.run_due()
    kind.advance()
    place.arrives()
    sender.run_due()
    row.refresh_from_db()
    assert row.status == "failed", row.reason
    return row


@EACH
@pytest.mark.parametrize(("how", "reason"), STOPS)
def test_what_was_mined_while_it_was_stopped_is_asked_for_again_and_arrives_once(
    place: Venue, bakery: Shop, issuer: Issuer, settings: Any, kind: Kind, how: str, reason: str
) -> None:
    kind.ask(place, bakery, settings)
    first = reverted(place, kind, issuer, how)
    assert first.reason_code == reason
    work(place, kind, 2)
    before, waiting = rows_of(kind)
    assert (before.pk, before.handled_status) == (first.pk, "failed")
    assert (waiting.reference, waiting.waits_for) == (f"{first.reference}-1", "token")
    assert kind.status() == kind.was_sent and is_exact()
    gas = Movement.objects.get(kind="attempt_gas_paid")
    assert gas.reference == first.pk

    stop(issuer, how, False)
    time_passes()
    work(place, kind, 2)
    assert kind.status() == "confirmed" and is_exact()
    assert place.tokens(TO) == first.amount_atomic and len(rows_of(kind)) == 2
    told = {
        *Refund.objects.values_list("tx_hash", flat=True),
        *TransferReturn.objects.values_list("tx_hash", flat=True),
        *Settlement.objects.values_list("tx_ref", flat=True),
        *Withdrawal.objects.values_list("tx_hash", flat=True),
    }
    assert told == {rows_of(kind)[1].tx_hash}


@EACH
def test_after_the_last_attempt_it_fails_as_anything_that_was_reverted(
    place: Venue,
    bakery: Shop,
    issuer: Issuer,
    settings: Any,
    kind: Kind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attempts, "ATTEMPTS_MAX", 2)
    kind.ask(place, bakery, settings)
    for _ in range(2):
        reverted(place, kind, issuer)
        stop(issuer, "token", False)
        time_passes()
    kind.advance()
    assert kind.status() == "failed" and is_exact()
    assert len(rows_of(kind)) == 2 and place.tokens(TO) == 0


@EACH
def test_an_earlier_attempt_and_a_later_one_never_both_leave(
    place: Venue, bakery: Shop, issuer: Issuer, settings: Any, kind: Kind
) -> None:
    """Whichever of them the chain might still mine, the other isn't signed."""
    kind.ask(place, bakery, settings)
    reverted(place, kind, issuer)
    kind.advance()
    first, second = rows_of(kind)
    assert reservations.refusals([second]) == {}
    for row, other in ((first, second), (second, first)):
        OutgoingTransaction.objects.filter(pk=row.pk).update(status="review")
        OutgoingTransaction.objects.filter(pk=other.pk).update(status="requested")
        assert set(reservations.refusals([other])) == {other.pk}
    second.reference = f"{first.reference}-01"
    assert set(reservations.refusals([second])) == {second.pk}


def test_a_refund_tells_its_attempts_and_its_newest_transaction(
    place: Venue, bakery: Shop, issuer: Issuer, settings: Any
) -> None:
    kind = KINDS[0]
    kind.ask(place, bakery, settings)
    reverted(place, kind, issuer)
    stop(issuer, "token", False)
    kind.advance()
    assert Refund.objects.get().attempts == 1
    signing_rounds.sign_due()
    sender.run_due()
    kind.advance()
    row = Refund.objects.get()
    assert (row.status, row.attempts, row.tx_hash) == ("submitted", 2, rows_of(kind)[1].tx_hash)
    place.arrives()


def test_a_scheduled_payout_waits_and_goes_on(place: Venue, bakery: Shop, issuer: Issuer) -> None:
    schedule = {
        "asset_id": TOKEN,
        "frequency": "daily",
        "destination_address": TO,
    }
    made = bakery.test.post("/payout_schedules", {"payout_schedule": schedule})
    assert made.status_code == 201, made.content
    issuer.pause()
    bakery.test.post(f"/payout_schedules/{made.json()['id']}/run")
    run_schedules()
    rounds(place, 2)
    (row,) = OutgoingTransaction.objects.filter(purpose="payout")
    assert (row.waits_for, Payout.objects.get().status) == ("token", "pending")
    issuer.pause(False)
    time_passes()
    rounds(place, 1)
    assert Payout.objects.get().status == "confirmed" and is_exact()


def test_of_two_wallets_the_one_that_isnt_frozen_pays(
    place: Venue, bakery: Shop, issuer: Issuer, settings: Any
) -> None:
    settings.SIGNER_LANES = {"sepolia": 2}
    signing_rounds.introduce()
    place.chain.call("anvil_setBalance", SECOND, hex(10**18))
    make.service_coins("SETH", 10**18)
    place.chain.mint(place.token, SECOND, 300 * DOLLAR)
    make.service_coins(TOKEN, 300 * DOLLAR)
    issuer.freeze(place.hot)
    payouts = [pay_out(bakery) for _ in range(4)]
    for _ in range(3):
        rounds(place, 1)
        obstacles.look_at_tokens()
        time_passes()
    assert {Payout.objects.get(pk=row["id"]).status for row in payouts} == {"confirmed"}
    senders = OutgoingTransaction.objects.filter(purpose="payout", status="confirmed")
    assert set(senders.values_list("from_address", flat=True)) == {SECOND}
    assert HotWallet.objects.filter(halted_at=None).count() == 2 and is_exact()


def test_a_token_whose_logs_hide_what_it_keeps_is_found_by_the_audit(
    place: Venue, bakery: Shop, issuer: Issuer
) -> None:
    """A payout leaves to the unit; what comes in is less than the logs say, and the chain's
    balances tell."""
    issuer.tax(100, is_gross=True)
    payout = pay_out(bakery)
    rounds(place, 1)
    assert Payout.objects.get(pk=payout["id"]).status == "confirmed" and is_exact()
    accept_all_active(bakery.store)
    payment = make.payment(bakery.test)
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset_id=TOKEN)
    payer = place.chain.accounts[0]
    place.chain.mint(place.token, payer, entry.required_atomic)
    data = f"0xa9059cbb{entry.address_id[2:]:0>64}{entry.required_atomic:064x}"
    place.chain.wait(place.chain.send(place.token, data=data))
    place.arrives()
    assert Payment.objects.get(pk=payment["id"]).status == "completed"
    found = {breach.invariant for breach in auditing.breaches(check_chain=True)}
    assert found == {"custody_is_there"}
    advance_payouts()
