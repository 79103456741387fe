"""A store whose litecoin goes to its own wallet: paid on a real node, reported as any other
payment, booked in memo accounts, and nothing that the service's wallets could ever spend."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.access.access import Access
from apps.assets import reviews
from apps.assets.models import AcceptedAsset
from apps.audit import verify
from apps.audit.grants import WORKER
from apps.chain.keys import bip32
from apps.chain.models import CoinRecord, Deposit, OutgoingTransaction
from apps.chain.networks.bitcoin.accounts import read_account
from apps.chain.networks.bitcoin.parameters import LITECOIN_REGTEST
from apps.chain.networks.bitcoin.text_forms import base58, read_base58
from apps.chain.sending import coin_purse, sweeper
from apps.core import clock
from apps.ledger.selectors import Balance, account_balance, balances
from apps.payments.models import Refund
from apps.payments.services import own_losses
from apps.stores.models import Store
from tests import make
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import Reading, entry, reading, reading_of, taker_of
from tests.cast import Shop
from tests.chain.own_wallets import choose
from tests.dashboard.browse import Browser, text
from tests.reports.reading import STATEMENT, made, rows_of
from tests.roles import acting_as

__all__ = ["reading"]
pytestmark = pytest.mark.litecoin
VPUB = bytes.fromhex("045f1cf6")
TPUB = bytes.fromhex("043587cf")
OWN = ("own_pending", "own_received", "own_fees_due")


def account_key() -> bip32.Public:
    return bip32.Private.of_seed(bytes(range(64))).derive("m/84'/1'/0'").public


def vpub() -> str:
    """As wallets show the key of m/84'/1'/0'."""
    return base58(VPUB + read_base58(account_key().text())[4:])


@pytest.fixture
def payment(reading: Reading) -> dict[str, Any]:
    choose(reading.shop, "TLTC", content=vpub())
    return make.payment(reading.shop.test)


def memo(reading: Reading, kind: str) -> int:
    return account_balance(reading.shop.store.pk, "test", "TLTC", kind)


def assert_nothing_is_held(reading: Reading) -> None:
    held = balances(reading.shop.store.pk, "test").get("TLTC", Balance("TLTC"))
    assert held.total_atomic == 0
    assert account_balance(None, "test", "TLTC", "custody_deposits") == 0
    assert not CoinRecord.objects.exists()
    chain = Deposit.objects.get().chain
    assert not coin_purse.spendable(chain).exists()
    with acting_as(WORKER):
        sweeper.sweep_due("test")
    assert not OutgoingTransaction.objects.exists()


