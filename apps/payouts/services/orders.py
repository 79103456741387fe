"""What is asked for with a payout: every check in its order, before caps and the balance decide."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from apps.assets.models import Asset
from apps.assets.selectors import with_chains
from apps.assets.services import AssetNotActive
from apps.chain import costs
from apps.core import clock, money
from apps.core.errors import Flat, NotFound
from apps.core.literal import AtomicAmount, Invalid, Object, Text, is_uuid
from apps.core.models import Mode, Viewer
from apps.payouts.models import Destination, Payout, Schedule
from apps.payouts.services.acting import check_named_by_platform
from apps.payouts.services.destinations import check_address, check_usable, find_destination
from apps.payouts.services.offramp import OFFRAMP_MINIMUMS
from apps.stores.models import Store

_DETAILS = ("fiat_payout_detail_id", "crypto_payout_detail_id", "destination_address")
_AMOUNT = AtomicAmount(required=True)
_TEXT = Text(255)
BODY = Object({"asset_id": Text(255, required=True), "amount_atomic": _AMOUNT, **dict.fromkeys(_DETAILS, _TEXT)})


class NotAnAmount(Flat):
    message = "Amount must be a positive integer string"


class NotOneDestination(Flat):
    message = "Exactly one destination is required"


class OtherNetwork(Flat):
    message = "Wallet network does not match the asset's network"


class BankNotVerified(Flat):
    message = "Bank account is not verified"


class KycRequired(Flat):
    status = 403
    message = "Store KYC verification required"


class BelowNetworkMinimum(Flat):
    message = "Amount is below the network minimum"


@dataclass(frozen=True)
class Target:
    """Where a payout goes: a saved destination, or a raw address in lower case."""

    destination: Destination | None
    address: str | None

    @property
    def is_bank(self) -> bool:
        return self.destination is not None and not self.destination.is_wallet


@dataclass(frozen=True)
class Order:
    """A payout that makes sense; caps and balance decide about it."""

    asset: Asset
    amount_atomic: int
    target: Target
    rail: str
    schedule: Schedule | None = None
    agent_credential_id: uuid.UUID | None = None


def read_order(viewer: Viewer, store: Store, given: Mapping[str, Any]) -> Order:
    """What the caller asks for, as far as it makes sense. Raises NotFound or a Flat sentence."""
    asset = read_asset(viewer, given.get("asset_id"))
    amount = read_amount(given.get("amount_atomic"))
    target = read_target(viewer, asset, given)
    if asset.mode == Mode.LIVE and not target.is_bank:
        costs.look(asset.chain)
    check_usable(target.destination, clock.now(store, viewer.mode))
    rail = Payout.Rail.FIAT_MANUAL if target.is_bank else Payout.Rail.CRYPTO
    check_order(store, asset, amount, target)
    return Order(asset, amount, target, rail)


def read_asset(viewer: Viewer, given: Any) -> Asset:
    if given is None:
        raise Invalid("asset_id", "required")
    wanted = _TEXT.check(given, "asset_id")
    asset = with_chains([wanted]).get(wanted)
    if asset is None:
        raise NotFound("Asset not found")
    if not asset.is_active or asset.mode != viewer.mode:
        raise AssetNotActive
    return asset


def read_amount(given: Any) -> int:
    try:
        amount = int(_AMOUNT.check(given, "amount_atomic"))
    except Invalid:
        raise NotAnAmount from None
    if amount == 0:
        raise NotAnAmount
    return amount


def read_target(viewer: Viewer, asset: Asset, given: Mapping[str, Any]) -> Target:
    """The one destination that was named; a saved wallet beside a raw address wins."""
    bank_id, wallet_id, raw = (None if given.get(name) is None else _TEXT.check(given[name], name) for name in _DETAILS)
    if (bank_id is None) == (wallet_id is None and raw is None):
        raise NotOneDestination
    if bank_id is not None:
        bank = find_destination(viewer, _known_id(bank_id), Destination.Kind.BANK)
        if bank.verified_at is None:
            raise BankNotVerified
        return Target(bank, None)
    if wallet_id is not None:
        wallet = find_destination(viewer, _known_id(wallet_id), Destination.Kind.WALLET)
        if wallet.network != asset.chain_id:
            raise OtherNetwork
        return Target(wallet, check_address(wallet.address, asset))
    address = check_address(str(raw), asset)
    check_named_by_platform(viewer, address)
    return Target(None, address)


def _known_id(text: str) -> str:
    if not is_uuid(text):
        raise NotFound("Payout detail not found")
    return text


def check_order(store: Store, asset: Asset, amount_atomic: int, target: Target) -> None:
    """KYC, eligibility and the minimum."""
    if target.is_bank:
        if store.kyc_confirmed_at is None:
            raise KycRequired
        check_eligible(asset)
        least = OFFRAMP_MINIMUMS[asset.coin_symbol]
        if amount_atomic < least:
            least_text = money.decimal_from_atomic(least, asset.atomic_decimals)
            raise Flat(f"Amount is below the minimum of {least_text} {asset.coin_symbol}")
    elif amount_atomic < network_minimum(asset):
        raise BelowNetworkMinimum


def network_minimum(asset: Asset) -> int:
    """The asset's own, or in live mode so many times the gas of the moment when that is more. A price that nobody knows asks nothing."""
    gas = costs.known_fee(asset) if asset.mode == Mode.LIVE else None
    return max(asset.min_withdrawal_atomic, settings.PAYOUT_MINIMUM_GAS_TIMES * (gas or 0))


def check_eligible(asset: Asset) -> None:
    """Whether the asset can be turned into money in a bank."""
    if not asset.is_fiat_eligible or asset.coin_symbol not in OFFRAMP_MINIMUMS:
        raise Flat(f"{asset.pk} is not eligible for fiat payouts")
