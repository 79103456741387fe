"""Batches on networks without delegations: addresses sign transfers to the wallet's contract
(EIP-3009), which passes them on; to the unit, each by itself."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.chain.encoding.abi import encode
from apps.chain.encoding.keccak import keccak
from apps.chain.models import OutgoingTransaction, SignedTransaction
from apps.chain.networks.evm import sweepers
from apps.chain.nodes import nodes_of
from apps.chain.sending import approvals, sender, signing_rounds, sweep_batch_ends, sweeper
from apps.core import clock
from tests.cast import Shop
from tests.chain.proxy import Proxy
from tests.swaps.conftest import Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_sweep_batches import GWEI, THIEF, buried, paid, rows, signed
from tests.swaps.test_sweeps import amount_at

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
Counts = sweeper.SweepCounts
COUNT = 6  # fewer are cheaper by themselves


def able(place: Venue, shop: Shop) -> None:
    """The hot wallet's contract is on the network and it has gas; the token takes signatures."""
    place.fund_hot()
    to, data = sweepers.deployment(place.hot)
    place.chain.wait(place.chain.send(to, data=data))
    domain = {"eip712_name": "USD Coin", "eip712_version": "1"}
    Asset.objects.filter(pk="USDC_SETH").update(**domain)


ground = ground_of(able)


@pytest.fixture(autouse=True)
def between(place: Venue, settings: Any) -> Iterator[Proxy]:
    """The only node that the service knows estimates no delegation."""
    node = Proxy(place.chain.url)
    node.refusal_of = lambda method, given: (
        (-32602, "unknown field authorizationList")
        if method == "eth_estimateGas" and "authorizationList" in given[0]
        else None
    )
    settings.CHAIN_URLS = {"sepolia": [node.url]}
    yield node
    node.close()


def set_tokens(place: Venue, address: str, amount_atomic: int) -> None:
    """Write a balance into the token's storage, of which no log tells."""
    slot = "0x" + keccak(encode(["address", "uint256"], [address, 0])).hex()
    word = f"0x{amount_atomic:064x}"
    place.chain.call("anvil_setStorageAt", place.token, slot, word)


def test_what_addresses_sign_is_swept_to_the_unit_and_none_needs_gas(
    place: Venue, bakery: Shop
) -> None:
    addresses = paid(place, bakery, COUNT)
    before, gas = place.tokens(place.hot), place.native(place.hot)
    assert sweeper.sweep_due() == Counts(sweeps=COUNT, batches=1)
    [batch] = rows("sweep_batch")
    assert batch.call_data.startswith(sweepers.COLLECTS)
    place.work()
    batch.refresh_from_db()
    assert batch.candidates.get().raw.startswith("0x02")
    assert {(p.status, p.nonce, p.tx_hash) for p in rows("sweep")} == {
        ("confirmed", None, batch.tx_hash)
    }
    brought = sum(amount_at(address) for address in addresses)
    assert place.tokens(place.hot) == before + brought == before + batch.amount_atomic
    assert place.tokens(sweepers.contract(place.hot)) == 0
    assert place.native(place.hot) == gas - batch.network_fee_atomic
    assert is_exact()
    for address in addresses:
        place.chain.mint(place.token, address, 10**9)
    place.arrives()
    assert sweeper.sweep_due() == Counts(sweeps=COUNT, batches=1), "they sign once more"
    place.work()
    assert sum(place.tokens(address) for address in addresses) == 0 and is_exact()


def test_a_few_are_cheaper_by_themselves(place: Venue, bakery: Shop) -> None:
    paid(place, bakery, 2)
    assert sweeper.sweep_due() == Counts(sweeps=2, gas_transfers=2)
    place.work(2)
    assert is_exact()


def test_a_token_that_signs_otherwise_than_its_row_says_gets_transfers(
    place: Venue, bakery: Shop
) -> None:
    paid(place, bakery, COUNT)
    Asset.objects.filter(pk="USDC_SETH").update(eip712_version="2")
    assert sweeper.sweep_due() == Counts(sweeps=COUNT, gas_transfers=COUNT)


def test_one_that_its_token_refuses_fails_by_itself_and_is_asked_for_again(
    place: Venue, bakery: Shop
) -> None:
    kept, *others = paid(place, bakery, COUNT)
    held = place.tokens(kept)
    signed(place)
    set_tokens(place, kept, held - 1)
    sender.run_due()
    set_tokens(place, kept, held)
    buried(place)
    failed, *done = rows("sweep")
    assert {part.status for part in done} == {"confirmed"}
    assert (failed.from_address, failed.status, failed.reason_code) == (
        kept,
        "failed",
        "moved_nothing",
    )
    assert [place.tokens(address) for address in others] == [0] * (COUNT - 1)
    assert is_exact()
    assert sweeper.sweep_due() == Counts(sweeps=1, gas_transfers=1)
    place.work(2)
    assert place.tokens(kept) == 0 and is_exact()


