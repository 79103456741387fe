"""A store whose customers' coins go to its own wallet sells for a day: its notifications, the
ledger and its wallet agree."""

from typing import Any

import pytest

from apps.audit.grants import WORKER
from apps.chain.keys.secp256k1 import address_of
from apps.chain.models import Address, Deposit, OutgoingTransaction
from apps.chain.sending import sweeper
from apps.core import clock
from apps.ledger.selectors import Balance, account_balance, balances, own_balances
from apps.payments.models import Payment, Refund
from apps.payments.services.expire import expire_due
from apps.payments.services.late import accept_late_deposit
from apps.payments.services.own_fees import collect_own_fees
from apps.stores.models import Store
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.own_wallets import account, choose
from tests.chain.test_payment_flow import after, entry
from tests.roles import acting_as

pytestmark = pytest.mark.chain
ETHER = 10**18


def memo(shop: Shop, kind: str, asset_id: str = "SETH") -> int:
    return account_balance(shop.store.pk, "test", asset_id, kind)


def held_by(chain: LocalChain, payment: dict[str, Any]) -> int:
    return int(chain.call("eth_getBalance", entry(payment)["address"], "latest"), 16)


def _refuse_overpayments(shop: Shop) -> None:
    Store.objects.filter(pk=shop.store.pk).update(accept_overpayments=False)


@pytest.fixture
def payment(chain: LocalChain, bakery: Shop) -> dict[str, Any]:
    choose(bakery)
    return make.payment(bakery.test)


def test_customers_pay_to_the_addresses_of_the_wallet_in_its_order(
    chain: LocalChain, bakery: Shop
) -> None:
    choose(bakery)
    paid = [entry(make.payment(bakery.test))["address"] for _ in range(3)]
    own = account().public.child(0)
    assert [text.lower() for text in paid] == [address_of(own.child(i).key) for i in range(3)]
    others = [
        way["address"].lower()
        for way in make.payment(bakery.test)["payment_addresses"]
        if way["supported_asset"]["asset_id"] != "SETH"
    ]
    assert Address.objects.filter(pk__in=others, purpose="deposit").count() == len(others)


