"""Sweeps in batches on each network that can: new addresses and those that have delegated, of a
token behind a proxy, with a reorganization, and books that agree with the chain. Where nodes know
no delegation, each address gets its gas."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.chain.activation import change_asset
from apps.chain.keys import keystores
from apps.chain.models import Address, OutgoingTransaction, SignedTransaction
from apps.chain.networks.evm import sweepers
from apps.chain.node_checks import check_node
from apps.chain.sending import sender, signing_rounds, sweeper
from apps.core import clock
from apps.payments.models import PaymentAddress
from tests import auditing, make
from tests.cast import Shop
from tests.chain.test_every_chain import (
    DOLLAR,
    ETHER,
    REORGANIZED,
    SEQUENCED,
    USUAL,
    Place,
    opened,
)

pytestmark = pytest.mark.chain
Counts = sweeper.SweepCounts
# Avalanche's nodes are at Cancun's rules, without EIP-7702.
WITHOUT = "avalanche"
ABLE = [*(name for name in USUAL if name != WITHOUT), "polygon"]


@pytest.fixture
def place(request: pytest.FixtureRequest, db: None, settings: Any) -> Iterator[Place]:
    with opened(request.param, settings) as found:
        yield found


def able(place: Place, shop: Shop) -> None:
    """The wallet has coins for gas, the token is behind a proxy, and the contract is there."""
    accept_all_active(shop.store)
    place.local.call("anvil_setBalance", place.hot, hex(5 * ETHER))
    make.service_coins(place.native.pk, 5 * ETHER)
    proxy = place.local.deploy_token_behind_proxy()
    place.token = change_asset(place.token.pk, contract_address=proxy)
    to, data = sweepers.deployment(place.hot)
    place.local.wait(place.local.send(to, data=data))


def paid(place: Place, shop: Shop, count: int) -> dict[str, int]:
    """Payments of customers, by address."""
    amounts = {}
    api = shop.live if place.chain.mode == "live" else shop.test
    for _ in range(count):
        payment = make.payment(api, amount="500.00")
        entry = PaymentAddress.objects.get(payment_id=payment["id"], asset=place.token)
        contract = str(place.token.contract_address)
        place.local.mint(contract, entry.address_id, entry.required_atomic)
        amounts[entry.address_id] = entry.required_atomic
    place.arrives()
    Address.objects.update(watch_balance_until=clock.real_now() - timedelta(seconds=1))
    return amounts


def batches() -> list[OutgoingTransaction]:
    return list(OutgoingTransaction.objects.filter(purpose="sweep_batch").order_by("requested_at"))


def is_exact() -> bool:
    assert not OutgoingTransaction.objects.exclude(status="confirmed").exists()
    assert auditing.breaches(check_chain=True) == []
    return True


def verdict(place: Place) -> tuple[str, str]:
    [found] = [
        one
        for one in check_node(place.chain, place.local.url)
        if one.ability == "sweeps in batches"
    ]
    return found.verdict, found.text


@pytest.mark.parametrize("place", ABLE, indirect=True)
def test_batches_of_new_and_of_known_addresses_bring_all_to_the_unit(
    place: Place, bakery: Shop
) -> None:
    able(place, bakery)
    assert verdict(place) == ("works", "by delegation (EIP-7702)")
    amounts = paid(place, bakery, 3)
    assert sweeper.sweep_due() == Counts(sweeps=3, batches=1)
    signing_rounds.sign_due()
    sender.run_due()
    assert place.held(place.hot) == sum(amounts.values())
    place.local.reorg(REORGANIZED.get(place.chain.pk, SEQUENCED))
    assert place.held(place.hot) == 0
    SignedTransaction.objects.update(broadcast_at=None)  # it is sent again a while later
    place.work()
    assert place.held(place.hot) == sum(amounts.values())
    for address in amounts:
        place.local.mint(str(place.token.contract_address), address, 400 * DOLLAR)
    amounts |= paid(place, bakery, 1)
    assert sweeper.sweep_due() == Counts(sweeps=4, batches=1)
    place.work()
    assert [place.held(address) for address in amounts] == [0] * 4
    assert place.held(place.hot) == sum(amounts.values()) + 1200 * DOLLAR
    first, second = batches()
    assert {candidate.raw[:4] for candidate in first.candidates.all()} == {"0x04"}
    assert len(second.candidates.get().raw) < len(first.candidates.get().raw)
    assert not OutgoingTransaction.objects.filter(purpose="sweep_gas").exists()
    assert is_exact()


@pytest.mark.parametrize("place", ["base", "polygon"], indirect=True)
def test_with_two_hot_wallets_batches_go_to_the_first_and_the_other_gets_transfers(
    place: Place, bakery: Shop, settings: Any
) -> None:
    settings.SIGNER_LANES = {place.chain.pk: 2}
    signing_rounds.introduce()
    able(place, bakery)
    second = keystores.hot_key(place.chain.mode, 1).address
    place.local.call("anvil_setBalance", second, hex(5 * ETHER))
    make.service_coins(place.native.pk, 5 * ETHER)
    amounts = paid(place, bakery, 3)
    assert sweeper.sweep_due() == Counts(sweeps=3, batches=1)
    place.work()
    assert place.held(place.hot) == sum(amounts.values()) and place.held(second) == 0

    for address in amounts:  # they have delegated to the first wallet's contract
        place.local.mint(str(place.token.contract_address), address, 100 * DOLLAR)
    amounts |= paid(place, bakery, 1)
    assert sweeper.sweep_due() == Counts(sweeps=4, gas_transfers=4)
    place.work()
    place.work()
    assert [place.held(address) for address in amounts] == [0] * 4
    assert place.held(second) == 300 * DOLLAR + list(amounts.values())[-1]
    assert len(batches()) == 1 and is_exact()

    more = paid(place, bakery, 2)
    place.local.mint(str(place.token.contract_address), next(iter(amounts)), 9000 * DOLLAR)
    place.arrives()
    assert sweeper.sweep_due().batches == 0, "the second still has less"
    place.work()
    place.work()
    more = paid(place, bakery, 2)
    assert sweeper.sweep_due() == Counts(sweeps=2, batches=1)
    place.work()
    assert [place.held(address) for address in more] == [0, 0]
    assert is_exact()


@pytest.mark.parametrize("place", [WITHOUT], indirect=True)
def test_without_delegations_each_gets_a_transfer_of_its_own(place: Place, bakery: Shop) -> None:
    able(place, bakery)
    assert verdict(place)[0] == "instead"
    assert "EIP-7702" in verdict(place)[1]
    amounts = paid(place, bakery, 2)
    assert sweeper.sweep_due() == Counts(sweeps=2, gas_transfers=2)
    place.work()
    place.work()
    assert place.held(place.hot) == sum(amounts.values())
    assert not batches() and is_exact()


@pytest.mark.parametrize("place", [WITHOUT], indirect=True)
def test_without_delegations_addresses_sign_transfers_of_a_token_that_takes_them(
    place: Place, bakery: Shop
) -> None:
    able(place, bakery)
    Asset.objects.filter(pk=place.token.pk).update(eip712_name="USD Coin", eip712_version="1")
    amounts = paid(place, bakery, 6)
    gas = int(place.local.call("eth_getBalance", place.hot, "latest"), 16)
    assert sweeper.sweep_due() == Counts(sweeps=6, batches=1)
    signing_rounds.sign_due()
    sender.run_due()
    assert place.held(place.hot) == sum(amounts.values())
    place.local.reorg(REORGANIZED[place.chain.pk])
    assert place.held(place.hot) == 0
    SignedTransaction.objects.update(broadcast_at=None)
    place.work()
    assert [place.held(address) for address in amounts] == [0] * 6
    assert place.held(place.hot) == sum(amounts.values())
    assert place.held(sweepers.contract(place.hot)) == 0
    [batch] = batches()
    assert {candidate.raw[:4] for candidate in batch.candidates.all()} == {"0x02"}
    parts = list(batch.parts.all())
    assert {(part.tx_hash, part.nonce) for part in parts} == {(batch.tx_hash, None)}
    spent = gas - int(place.local.call("eth_getBalance", place.hot, "latest"), 16)
    assert batch.network_fee_atomic == spent
    assert not OutgoingTransaction.objects.filter(purpose="sweep_gas").exists()
    assert is_exact()
