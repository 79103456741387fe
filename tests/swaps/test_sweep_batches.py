"""Sweeps of many addresses in one transaction of the hot wallet: to the unit, each by itself, and
transfers of their own wherever the network can't."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.assets.services import change_asset
from apps.chain.models import (
    Deposit,
    HotWallet,
    OutgoingTransaction,
    SignedTransaction,
    UndoneTransaction,
)
from apps.chain.networks.evm import sweepers
from apps.chain.sending import approvals, sender, signing_rounds, sweep_batches, sweeper
from apps.core import clock
from apps.ledger.models import Movement
from apps.ledger.selectors import account_balance
from apps.payments.services.sweep_books import book_sweeps
from tests.cast import Shop
from tests.chain.proxy import Proxy
from tests.payouts.moody import Issuer, open_moody
from tests.swaps.conftest import DOLLAR, Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_sweep_costs import gas_costs
from tests.swaps.test_sweeps import amount_at, paid_in

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
Counts = sweeper.SweepCounts
GWEI = 10**9
THIEF = "0x" + "77" * 20


def able(place: Venue, shop: Shop) -> None:
    """The hot wallet's contract is on the network."""
    open_moody(place, shop)
    to, data = sweepers.deployment(place.hot)
    place.chain.wait(place.chain.send(to, data=data))


ground = ground_of(able)


@pytest.fixture
def between(place: Venue, settings: Any) -> Iterator[Proxy]:
    """The only node that the service knows can be made to misbehave."""
    node = Proxy(place.chain.url)
    settings.CHAIN_URLS = {"sepolia": [node.url]}
    yield node
    node.close()


def rows(purpose: str) -> list[OutgoingTransaction]:
    found = OutgoingTransaction.objects.filter(purpose=purpose)
    return list(found.order_by("requested_at", "from_address"))


def paid(place: Venue, shop: Shop, count: int) -> list[str]:
    return sorted(paid_in(place, shop, "USDC_SETH") for _ in range(count))


def signed(place: Venue) -> OutgoingTransaction:
    """The batch of what waits, of which the node knows nothing yet."""
    sweeper.sweep_due()
    signing_rounds.sign_due()
    [batch] = rows("sweep_batch")
    assert batch.status == "signed"
    assert {part.status for part in rows("sweep")} == {"signed"}
    return batch


def buried(place: Venue) -> None:
    place.arrives()
    sender.run_due()
    book_sweeps()


def test_one_transaction_sweeps_many_to_the_unit_and_none_needs_gas(
    place: Venue, bakery: Shop
) -> None:
    addresses = paid(place, bakery, 3)
    before = place.tokens(place.hot)
    assert sweeper.sweep_due() == Counts(sweeps=3, batches=1)
    assert sweeper.sweep_due() == Counts()
    gas = place.native(place.hot)
    place.work()
    [batch] = rows("sweep_batch")
    parts = rows("sweep")
    assert (batch.status, batch.handled_status) == ("confirmed", "confirmed")
    assert [(p.status, p.handled_status, p.from_address, p.nonce) for p in parts] == [
        ("confirmed", "confirmed", address, 0) for address in addresses
    ]
    assert {p.tx_hash for p in parts} == {batch.tx_hash}
    assert place.tokens(place.hot) == before + sum(amount_at(address) for address in addresses)
    assert place.native(place.hot) == gas - batch.network_fee_atomic
    assert sum(place.native(address) for address in addresses) == 0
    assert account_balance(None, "test", "USDC_SETH", "custody_deposits") == 0
    assert is_exact()