def test_a_payment_is_told_as_any_other_and_never_available(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    due = int(way["crypto_amount_atomic"])
    chain.pay(way["address"], due)
    assert after(watcher, bakery, payment)["status"] == "processing"
    chain.mine(2)
    done = after(watcher, bakery, payment)
    assert (done["status"], done["settlement_status"]) == ("completed", "completed")
    fee = memo(bakery, "own_fees_due")
    assert fee > 0 and memo(bakery, "own_received") == due - fee
    assert account_balance(None, "test", "SETH", "own_wallets") == -due
    assert account_balance(None, "test", "SETH", "custody_deposits") == 0
    assert account_balance(None, "test", "SETH", "service_fees") == 0
    assert balances(bakery.store.pk, "test").get("SETH", Balance("SETH")).total_atomic == 0
    assert held_by(chain, payment) == due


def test_a_day_of_sales_leaves_books_statement_and_wallet_with_the_same_figures(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    choose(bakery)
    _refuse_overpayments(bakery)
    exact, short, over, late, lost = (make.payment(bakery.test) for _ in range(5))

    def due(payment: dict[str, Any]) -> int:
        return int(entry(payment)["crypto_amount_atomic"])

    amounts = {
        exact["id"]: due(exact),
        short["id"]: due(short) // 2,
        over["id"]: due(over) * 2,
        late["id"]: due(late),
        lost["id"]: due(lost),
    }
    for payment in (exact, short, over):
        chain.pay(entry(payment)["address"], amounts[payment["id"]])
    raw = chain.raw(chain.pay(entry(lost)["address"], amounts[lost["id"]]))
    after(watcher, bakery, lost)
    chain.reorg(1)
    assert after(watcher, bakery, lost)["status"] != "completed"
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(4)
    assert after(watcher, bakery, lost)["status"] == "completed"
    assert make.detail(bakery.test, exact["id"])["status"] == "completed"
    assert make.detail(bakery.test, short["id"])["state_reason"] == "processing_underpaid"
    assert make.detail(bakery.test, over["id"])["state_reason"] == "failed_overpaid"

    make.advance(bakery.test, 3 * 3600)
    make.looked_at(late["id"])
    make.looked_at(short["id"])
    expire_due()
    chain.mine_after(clock.now(bakery.store, "test"))
    chain.pay(entry(late)["address"], amounts[late["id"]])
    chain.mine(4)
    told = after(watcher, bakery, late)
    assert told["status"] == "expired"
    deposit = Deposit.objects.get(address_id=entry(late)["address"].lower())
    accept_late_deposit(
        Payment.objects.get(pk=late["id"]),
        str(deposit.pk),
        clock.now(bakery.store, "test"),
        by=bakery.owner_access(),
    )
    own = own_balances(bakery.store.pk, "test")["SETH"]
    assert own.total_atomic == sum(amounts.values())
    assert own.own_pending_atomic == amounts[short["id"]] + amounts[over["id"]]
    in_wallet = sum(held_by(chain, payment) for payment in (exact, short, over, late, lost))
    assert in_wallet == own.total_atomic
    assert balances(bakery.store.pk, "test").get("SETH", Balance("SETH")).total_atomic == 0
    assert not auditing.breaches(check_chain=True)


def test_what_the_merchant_spends_from_the_wallet_is_no_breach(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(3)
    assert after(watcher, bakery, payment)["status"] == "completed"
    chain.call("anvil_setBalance", way["address"], "0x0")
    chain.mine(3)
    watcher.read()
    assert not auditing.breaches(check_chain=True)


def test_a_receipt_that_the_chain_has_not_is_found(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(3)
    after(watcher, bakery, payment)
    Deposit.objects.update(tx_hash="0x" + "ab" * 32)
    found = {finding.invariant for finding in auditing.breaches(check_chain=True)}
    assert "own_receipts_on_chain" in found


def test_nothing_is_swept_from_the_wallet(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], 50 * ETHER)
    chain.mine(3)
    after(watcher, bakery, payment)
    with acting_as(WORKER):
        sweeper.sweep_due("test")
    assert not OutgoingTransaction.objects.exists()


def test_a_refund_from_the_wallet_is_refused_and_says_what_to_do(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(3)
    after(watcher, bakery, payment)
    answer = bakery.test.post(f"/payments/{payment['id']}/refunds", {}, key="own")
    assert answer.status_code == 422, answer.content
    assert "your own wallet" in answer.content.decode()
    assert not Refund.objects.exists()


def test_a_payout_of_coins_in_the_wallet_is_refused_and_says_where_they_are(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(3)
    after(watcher, bakery, payment)
    answer = make.ask_payout(bakery.test, asset_id="SETH", amount_atomic=str(10**16))
    assert answer.status_code == 422, answer.content
    assert "in your own wallet are not held here" in answer.content.decode()


def test_an_overpaid_payment_that_fails_is_not_refunded_by_the_service(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    _refuse_overpayments(bakery)
    chain.pay(entry(payment)["address"], int(entry(payment)["crypto_amount_atomic"]) * 3)
    chain.mine(3)
    assert after(watcher, bakery, payment)["status"] == "failed"
    assert not Refund.objects.exists()
    assert Payment.objects.get(pk=payment["id"]).needs_attention == "own_refund"


def test_fees_are_taken_from_what_is_held_of_the_same_coin(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(3)
    after(watcher, bakery, payment)
    fee = memo(bakery, "own_fees_due")
    with acting_as(WORKER):
        collect_own_fees()
    assert memo(bakery, "own_fees_due") == fee  # nothing of it is held here
    make.store_coins(bakery.store, "SETH", fee + 5)
    before = account_balance(None, "test", "SETH", "service_fees")
    with acting_as(WORKER):
        collect_own_fees()
        collect_own_fees()
    assert memo(bakery, "own_fees_due") == 0 and memo(bakery, "available") == 5
    assert account_balance(None, "test", "SETH", "service_fees") == before + fee
    assert memo(bakery, "own_received") == int(way["crypto_amount_atomic"])


def test_no_fee_is_taken_for_coins_that_a_reorg_took_away(
    chain: LocalChain,
    watcher: Reader,
    bakery: Shop,
    payment: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    way = entry(payment)
    chain.pay(way["address"], int(way["crypto_amount_atomic"]))
    chain.mine(3)
    assert after(watcher, bakery, payment)["status"] == "completed"
    fee = memo(bakery, "own_fees_due")
    make.store_coins(bakery.store, "SETH", fee + 5)
    chain.reorg(4)
    after(watcher, bakery, payment)
    assert Deposit.objects.get(address_id=way["address"].lower()).is_lost
    assert "post none" in caplog.text and "credit custody_deposits" not in caplog.text
    with acting_as(WORKER):
        collect_own_fees()
    assert memo(bakery, "own_fees_due") == fee and memo(bakery, "available") == fee + 5
    with acting_as(WORKER):
        sweeper.sweep_due("test")
    assert not OutgoingTransaction.objects.exists()