def test_after_a_batch_that_moved_nothing_each_gets_a_transfer_for_a_day(
    place: Venue, bakery: Shop
) -> None:
    held = {address: place.tokens(address) for address in paid(place, bakery, COUNT)}
    signed(place)
    for address in held:
        set_tokens(place, address, 0)
    sender.run_due()
    for address, amount in held.items():
        set_tokens(place, address, amount)
    buried(place)
    [batch] = rows("sweep_batch")
    assert batch.status == "confirmed" and {p.status for p in rows("sweep")} == {"failed"}
    assert is_exact()
    assert sweeper.sweep_due() == Counts(sweeps=COUNT, gas_transfers=COUNT)
    place.work(2)
    assert [place.tokens(address) for address in held] == [0] * COUNT and is_exact()
    paid(place, bakery, COUNT)
    yesterday = clock.real_now() - timedelta(hours=25)
    OutgoingTransaction.objects.filter(pk=batch.pk).update(finished_at=yesterday)
    assert sweeper.sweep_due() == Counts(sweeps=COUNT, batches=1)


def test_gas_that_rises_has_it_sent_with_the_same_signatures(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    paid(place, bakery, COUNT)
    batch = signed(place)
    place.chain.call("evm_setAutomine", False)
    sender.run_due()
    place.chain.call("anvil_setNextBlockBaseFeePerGas", hex(3 * GWEI))
    place.chain.mine()
    settings.SIGNER_STUCK_SECONDS = 0
    assert signing_rounds.sign_due() == 1
    settings.SIGNER_STUCK_SECONDS = 180
    SignedTransaction.objects.filter(outgoing=batch).update(broadcast_at=None)
    sender.run_due()
    place.chain.call("evm_setAutomine", True)
    buried(place)
    length = len(batch.call_data)
    raws = [candidate.raw for candidate in batch.candidates.all()]
    calls = [raw[raw.index(sweepers.COLLECTS[2:]) :][: length - 2] for raw in raws]
    assert len(calls) == 2 and calls[0] == calls[1] != batch.call_data[2:]
    assert {p.status for p in rows("sweep")} == {"confirmed"} and is_exact()


def test_the_signer_signs_no_batch_that_is_otherwise_than_approved(
    place: Venue, bakery: Shop
) -> None:
    paid(place, bakery, COUNT)
    sweeper.sweep_due()
    [batch], parts = rows("sweep_batch"), rows("sweep")
    to_thief = [(THIEF, parts[0].amount_atomic)]
    pairs = [(part.from_address, part.amount_atomic) for part in parts]
    number = bytes(32)
    forged: list[tuple[OutgoingTransaction, dict[str, Any]]] = [
        (batch, {"to_address": sweepers.contract(THIEF)}),
        (batch, {"call_data": sweepers.collecting(place.token, number, to_thief, {})}),
        (batch, {"call_data": sweepers.collecting(place.token, number, pairs, {})}),
        (batch, {"amount_atomic": batch.amount_atomic + 1}),
        (parts[0], {"to_address": THIEF}),
        (parts[0], {"amount_atomic": parts[0].amount_atomic - 1}),
        (parts[0], {"approval": ""}),
    ]
    for row, change in forged:
        objects = OutgoingTransaction.objects
        objects.filter(pk=row.pk).update(**change)
        changed = objects.get(pk=batch.pk)
        objects.filter(pk=batch.pk).update(approval=approvals.approve(changed))
        assert signing_rounds.sign_due() == 0
        assert objects.get(pk=batch.pk).status in ("failed", "review"), change
        for kept in (batch, *parts):
            values = {field.attname: getattr(kept, field.attname) for field in kept._meta.fields}
            objects.filter(pk=kept.pk).update(**values)
    place.work()
    assert {p.status for p in rows("sweep")} == {"confirmed"} and is_exact()


def test_coins_that_the_contract_kept_are_in_review(place: Venue, bakery: Shop) -> None:
    paid(place, bakery, COUNT)
    sweeper.sweep_due()
    place.work()
    [batch] = rows("sweep_batch")
    receipt = place.chain.call("eth_getTransactionReceipt", batch.tx_hash)
    nodes = nodes_of(batch.chain)
    whole = sweep_batch_ends.ends_of(batch, receipt, place.hot, nodes)
    assert whole is not None and {end.status for _, end in whole} == {"confirmed"}
    *others, last = receipt["logs"]
    less = {**last, "data": hex(int(last["data"], 16) - 1)}
    told = sweep_batch_ends.ends_of(batch, {**receipt, "logs": [*others, less]}, place.hot, nodes)
    assert told is not None
    assert {(end.status, end.reason) for _, end in told} == {("review", "moved_otherwise")}
    silent = {**receipt, "logs": others}
    assert sweep_batch_ends.ends_of(batch, silent, place.hot, nodes) is None, "its filter has it"
    nodes.close()
