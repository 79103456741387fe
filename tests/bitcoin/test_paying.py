"""A customer pays in litecoin to a real node: the transfer is seen while it waits, counted when it
is mined, and reported as replaced or lost when that becomes of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from apps.assets.models import AcceptedAsset, Asset, Chain
from apps.assets.rates import refresh
from apps.audit.grants import WATCHER
from apps.chain.models import Deposit, SightingRecord
from apps.chain.networks.bitcoin.parameters import LITECOIN_REGTEST
from apps.chain.watching import sightings, watcher
from apps.chain.watching.watcher import Watcher
from apps.core import clock
from apps.ledger.selectors import booked_deposits
from apps.payments.models import LateDeposit, Payment, PaymentAddress
from apps.payments.services import coin_search, looks
from apps.payments.services.settle import settle_deposits
from apps.payments.services.transaction_lookup import LookupResult, find_transaction
from tests import make
from tests.bitcoin.node import Litecoin
from tests.cast import Shop
from tests.roles import acting_as

pytestmark = pytest.mark.litecoin
CHAIN = "litecoin_testnet"
_Status = SightingRecord.Status


class Reading:
    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.watcher = Watcher(CHAIN)

    def read(self) -> None:
        with acting_as(WATCHER):
            while self.watcher.step():
                pass
        settle_deposits()

    def restart(self) -> None:
        self.watcher.close()
        self.watcher = Watcher(CHAIN)

    def detail(self, payment: dict[str, Any]) -> dict[str, Any]:
        self.read()
        return make.detail(self.shop.test, payment["id"])


@pytest.fixture
def reading(litecoin: Litecoin, bakery: Shop, settings: Any) -> Iterator[Reading]:
    with reading_of(litecoin, bakery, settings) as reader:
        yield reader


@contextmanager
def reading_of(node: Litecoin, shop: Shop, settings: Any) -> Iterator[Reading]:
    """The test network is this machine's, and the shop takes its coin."""
    settings.CHAIN_URLS = {CHAIN: [node.url]}
    settings.SIGNER_GATHER_SECONDS = {CHAIN: 0}  # how orders are gathered is told in test_sending
    settings.CHAIN_START_BLOCKS = {CHAIN: node.height}
    Chain.objects.filter(pk=CHAIN).update(
        chain_id=LITECOIN_REGTEST.network_number, required_confirmations=2
    )
    Asset.objects.filter(pk="TLTC").update(is_active=True)
    refresh()
    AcceptedAsset.objects.create(
        store=shop.store, mode="test", asset_id="TLTC", created_at=clock.real_now()
    )
    reader = Reading(shop)
    reader.read()
    try:
        yield reader
    finally:
        reader.watcher.close()
        node.mine()  # nothing waits for the next test


@pytest.fixture
def payment(reading: Reading) -> dict[str, Any]:
    return make.payment(reading.shop.test)


def entry(payment: dict[str, Any]) -> dict[str, Any]:
    return next(
        way for way in payment["payment_addresses"] if way["supported_asset"]["asset_id"] == "TLTC"
    )


def sighting(payment: dict[str, Any]) -> SightingRecord:
    return SightingRecord.objects.get(address=entry(payment)["address"])


