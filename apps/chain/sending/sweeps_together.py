"""The coins of a token that a round of the sweeper brings in batches: which, and what is asked for.

A batch takes no gas to the addresses, but each that has not delegated to the wallet's contract yet
pays for that once: one such address alone is cheaper by itself. Where nobody can delegate each
signs its transfer every time, if the token takes that, and a few are cheaper by themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.assets.models import Asset, Chain
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.evm import sweepers
from apps.chain.providers.base import Nodes
from apps.chain.sending import sweep_authorizations, sweep_batches, sweep_costs
from apps.chain.sending.sweep_batches import (
    AUTHORIZATION_GAS,
    COLLECTION_GAS,
    DELEGATION_GAS,
    Way,
)
from apps.chain.sending.sweep_costs import SweepPrice
from apps.chain.sending.sweep_finds import Movable

_Purpose = OutgoingTransaction.Purpose
NOT_TOGETHER = Way()


@dataclass(frozen=True)
class Together:
    """Coins that batches bring to a wallet, and what each address of them costs."""

    way: Way = NOT_TOGETHER
    parts: Sequence[Movable] = ()
    costs: Mapping[str, int | None] = field(default_factory=dict)


def is_worth(held: Movable, costs: Mapping[str, int | None]) -> bool:
    cost = costs[held.holding.address]
    return cost is not None and sweep_costs.is_worth(
        held.holding.asset,
        held.amount_atomic,
        cost,
        is_wanted=held.holding.is_wanted,
        is_old=held.holding.is_old,
    )


def chosen(
    asset: Asset,
    native: Asset,
    way: Way,
    movable: Sequence[Movable],
    price: SweepPrice,
    nodes: Nodes,
    at: datetime,
) -> Together:
    """Those that are worth their part of a batch, where that takes less than transfers of their
    own. Raises RpcError."""
    fitting = [held for held in movable if sweepers.fits(held.amount_atomic)]
    if not fitting:
        return Together()
    if way.delegates:
        shares = _delegating(asset, way.wallet, fitting, nodes)
        common_gas = price.gas.native
    elif sweep_authorizations.are_taken(asset, at, nodes):
        shares = {held.holding.address: held.in_batch(AUTHORIZATION_GAS) for held in fitting}
        common_gas = price.gas.native + COLLECTION_GAS
    else:
        return Together()
    parts = [held for held in fitting if held.holding.address in shares]
    costs: dict[str, int | None] = {}
    while parts:  # with fewer parts, each bears more of what all need
        common = -(-common_gas // len(parts))
        costs = {
            held.holding.address: sweep_costs.in_coins(
                asset, native, price.cost(shares[held.holding.address] + common)
            )
            for held in parts
        }
        worth = [held for held in parts if is_worth(held, costs)]
        if len(worth) == len(parts):
            break
        parts = worth
    whole = price.cost(sum(shares[held.holding.address] for held in parts) + common_gas)
    if whole >= sum(price.token_cost(held.gas_limit) for held in parts):
        return Together()
    return Together(way, parts, costs)


def _delegating(
    asset: Asset, wallet: str, fitting: Sequence[Movable], nodes: Nodes
) -> dict[str, int]:
    """The gas of each address whose nonces are as recorded. Raises RpcError."""
    states = sweep_batches.states_of(
        asset.chain_id, [held.holding.address for held in fitting], nodes
    )
    shares = {}
    for held in fitting:
        state = states[held.holding.address]
        if state.used == state.recorded:
            has_delegated = state.code == sweepers.delegated(wallet)
            shares[held.holding.address] = held.in_batch(0 if has_delegated else DELEGATION_GAS)
    return shares


def requested(
    chain: Chain, asset: Asset, way: Way, held: Sequence[tuple[Movable, int]], at: datetime
) -> tuple[OutgoingTransaction, list[OutgoingTransaction]]:
    """The batch and its parts, not yet written; each address with the number of its next
    transaction."""
    references = [f"{chain.pk}:{part.holding.address}:{number}" for part, number in held]
    batch = OutgoingTransaction(
        purpose=_Purpose.SWEEP_BATCH,
        reference=references[0],
        to_address=sweepers.contract(way.wallet),
        amount_atomic=sum(part.amount_atomic for part, _ in held),
        mode=chain.mode,
        chain=chain,
        asset=asset,
        requested_at=at,
    )
    rows = [
        OutgoingTransaction(
            purpose=_Purpose.SWEEP,
            reference=reference,
            to_address=way.wallet,
            amount_atomic=part.amount_atomic,
            from_address=part.holding.address,
            batch=batch,
            mode=chain.mode,
            chain=chain,
            asset=asset,
            requested_at=at,
        )
        for reference, (part, _) in zip(references, held, strict=True)
    ]
    batch.call_data = (
        sweep_batches.delegated_call_of(rows)
        if way.delegates
        else sweep_authorizations.call_of(batch, rows)
    )
    return batch, rows