def test_it_is_paid_to_the_wallets_first_address_and_never_held(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    assert way["address"] == read_account(vpub(), LITECOIN_REGTEST).address(0)
    due = int(way["crypto_amount_atomic"])
    litecoin.pay(way["address"], way["crypto_amount"])
    assert reading.detail(payment)["status"] == "pending"
    page = reading.shop.test.client.get(f"/pay/{payment['reference']}").content.decode()
    assert "We see your payment." in page
    litecoin.mine(3)
    assert reading.detail(payment)["status"] == "completed"
    fee = memo(reading, "own_fees_due")
    assert fee > 0 and memo(reading, "own_received") == due - fee
    assert account_balance(None, "test", "TLTC", "own_wallets") == -due
    assert_nothing_is_held(reading)
    assert not [found for each in verify.verdicts(check_chain=True) for found in each.findings]


def found_by_key(litecoin: Litecoin) -> int:
    key = base58(TPUB + read_base58(account_key().text())[4:])
    wallet = litecoin.ask("scantxoutset", "start", [{"desc": f"wpkh({key}/0/*)", "range": 30}])
    return round(wallet["total_amount"] * 10**8)


def test_a_day_of_sales_leaves_books_statement_and_the_wallets_own_balance_alike(
    litecoin: Litecoin, reading: Reading
) -> None:
    """The wallet's balance is what a node finds by its public key alone, half of it underpaid, late
    or out of the private part."""
    left = found_by_key(litecoin)  # of earlier tests, whose stores had the same wallet
    choose(reading.shop, "TLTC", content=vpub())
    exact, short, hidden, taken_back = (make.payment(reading.shop.test) for _ in range(4))
    way = entry(exact)
    whole = int(way["crypto_amount_atomic"])
    litecoin.pay(way["address"], way["crypto_amount"])
    litecoin.pay(entry(short)["address"], f"{whole // 2 / 10**8:.8f}")
    litecoin.from_private(entry(hidden)["address"], way["crypto_amount"])
    litecoin.pay(entry(taken_back)["address"], way["crypto_amount"])
    litecoin.mine(1)
    reading.read()
    litecoin.take_back(1)
    litecoin.mine(8)
    reading.read()
    for payment in (exact, hidden, taken_back):
        assert reading.detail(payment)["status"] == "completed"
    held = found_by_key(litecoin) - left
    assert held == 3 * whole + whole // 2 == -account_balance(None, "test", "TLTC", "own_wallets")
    today = clock.real_now().date()
    days = today - timedelta(days=1), today + timedelta(days=1)
    make.advance(reading.shop.test, 4 * 86_400)  # only days that are over are reported
    access = Access.for_public(Store.objects.get(pk=reading.shop.store.pk), "test")
    rows = rows_of(made(access, *days, STATEMENT))
    [closing] = [row for row in rows if row["kind"] == "closing_balance" and "LTC" in str(row)]
    told = {name: round(Decimal(closing[name]) * 10**8) for name in ("total", *OWN)}
    assert told.pop("total") == 0
    assert told == {kind: memo(reading, kind) for kind in OWN} and sum(told.values()) == held
    assert not [found for each in verify.verdicts(check_chain=True) for found in each.findings]


def test_a_reorg_is_told_and_the_coins_are_booked_once(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    litecoin.pay(way["address"], way["crypto_amount"])
    litecoin.mine()
    assert reading.detail(payment)["status"] == "processing"
    litecoin.take_back(1)
    reading.read()
    litecoin.mine(4)
    assert reading.detail(payment)["status"] == "completed"
    assert -account_balance(None, "test", "TLTC", "own_wallets") == int(way["crypto_amount_atomic"])
    assert_nothing_is_held(reading)


def wrong() -> list[object]:
    return [found for each in verify.verdicts(check_chain=True) for found in each.findings]


def test_what_is_double_spent_after_it_was_booked_leaves_the_books_when_its_review_ends(
    replacing: Litecoin, bakery: Shop, settings: Any
) -> None:
    """And is in them again once the chain has it again."""
    with reading_of(replacing, bakery, settings) as reading:
        left = found_by_key(replacing)
        choose(bakery, "TLTC", content=vpub())
        payment = make.payment(bakery.test)
        way = entry(payment)
        due = int(way["crypto_amount_atomic"])
        tx_hash = replacing.pay(way["address"], way["crypto_amount"], is_replaceable=True)
        replacing.mine(6)
        assert reading.detail(payment)["status"] == "completed"
        fee = memo(reading, "own_fees_due")
        with_it = replacing.take_back(6)
        taker_of(replacing, tx_hash)
        [without_it, *_] = replacing.mine(7)
        reading.read()
        own_losses.reverse_own_losses()
        assert memo(reading, "own_received") == due - fee  # staff are looking at it
        stopped = AcceptedAsset.objects.get(store=bakery.store, asset="TLTC", mode="test")
        reviews.end_review(stopped, "It was double-spent")
        for _ in range(2):
            own_losses.reverse_own_losses()
            assert [memo(reading, kind) for kind in OWN] == [0, 0, 0]
        assert found_by_key(replacing) == left
        assert account_balance(None, "test", "TLTC", "own_wallets") == 0
        assert wrong() == []
        replacing.ask("invalidateblock", without_it)
        replacing.ask("reconsiderblock", with_it)
        replacing.mine(3)
        assert "booked as lost, and a block has" in str(wrong())
        reading.read()
        for _ in range(2):
            own_losses.reverse_own_losses()
            assert [memo(reading, kind) for kind in OWN] == [0, due - fee, fee]
        assert found_by_key(replacing) - left == due
        assert wrong() == []


def test_what_is_lost_before_it_was_settled_leaves_what_is_pending(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    half = int(entry(payment)["crypto_amount_atomic"]) // 2
    tx_hash = litecoin.pay(entry(payment)["address"], f"{half / 10**8:.8f}")
    litecoin.mine(2)
    reading.read()
    assert memo(reading, "own_pending") == half
    litecoin.take_back(2)
    litecoin.mine_without(tx_hash, 3)
    reading.read()
    AcceptedAsset.objects.filter(asset="TLTC").update(suspended_at=None, lost_deposit_ids=[])
    own_losses.reverse_own_losses()
    assert [memo(reading, kind) for kind in OWN] == [0, 0, 0] and wrong() == []
    litecoin.mine(2)
    reading.read()
    own_losses.reverse_own_losses()
    assert memo(reading, "own_pending") == half and wrong() == []


def test_a_refund_is_refused_and_the_page_asks_for_an_address(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    litecoin.pay(entry(payment)["address"], entry(payment)["crypto_amount"])
    litecoin.mine(3)
    assert reading.detail(payment)["status"] == "completed"
    answer = reading.shop.test.post(f"/payments/{payment['id']}/refunds", {}, key="own")
    assert answer.status_code == 422 and "your own wallet" in answer.content.decode()
    assert not Refund.objects.exists()


def test_open_payments_keep_their_addresses_when_the_store_goes_there_and_back(
    litecoin: Litecoin, reading: Reading
) -> None:
    shop = reading.shop
    held = make.payment(shop.test)
    choose(shop, "TLTC", content=vpub())
    own = make.payment(shop.test)
    choose(shop, "TLTC", kind="")
    again = make.payment(shop.test)
    for payment in (held, own, again):
        litecoin.pay(entry(payment)["address"], entry(payment)["crypto_amount"])
    litecoin.mine(3)
    for payment in (held, own, again):
        assert reading.detail(payment)["status"] == "completed"
    received = {
        payment["id"]: int(entry(payment)["crypto_amount_atomic"]) for payment in (held, own, again)
    }
    assert -account_balance(None, "test", "TLTC", "own_wallets") == received[own["id"]]
    assert -account_balance(None, "test", "TLTC", "custody_deposits") == (
        received[held["id"]] + received[again["id"]]
    )
    coins = set(CoinRecord.objects.values_list("address", flat=True))
    assert coins == {entry(held)["address"], entry(again)["address"]}
    assert not [found for each in verify.verdicts(check_chain=True) for found in each.findings]


def test_the_page_says_how_far_the_wallet_has_to_look_past_unpaid_addresses(
    litecoin: Litecoin, reading: Reading
) -> None:
    """Wallets look past twenty unused addresses; none is given twice to keep within that."""
    choose(reading.shop, "TLTC", content=vpub())
    ways = [entry(make.payment(reading.shop.test)) for _ in range(22)]
    assert len({way["address"] for way in ways}) == 22
    browser = Browser(reading.shop.owner)
    browser.post("mode", mode="test")
    assert "gap limit" not in text(browser.get("settings/wallets"))
    litecoin.pay(ways[-1]["address"], ways[-1]["crypto_amount"])
    litecoin.mine(3)
    reading.read()
    assert "Set its gap limit to 22 or more" in text(browser.get("settings/wallets"))