def test_it_is_shown_while_it_waits_and_counts_once_it_is_mined(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    tx_hash = litecoin.pay(way["address"], way["crypto_amount"])
    before = reading.detail(payment)
    assert (before["status"], Deposit.objects.count()) == ("pending", 0)
    waiting = sighting(payment)
    assert (waiting.tx_hash, waiting.status, waiting.amount_atomic) == (
        tx_hash,
        _Status.WAITING,
        int(way["crypto_amount_atomic"]),
    )
    page = reading.shop.test.client.get(f"/pay/{payment['reference']}").content.decode()
    assert "We see your payment." in page and "There’s nothing more to do." in page
    litecoin.mine()
    assert reading.detail(payment)["status"] == "processing"
    assert sighting(payment).status == _Status.MINED
    litecoin.mine()
    done = reading.detail(payment)
    assert (done["status"], done["transaction"]["from_address"]) == ("completed", "")
    assert booked_deposits(payment["id"]) == {"TLTC": int(way["crypto_amount_atomic"])}


def test_the_page_hears_within_a_second_that_something_has_changed(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    """Its short question has another answer as soon as coins are seen, replaced or mined."""
    client = reading.shop.test.client
    page = client.get(f"/pay/{payment['reference']}").content.decode()
    path = f"/pay/{payment['reference']}/pulse"
    assert f'data-pulse="{path}"' in page
    heard = [client.get(path).content]
    litecoin.pay(entry(payment)["address"], entry(payment)["crypto_amount"])
    for _ in range(3):
        reading.read()
        heard += [client.get(path).content] * 2
        litecoin.mine()
    assert len(set(heard)) == 4
    other = make.payment(reading.shop.test)
    assert client.get(f"/pay/{other['reference']}/pulse").content == heard[0]


def test_a_node_that_shows_what_waits_is_asked_twice_a_second_unless_it_is_slow(
    reading: Reading, settings: Any
) -> None:
    settings.CHAIN_POLL_SECONDS = 4.0
    assert [watcher.pause_after(reading.watcher.facts.chain, took) for took in (0, 0.1, 5)] == [
        watcher.WAITING_SECONDS,
        pytest.approx(0.9),
        4.0,
    ]
    other = Chain.objects.get(pk="ethereum")
    assert watcher.pause_after(other, 0) == 4.0


def test_one_transaction_pays_two_payments(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    other = make.payment(reading.shop.test)
    ways = [entry(payment), entry(other)]
    litecoin.faucet("sendmany", "", {way["address"]: way["crypto_amount"] for way in ways})
    reading.read()
    assert [sighting(each).status for each in (payment, other)] == [_Status.WAITING] * 2
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == reading.detail(other)["status"] == "completed"
    assert len(set(Deposit.objects.values_list("tx_hash", flat=True))) == 1


def test_two_outputs_of_one_transaction_pay_one_payment_together(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    whole = int(way["crypto_amount_atomic"])
    half = whole // 2
    parts = [f"{part / 10**8:.8f}" for part in (half, whole - half)]
    coin = litecoin.faucet("listunspent", 1)[0]
    change = litecoin.faucet("getrawchangeaddress")
    rest = f"{round(coin['amount'] * 10**8) - whole - 100_000}"
    outputs = [{way["address"]: parts[0]}, {change: f"{int(rest) / 10**8:.8f}"}]
    raw = litecoin.ask(
        "createrawtransaction", [{"txid": coin["txid"], "vout": coin["vout"]}], outputs
    )
    # A wallet makes one output for an address; the second one is put in by hand.
    signed = litecoin.faucet("signrawtransactionwithwallet", _with_second(raw, half, whole - half))
    litecoin.send(signed["hex"])
    reading.read()
    assert SightingRecord.objects.filter(address=way["address"]).count() == 2
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == "completed"


def _with_second(raw: str, first: int, second: int) -> str:
    """The transaction with its output of `first` once more, with another amount."""
    mark = first.to_bytes(8, "little").hex()
    start = raw.index(mark)
    script_length = int(raw[start + 16 : start + 18], 16)
    output = raw[start : start + 18 + 2 * script_length]
    again = second.to_bytes(8, "little").hex() + output[16:]
    counted = raw[: start - 2] if raw[start - 2 : start] == "02" else ""
    if counted:
        return f"{counted}03{output}{again}{raw[start + len(output) :]}"
    # The other output stands first.
    place = raw.index("02", 10 + 72 + 2)
    return f"{raw[:place]}03{raw[place + 2 : start]}{output}{again}{raw[start + len(output) :]}"


def test_too_little_is_underpaid_and_the_rest_completes_it(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    whole = int(way["crypto_amount_atomic"])
    litecoin.pay(way["address"], f"{whole // 2 / 10**8:.8f}")
    litecoin.mine(2)
    reading.detail(payment)
    page = reading.shop.test.client.get(f"/pay/{payment['reference']}").content.decode()
    assert "Pay the rest" in page
    litecoin.pay(way["address"], f"{(whole - whole // 2) / 10**8:.8f}")
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == "completed"


def test_a_reorganization_makes_it_wait_again_and_it_is_booked_once(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    tx_hash = litecoin.pay(way["address"], way["crypto_amount"])
    litecoin.mine()
    reading.read()
    litecoin.take_back(1)
    litecoin.mine_without(tx_hash, 2)
    assert reading.detail(payment)["status"] != "completed"
    assert Deposit.objects.get().status == Deposit.Status.FAILED
    assert sighting(payment).status == _Status.WAITING
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == "completed"
    assert (Deposit.objects.count(), sighting(payment).status) == (1, _Status.MINED)


@pytest.mark.parametrize("is_seen_waiting", [True, False])
def test_a_double_spent_payment_is_told_as_replaced(
    replacing: Litecoin, bakery: Shop, settings: Any, *, is_seen_waiting: bool
) -> None:
    """An input that another transaction takes never pays, whether that one waits or is mined
    already."""
    with reading_of(replacing, bakery, settings) as reading:
        payment = make.payment(bakery.test)
        way = entry(payment)
        tx_hash = replacing.pay(way["address"], way["crypto_amount"], is_replaceable=True)
        reading.read()
        other = taker_of(replacing, tx_hash)
        if is_seen_waiting:
            reading.read()
            assert sighting(payment).status == _Status.REPLACED
        replacing.mine()
        assert reading.detail(payment)["status"] == "pending"
        row = sighting(payment)
        assert (row.status, row.ended_by) == (_Status.REPLACED, other)
        page = bakery.test.client.get(f"/pay/{payment['reference']}").content.decode()
        assert "Another transaction has taken the place of this one." in page
        found = find_transaction(Payment.objects.get(), tx_hash)
        assert found.result == LookupResult.TAKEN_BACK
        assert not Deposit.objects.exists()


def taker_of(node: Litecoin, tx_hash: str) -> str:
    """Sends the coins of a transaction that waits elsewhere, for a higher fee; the hash of that."""
    told = node.ask("getrawtransaction", tx_hash, True)
    spent = [
        {"txid": each["txid"], "vout": each["vout"], "sequence": 0xFFFFFFFD} for each in told["vin"]
    ]
    have = sum(
        node.ask("getrawtransaction", each["txid"], True)["vout"][each["vout"]]["value"]
        for each in spent
    )
    back = {node.faucet("getnewaddress"): f"{have - 0.01:.8f}"}
    raw = node.ask("createrawtransaction", spent, [back])
    return node.send(node.faucet("signrawtransactionwithwallet", raw)["hex"])


def test_one_that_nobody_knows_any_more_is_dropped_after_a_while(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    """A watcher that starts anew forgets none of those that it has noted."""
    way = entry(payment)
    litecoin.pay(way["address"], way["crypto_amount"])
    reading.read()
    row = sighting(payment)
    reading.restart()
    look = sightings.WaitingWatch(_Nothing())
    at = clock.real_now()
    look.look(reading.watcher.facts, at)
    assert sighting(payment).status == _Status.WAITING
    look.look(reading.watcher.facts, at + sightings.GONE_AFTER)
    row.refresh_from_db()
    assert row.status == _Status.DROPPED
    reading.read()  # a node has it, after all
    assert sighting(payment).status == _Status.WAITING


class _Nothing:
    """The reader of a node that knows of no transaction that waits."""

    def waiting(self, known: object, asked: object) -> Any:
        from apps.chain.networks.base import Waiting

        return Waiting(frozenset())


def test_what_was_seen_before_the_deadline_came_in_time(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    litecoin.pay(way["address"], way["crypto_amount"])
    reading.read()
    seen_at = clock.real_now() - timedelta(minutes=30)
    SightingRecord.objects.update(seen_at=seen_at)
    addresses = PaymentAddress.objects.filter(payment=payment["id"]).select_related("asset")
    assert not looks.is_known(Payment.objects.get(), list(addresses), clock.real_now())
    litecoin.mine(2)
    reading.read()
    assert Deposit.objects.get().mined_at == seen_at


def test_a_payment_out_of_the_private_part_is_seen_and_counted_once(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    waiting_id = litecoin.from_private(way["address"], way["crypto_amount"])
    reading.read()
    assert (sighting(payment).tx_hash, sighting(payment).is_private) == (waiting_id, True)
    row = Payment.objects.get()
    assert find_transaction(row, waiting_id).result == LookupResult.NOT_FINAL
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == "completed"
    deposit = Deposit.objects.get()
    row = sighting(payment)
    assert deposit.tx_hash != waiting_id
    found = find_transaction(Payment.objects.get(), waiting_id)
    assert (found.result, found.tx_hash) == (LookupResult.COUNTED, deposit.tx_hash)
    assert (row.status, row.ended_by) == (_Status.MINED, deposit.tx_hash)


def test_staff_find_a_payment_by_the_id_that_the_customer_pastes(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    """Its 64 digits could be a hash of another family as well."""
    way = entry(payment)
    tx_hash = litecoin.pay(way["address"], way["crypto_amount"])
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == "completed"
    found = coin_search.find(tx_hash, "Ticket 7", make.clerk("support"))
    assert (found.tx_hash, found.chain) == (tx_hash, Chain.objects.get(pk=CHAIN))
    assert [each.result for each in found.payments] == [LookupResult.COUNTED]
    assert coin_search.find("ab" * 32, "Ticket 7", make.clerk("support")).chain is None


def test_more_than_was_asked_is_told_as_overpaid(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    paid = 2 * int(way["crypto_amount_atomic"])
    litecoin.pay(way["address"], f"{paid / 10**8:.8f}")
    litecoin.mine(2)
    told = reading.detail(payment)
    [address] = [each for each in told["payment_addresses"] if each["address"] == way["address"]]
    assert (told["status"], int(address["confirmed_atomic"])) == ("completed", paid)
    assert told["state_reason"] == "completed_overpaid"


def test_what_comes_to_a_cancelled_payment_is_late_and_counts_once(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    answer = reading.shop.test.post(f"/payments/{payment['id']}/cancel", {}, key="stop")
    assert answer.status_code == 200, answer.content
    status = reading.detail(payment)["status"]
    litecoin.pay(way["address"], way["crypto_amount"])
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == status == "expired"
    late = LateDeposit.objects.get()
    assert late.payment_id == Payment.objects.get().pk
    assert Deposit.objects.get().handled_status == Deposit.Status.CONFIRMED


def test_what_comes_years_later_is_late_and_counts_once(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    make.advance(reading.shop.test, 3 * 365 * 86_400)
    assert reading.detail(payment)["status"] == "expired"
    litecoin.pay(entry(payment)["address"], entry(payment)["crypto_amount"])
    litecoin.mine(2)
    reading.read()
    assert reading.detail(payment)["status"] == "expired"
    late = LateDeposit.objects.get()
    assert late.payment_id == Payment.objects.get().pk
    assert Deposit.objects.get().handled_status == Deposit.Status.CONFIRMED


def test_the_page_of_a_cancelled_payment_shows_at_once_what_is_sent_to_it(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    """An open page hears of it, and asks for nothing more while it waits."""
    client = reading.shop.test.client
    reading.shop.test.post(f"/payments/{payment['id']}/cancel", {}, key="stop")

    def page() -> str:
        return str(client.get(f"/pay/{payment['reference']}").content.decode())

    def pulse() -> bytes:
        return bytes(client.get(f"/pay/{payment['reference']}/pulse").content)

    assert f'data-pulse="/pay/{payment["reference"]}/pulse"' in page() and "We see" not in page()
    heard = [pulse()]
    litecoin.pay(entry(payment)["address"], entry(payment)["crypto_amount"])
    reading.read()
    heard.append(pulse())
    assert "We see your payment." in page() and "It was sent after time was up." in page()
    assert "don’t send anything" not in page() and "data-poll" in page()
    litecoin.mine()
    reading.read()
    heard.append(pulse())
    assert len(set(heard)) == 3
    assert "arrived after time was up" in page() and "1 of 2 confirmations" in page()
    assert "data-poll" in page()
    litecoin.mine()
    reading.read()
    assert "data-poll" not in page()


def test_a_payment_with_coins_on_their_way_is_not_cancelled(
    litecoin: Litecoin, reading: Reading, payment: dict[str, Any]
) -> None:
    way = entry(payment)
    litecoin.pay(way["address"], way["crypto_amount"])
    reading.read()
    answer = reading.shop.test.post(f"/payments/{payment['id']}/cancel", {}, key="stop")
    assert answer.status_code == 422, answer.content
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == "completed"
