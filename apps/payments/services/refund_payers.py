"""Of the addresses that paid, those that coins may go back to, and why the others have to wait for
an address (apps.chain.payers)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apps.assets.models import Asset
from apps.chain.models import Deposit, PayerRecord
from apps.chain.networks.base import Address
from apps.chain.networks.families import stored
from apps.chain.payers import SenderAddress, kinds_of, source_of
from apps.payments.models import HeldRefund

_WHY = {
    PayerRecord.Kind.CONTRACT: HeldRefund.Why.CONTRACT,
    PayerRecord.Kind.UNPROVEN: HeldRefund.Why.UNPROVEN,
    PayerRecord.Kind.OURS: HeldRefund.Why.OURS,
    PayerRecord.Kind.SHARED: HeldRefund.Why.SHARED,
}


@dataclass(frozen=True)
class UnknownShare:
    """A share of a sender that nothing may go back to by itself. Without a `why` nobody has looked
    at it yet."""

    asset: Asset
    payer: str
    amount_atomic: int
    why: HeldRefund.Why | None


@dataclass(frozen=True)
class PayerStanding:
    """`address` is where coins go, or None; `why` says why not, if anybody has looked."""

    address: Address | None
    why: HeldRefund.Why | None = None


def standings(deposits: Iterable[Deposit]) -> Mapping[str, PayerStanding]:
    """Of each sender. Who sent simulated coins alone has no key to show, and needs none."""
    by_payer: dict[str, list[Deposit]] = {}
    for deposit in deposits:
        by_payer.setdefault(stored(deposit.from_address), []).append(deposit)
    real = {
        payer: SenderAddress(rows[0].chain_id, payer)
        for payer, rows in by_payer.items()
        if not all(row.is_simulated for row in rows)
    }
    kinds = kinds_of(real.values()) if real else {}
    return {payer: _standing(payer, real.get(payer), kinds) for payer in by_payer}


def standing_of(deposit: Deposit) -> PayerStanding:
    """Standing of one deposit's sender."""
    return standings([deposit])[source_of(deposit).address]


def _standing(
    payer: str, source: SenderAddress | None, kinds: Mapping[SenderAddress, PayerRecord.Kind]
) -> PayerStanding:
    if (source or SenderAddress("", payer)).is_nobody:
        return PayerStanding(None, HeldRefund.Why.NOBODY)
    if source is None:
        return PayerStanding(Address(payer))
    kind = kinds.get(source)
    if kind is None:
        return PayerStanding(None)
    if kind is PayerRecord.Kind.ACCOUNT:
        return PayerStanding(Address(payer))
    return PayerStanding(None, _WHY[kind])
