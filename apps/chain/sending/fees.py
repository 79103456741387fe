"""Fees that a transaction offers for its place in a block (EIP-1559), in wei. A replacement offers
at least an eighth more."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from apps.assets.models import Chain
from apps.chain.providers.base import Nodes, RpcError
from apps.core.errors import ErrorCode

GWEI = 10**9
HISTORY_BLOCKS = 10
# Nodes take a replacement at the same nonce from 10 % more on.
BUMP_NUMERATOR = 9
BUMP_DENOMINATOR = 8


@dataclass(frozen=True)
class FeeOffer:
    max_fee_wei: int
    priority_fee_wei: int


def tip_of(nodes: Nodes, block: Any) -> int:
    """The price of a place after `block` beyond the base fee, in wei: asked in another way of a
    node that lacks a method. Raises RpcError."""
    try:
        return _quantity(nodes.call("eth_maxPriorityFeePerGas", []))
    except RpcError as error:
        if not error.is_refusal:
            raise
    try:
        history = nodes.call("eth_feeHistory", [hex(HISTORY_BLOCKS), "latest", [50]])
        rewards = sorted(_quantity(reward) for [reward] in history["reward"])
        return rewards[len(rewards) // 2]
    except RpcError as error:
        if not error.is_refusal:
            raise
    except (TypeError, KeyError, ValueError, IndexError):
        pass  # no history, or none of what was paid
    price = _quantity(nodes.call("eth_gasPrice", []))
    return max(0, price - base_fee_of(block))


def offered_tip(chain: Chain, nodes: Nodes, block: Any) -> int:
    """Tip offered beyond the base fee after `block`: no less than the network takes at all. Raises
    RpcError."""
    return max(tip_of(nodes, block), _listed(settings.SIGNER_TIP_FLOORS, chain) or 0)


def ceiling_of(chain: Chain) -> int:
    """The most that is ever offered for gas on a network, in wei."""
    listed = _listed(settings.SIGNER_FEE_CEILINGS, chain)
    return settings.SIGNER_MAX_FEE_GWEI * GWEI if listed is None else listed


def _listed(lines: Collection[str], chain: Chain) -> int | None:
    """A network's line in a list of the settings, from gwei to wei."""
    for line in lines:
        name, _, gwei = line.partition("=")
        if name == chain.pk:
            return round(float(gwei) * GWEI)
    return None


def base_fee_of(block: Any) -> int:
    """In wei; none on a chain without one."""
    return int(block.get("baseFeePerGas") or "0x0", 16)


def _quantity(answer: Any) -> int:
    try:
        return int(answer, 16)
    except (TypeError, ValueError):
        raise RpcError("a node's answer isn't a figure", ErrorCode.REFUSED) from None


def suggested(base_fee_wei: int, tip_wei: int, ceiling_wei: int) -> FeeOffer | None:
    """Room for the base fee to double; None when even the next block costs more than the
    ceiling."""
    if base_fee_wei + tip_wei > ceiling_wei:
        return None
    return FeeOffer(min(2 * base_fee_wei + tip_wei, ceiling_wei), tip_wei)


def for_sweeps(base_fee_wei: int, tip_wei: int, ceiling_wei: int) -> FeeOffer | None:
    """Room for one block's rise of the base fee: what a sweep doesn't use stays at an address that
    nobody uses again. None above the ceiling."""
    if base_fee_wei + tip_wei > ceiling_wei:
        return None
    return FeeOffer(min(base_fee_wei * 9 // 8 + tip_wei, ceiling_wei), tip_wei)


def replacing(old: FeeOffer, current: FeeOffer | None, ceiling_wei: int) -> FeeOffer | None:
    """The offer that replaces `old`; None when the ceiling leaves no room for one that nodes would
    take."""
    priority = max(_bumped(old.priority_fee_wei), current.priority_fee_wei if current else 0)
    offer = FeeOffer(
        max(_bumped(old.max_fee_wei), current.max_fee_wei if current else 0, priority), priority
    )
    if offer.max_fee_wei <= ceiling_wei:
        return offer
    least = FeeOffer(
        max(_bumped(old.max_fee_wei), _bumped(old.priority_fee_wei)), _bumped(old.priority_fee_wei)
    )
    return least if least.max_fee_wei <= ceiling_wei else None


def _bumped(wei: int) -> int:
    return -(-wei * BUMP_NUMERATOR // BUMP_DENOMINATOR) + 1
