"""The coins of a token that a round of the sweeper brings in batches: which, and what is asked for.

A batch takes no gas to the addresses, but each that has not delegated to the wallet's contract yet
pays for that once: one such address alone is cheaper by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.assets.models import Asset, Chain
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.evm import sweepers
from apps.chain.providers.base import Nodes
from apps.chain.sending import sweep_batches, sweep_costs
from apps.chain.sending.sweep_costs import SweepPrice
from apps.chain.sending.sweep_finds import Movable

_Purpose = OutgoingTransaction.Purpose


@dataclass(frozen=True)
class Together:
    """Coins that batches bring to a wallet, and what each address of them costs."""

    wallet: str = ""
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
    wallet: str,
    movable: Sequence[Movable],
    price: SweepPrice,
    nodes: Nodes,
) -> Together:
    """Those that are worth their part of a batch, where that takes less than transfers of their
    own. Raises RpcError."""
    fitting = [held for held in movable if sweepers.fits(held.amount_atomic)]
    states = sweep_batches.states_of(
        asset.chain_id, [held.holding.address for held in fitting], nodes
    )
    shares = {}
    for held in fitting:
        state = states[held.holding.address]
        if state.used == state.recorded:
            has_delegated = state.code == sweepers.delegated(wallet)
            shares[held.holding.address] = held.in_batch(has_delegated=has_delegated)
    parts = [held for held in fitting if held.holding.address in shares]
    costs: dict[str, int | None] = {}
    while parts:  # with fewer parts, each bears more of what all need
        common = -(-price.gas.native // len(parts))
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
    whole = price.cost(sum(shares[held.holding.address] for held in parts) + price.gas.native)
    if whole >= sum(price.token_cost(held.gas_limit) for held in parts):
        return Together()
    return Together(wallet, parts, costs)


def requested(
    chain: Chain, asset: Asset, wallet: str, held: Sequence[tuple[Movable, int]], at: datetime
) -> tuple[OutgoingTransaction, list[OutgoingTransaction]]:
    """The batch and its parts, not yet written; each address with the number of its next
    transaction."""
    references = [f"{chain.pk}:{part.holding.address}:{number}" for part, number in held]
    batch = OutgoingTransaction(
        purpose=_Purpose.SWEEP_BATCH,
        reference=references[0],
        to_address=sweepers.contract(wallet),
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
            to_address=wallet,
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
    batch.call_data = sweep_batches.call_of(rows)
    return batch, rows