def test_what_comes_later_to_the_same_address_needs_no_signature(
    place: Venue, bakery: Shop
) -> None:
    addresses = paid(place, bakery, 2)
    sweeper.sweep_due()
    place.work()
    for address in addresses:
        place.chain.mint(place.token, address, 500 * DOLLAR)
    place.arrives()
    assert sweeper.sweep_due() == Counts(sweeps=2, batches=1)
    place.work()
    first, second = rows("sweep_batch")
    assert first.candidates.get().raw.startswith("0x04")
    assert second.candidates.get().raw.startswith("0x02")
    assert [p.nonce for p in rows("sweep")] == [0, 0, None, None]
    assert second.network_fee_atomic * 3 < first.network_fee_atomic * 2
    assert is_exact()


def test_one_new_address_alone_is_cheaper_by_a_transfer_of_its_own(
    place: Venue, bakery: Shop
) -> None:
    [address] = paid(place, bakery, 1)
    assert sweeper.sweep_due() == Counts(sweeps=1, gas_transfers=1)
    place.work(2)
    assert place.tokens(address) == 0 and is_exact()
    place.chain.mint(place.token, address, 500 * DOLLAR)
    paid(place, bakery, 1)
    assert sweeper.sweep_due() == Counts(sweeps=2, batches=1), "its nonces are as recorded"
    place.work()
    assert sorted(p.nonce or 0 for p in rows("sweep")) == [0, 0, 1]
    assert is_exact()


def test_one_that_its_token_refuses_fails_by_itself_and_is_asked_for_again(
    place: Venue, bakery: Shop
) -> None:
    kept, *others = paid(place, bakery, 3)
    batch = signed(place)
    issuer = Issuer(place)
    issuer.freeze(kept)
    sender.run_due()
    buried(place)
    batch.refresh_from_db()
    failed, *done = rows("sweep")
    assert batch.status == "confirmed" and {p.status for p in done} == {"confirmed"}
    assert (failed.from_address, failed.status, failed.reason_code) == (
        kept,
        "failed",
        "moved_nothing",
    )
    assert (failed.handled_status, failed.network_fee_atomic, failed.nonce) == ("failed", 0, 0)
    assert [place.tokens(address) for address in others] == [0, 0]
    assert is_exact()

    issuer.freeze(kept, is_frozen=False)
    assert sweeper.sweep_due() == Counts(sweeps=1, batches=1), "it has delegated"
    place.work()
    assert place.tokens(kept) == 0 and is_exact()


def test_a_batch_that_is_reverted_has_paid_its_gas_and_each_is_tried_again(
    place: Venue, bakery: Shop
) -> None:
    addresses = paid(place, bakery, 2)
    batch = signed(place)
    contract = sweepers.contract(place.hot)
    place.chain.call("anvil_setCode", contract, "0x60006000fd")
    sender.run_due()
    place.chain.call("anvil_setCode", contract, sweepers.deployed(place.hot))
    buried(place)
    batch.refresh_from_db()
    assert (batch.status, batch.handled_status) == ("failed", "failed")
    assert batch.network_fee_atomic > 0
    assert {(p.status, p.reason_code, p.nonce) for p in rows("sweep")} == {
        ("failed", "reverted", 0)
    }
    assert is_exact()
    sweeper.sweep_due()
    place.work()
    assert [place.tokens(address) for address in addresses] == [0, 0]
    assert is_exact()


def test_a_reorg_undoes_a_batch_with_its_parts_and_nothing_is_booked_twice(
    place: Venue, bakery: Shop
) -> None:
    addresses = paid(place, bakery, 2)
    place.chain.mine(10)
    place.reader.read()
    sweeper.sweep_due()
    place.work()
    [batch] = rows("sweep_batch")
    booked = Movement.objects.count()
    place.chain.reorg(8)
    place.chain.mine(9)
    place.reader.read()
    assert [place.tokens(address) > 0 for address in addresses] == [True, True]
    sender.run_due()
    batch.refresh_from_db()
    assert batch.undone_count == 1
    assert {(p.undone_count, p.handled_status) for p in rows("sweep")} == {(1, "confirmed")}
    assert UndoneTransaction.objects.count() == 3
    assert sweeper.sweep_due() == Counts()
    sender.run_due()
    buried(place)
    batch.refresh_from_db()
    assert (batch.status, {p.status for p in rows("sweep")}) == ("confirmed", {"confirmed"})
    assert [place.tokens(address) for address in addresses] == [0, 0]
    moved = Movement.objects.exclude(kind="mined_again").count()
    assert moved == booked and is_exact()


