"""Cold storage: how much of each asset stays in the hot wallet, and the only addresses that the
rest may go to.

Both are in the settings, which the signer reads in its own environment: what the database says
adds no address.
"""

from dataclasses import dataclass

from django.conf import settings

from apps.assets.models import Asset, Chain
from apps.chain.keys import bip32
from apps.chain.keys.secp256k1 import address_of
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.bitcoin.accounts import UnusableKey, read_account
from apps.chain.networks.bitcoin.parameters import ScriptKind, parameters_of
from apps.chain.networks.evm.spelling import is_address
from apps.chain.networks.families import addresses_of, has_coins, read_any
from apps.chain.reasons import Reason
from apps.core.money import atomic_from_decimal

TRIGGER_TIMES = 2
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose
_WaitsFor = OutgoingTransaction.WaitsFor


@dataclass(frozen=True)
class FloatLimits:
    """The amount that stays, and the threshold above which the rest moves. In atomic units."""

    kept_atomic: int
    moved_from_atomic: int


def assets() -> list[str]:
    """Those with a float and an address."""
    return sorted(set(settings.COLD_FLOATS) & set(settings.COLD_ADDRESSES))


def float_of(asset: Asset) -> FloatLimits:
    """Raises ValueError for a line that can't be read."""
    kept_text, _, from_text = settings.COLD_FLOATS[asset.pk].partition(":")
    balance = atomic_from_decimal(kept_text, asset.atomic_decimals)
    moved_from = (
        atomic_from_decimal(from_text, asset.atomic_decimals)
        if from_text
        else TRIGGER_TIMES * (balance or 0)
    )
    if balance is None or moved_from is None or moved_from < balance:
        raise ValueError(f"COLD_FLOATS can't be read for {asset.pk}")
    return FloatLimits(balance, moved_from)


def address(asset_id: str, number: int) -> str:
    """Destination of the transfer of that number: the fixed address, or a child of the xpub. Raises
    ValueError."""
    place = settings.COLD_ADDRESSES[asset_id]
    chain = Chain.objects.get(assets=asset_id)
    if has_coins(chain):
        return _place_of_coins(place, chain, number)
    if place.startswith("xpub"):
        return address_of(bip32.Public.parse(place).child(0).child(number).key)
    if not is_address(place):
        raise ValueError(f"COLD_ADDRESSES names no address for {asset_id}")
    return place.lower()


def _place_of_coins(place: str, chain: Chain, number: int) -> str:
    """A key that doesn't say which outputs its wallet makes is of BIP-84."""
    try:
        account = read_account(place, parameters_of(chain.chain_id), ScriptKind.WPKH)
    except UnusableKey as unusable:
        fixed = addresses_of(chain).read(place)
        if fixed is None:
            raise ValueError(f"COLD_ADDRESSES names no address on {chain.name}") from unusable
        return fixed
    return account.address(number)


def reference(asset_id: str, number: int) -> str:
    return f"{asset_id}:{number}"


def next_number(asset_id: str) -> int:
    return OutgoingTransaction.objects.filter(purpose=_Purpose.COLD, asset=asset_id).count()


def addresses(asset_id: str) -> set[str]:
    """Every address that coins of an asset were sent to, and the configured one."""
    transactions = OutgoingTransaction.objects.filter(
        purpose=_Purpose.COLD, asset=asset_id, status=_Status.CONFIRMED
    )
    results = set(transactions.values_list("to_address", flat=True))
    return results | (
        {address(asset_id, next_number(asset_id))} if asset_id in settings.COLD_ADDRESSES else set()
    )


def refusal(row: OutgoingTransaction) -> Reason | None:
    """Why a transfer to cold storage may not be signed; None when it goes to the asset's own
    address and takes from nobody."""
    asset_id, _, number = row.reference.rpartition(":")
    if (
        asset_id != row.asset_id
        or asset_id not in settings.COLD_ADDRESSES
        or not number.isdecimal()
    ):
        return Reason.NOT_TO_COLD
    if address(asset_id, int(number)) != row.to_address:
        return Reason.NOT_COLD_ADDRESS
    waiting = OutgoingTransaction.objects.filter(
        chain=row.chain_id, asset=row.asset_id, status=_Status.REQUESTED
    )
    if (
        waiting.exclude(purpose=_Purpose.COLD)
        .filter(waits_for__in=(_WaitsFor.FUNDS, _WaitsFor.SWEEP))
        .exists()
    ):
        return Reason.PAYOUTS_WAIT
    return None


def problems() -> list[str]:
    """Faults of the settings, for the operator who starts the signer."""
    messages = []
    for asset_id in sorted({*settings.COLD_FLOATS, *settings.COLD_ADDRESSES}):
        asset = Asset.objects.select_related("chain").filter(pk=asset_id).first()
        if asset is None:
            messages.append(f"COLD_FLOATS or COLD_ADDRESSES names {asset_id}, which is no asset")
            continue
        try:
            if asset_id in settings.COLD_FLOATS:
                float_of(asset)
            if asset_id in settings.COLD_ADDRESSES:
                address(asset_id, 0)
        except ValueError as error:
            messages.append(str(error))
    messages += [
        f"WITHDRAWAL_ADDRESSES names {entry}, which is no address"
        for entry in settings.WITHDRAWAL_ADDRESSES
        if read_any(entry) is None
    ]
    return messages