def test_a_node_that_refuses_the_kind_of_transaction_gets_it_without_signatures(
    place: Venue, bakery: Shop, between: Proxy, settings: Any
) -> None:
    addresses = paid(place, bakery, 2)
    signed(place)
    between.refusal_of = lambda method, given: (
        (-32000, "transaction type not supported")
        if method == "eth_sendRawTransaction" and given[0].startswith("0x04")
        else None
    )
    sender.run_due()
    settings.SIGNER_STUCK_SECONDS = 0
    assert signing_rounds.sign_due() == 1
    settings.SIGNER_STUCK_SECONDS = 180
    sender.run_due()
    buried(place)
    [batch] = rows("sweep_batch")
    assert [c.raw[:4] for c in batch.candidates.all()] == ["0x04", "0x02"]
    assert batch.status == "confirmed", "the wallet's line goes on"
    assert {(p.status, p.reason_code, p.nonce) for p in rows("sweep")} == {
        ("failed", "moved_nothing", None)
    }
    assert is_exact()
    between.refusal_of = lambda *asked: None
    sweeper.sweep_due()
    place.work()
    assert [place.tokens(address) for address in addresses] == [0, 0]
    assert is_exact()


def test_gas_that_rises_has_it_signed_again_with_the_same_nonces(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    paid(place, bakery, 2)
    signed(place)
    place.chain.call("evm_setAutomine", False)
    sender.run_due()
    place.chain.call("anvil_setNextBlockBaseFeePerGas", hex(3 * GWEI))
    place.chain.mine()
    settings.SIGNER_STUCK_SECONDS = 0
    assert signing_rounds.sign_due() == 1
    settings.SIGNER_STUCK_SECONDS = 180
    SignedTransaction.objects.filter(outgoing__purpose="sweep_batch").update(broadcast_at=None)
    sender.run_due()
    place.chain.call("evm_setAutomine", True)
    buried(place)
    [batch] = rows("sweep_batch")
    assert (batch.status, batch.candidates.count()) == ("confirmed", 2)
    assert {candidate.raw[:4] for candidate in batch.candidates.all()} == {"0x04"}
    assert {(p.status, p.nonce) for p in rows("sweep")} == {("confirmed", 0)}
    assert is_exact()


@pytest.mark.parametrize("what", ["no contract", "other code", "no delegations", "another wallet"])
def test_where_the_network_cannot_each_gets_a_transfer_of_its_own(
    place: Venue, bakery: Shop, between: Proxy, what: str
) -> None:
    addresses = paid(place, bakery, 2)
    contract = sweepers.contract(place.hot)
    if what == "no contract":
        place.chain.call("anvil_setCode", contract, "0x")
    elif what == "other code":
        code = sweepers.deployed(place.hot).replace(place.hot[2:], THIEF[2:])
        place.chain.call("anvil_setCode", contract, code)
    elif what == "no delegations":
        between.refusal_of = lambda method, given: (
            (-32602, "unknown field authorizationList")
            if method == "eth_estimateGas" and "authorizationList" in given[0]
            else None
        )
    else:
        HotWallet.objects.filter(number=0).update(halted_at=clock.real_now())
    asked = sweeper.sweep_due()
    if what == "another wallet":
        assert asked == Counts(), "its only one is halted"
        return
    assert asked == Counts(sweeps=2, gas_transfers=2)
    place.work(2)
    assert [place.tokens(address) for address in addresses] == [0, 0]
    assert is_exact()


def test_the_signer_signs_no_batch_that_is_otherwise_than_approved(
    place: Venue, bakery: Shop
) -> None:
    paid(place, bakery, 2)
    sweeper.sweep_due()
    [batch], parts = rows("sweep_batch"), rows("sweep")
    other = sweepers.call(place.token, [(THIEF, parts[0].amount_atomic)])
    forged: list[tuple[OutgoingTransaction, dict[str, Any]]] = [
        (batch, {"to_address": sweepers.contract(THIEF)}),
        (batch, {"call_data": other}),
        (batch, {"amount_atomic": batch.amount_atomic + 1}),
        (parts[0], {"to_address": THIEF}),
        (parts[0], {"amount_atomic": parts[0].amount_atomic - 1}),
        (parts[0], {"from_address": THIEF}),
        (parts[0], {"approval": ""}),
        (parts[0], {"batch": None}),
    ]
    for row, change in forged:
        objects = OutgoingTransaction.objects
        objects.filter(pk=row.pk).update(**change)
        # Also where somebody had the key of approvals for the batch alone.
        changed = objects.get(pk=batch.pk)
        objects.filter(pk=batch.pk).update(approval=approvals.approve(changed))
        if "batch" not in change:
            assert signing_rounds.sign_due() == 0
        else:
            signing_rounds.sign_due()
        assert objects.get(pk=batch.pk).status in ("failed", "review"), change
        assert not SignedTransaction.objects.filter(outgoing=batch).exists()
        for kept in (batch, *parts):
            values = {field.attname: getattr(kept, field.attname) for field in kept._meta.fields}
            objects.filter(pk=kept.pk).update(**values)
    assert sweep_batches.refusal(batch, place.hot) is None
    place.work()
    assert {p.status for p in rows("sweep")} == {"confirmed"} and is_exact()


def test_a_batch_that_was_never_signed_is_given_up_with_its_parts(
    place: Venue, bakery: Shop
) -> None:
    paid(place, bakery, 2)
    sweeper.sweep_due()
    OutgoingTransaction.objects.update(requested_at=clock.real_now() - timedelta(hours=2))
    assert sweeper.sweep_due() == Counts(sweeps=2, batches=1)
    assert sorted(p.status for p in rows("sweep")) == ["failed", "failed", "requested", "requested"]
    assert sorted(b.status for b in rows("sweep_batch")) == ["failed", "requested"]
    place.work()
    assert is_exact()


def test_a_delegated_address_still_sends_its_own_coins(place: Venue, bakery: Shop) -> None:
    address, _ = paid(place, bakery, 2)
    sweeper.sweep_due()
    place.work()
    assert place.chain.call("eth_getCode", address, "latest") == sweepers.delegated(place.hot)
    place.chain.pay(address, 10**18)  # which it takes as before
    place.chain.mine(5)
    place.reader.read()
    assert place.native(address) == 10**18


def test_small_ones_wait_for_their_age_and_for_gas_that_they_can_bear(
    place: Venue, bakery: Shop
) -> None:
    addresses = [paid_in(place, bakery, "USDC_SETH", "5.00") for _ in range(4)]
    change_asset("USDC_SETH", sweeping={"sweep_after_days": 30})
    assert sweeper.sweep_due() == Counts(), "they are below the minimum"
    old = clock.real_now() - timedelta(days=31)
    Deposit.objects.filter(address__in=addresses[:3]).update(detected_at=old)
    gas_costs(place, 100)
    assert sweeper.sweep_due() == Counts(), "gas would be more than half of them"
    gas_costs(place, 1)
    change_asset("USDC_SETH", sweeping={"sweep_after_days": 40})
    assert sweeper.sweep_due() == Counts(), "they aren't old enough"
    change_asset("USDC_SETH", sweeping={"sweep_after_days": 30})
    assert sweeper.sweep_due() == Counts(sweeps=3, batches=1)
    place.work()
    assert [place.tokens(address) > 0 for address in addresses] == [False, False, False, True]
    assert sweeper.sweep_due() == Counts() and is_exact()
