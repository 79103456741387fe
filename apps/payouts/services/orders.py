"""Checks of a payout request in the order of the contract, before caps and the balance decide."""

import uuid
from dataclasses import dataclass
from typing import NoReturn

from django.conf import settings

from apps.assets.models import Asset
from apps.assets.selectors import valued, with_chains
from apps.assets.services import AssetNotActive
from apps.chain.addresses import check_recipient
from apps.chain.networks.base import Address
from apps.chain.sending import costs
from apps.core import clock
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.messages.invalid import OF_BODIES, Invalid
from apps.core.models import Mode, Viewer
from apps.core.money import Amount, CoinPrice
from apps.core.text.wording import Worded
from apps.payouts.models import Destination, Payout, Schedule
from apps.payouts.requests import Bank, PayoutRequest, RawAddress, WalletTarget
from apps.payouts.services.acting import check_named_by_platform
from apps.payouts.services.destinations import PURPOSE, check_usable, find_destination
from apps.payouts.services.offramp import OFFRAMP_MINIMUMS
from apps.stores.models import Store

Priced = tuple[Asset, CoinPrice[Asset] | None]


class PayoutAssetNotFound(NotFound):
    field = "asset_id"
    message = "Asset not found"


class OtherNetwork(Failure):
    field = "destination"
    message = "Wallet network does not match the asset's network"


class BankNotVerified(Failure):
    field = "destination"
    message = "Bank account is not verified"


class PayoutKycRequired(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "Store KYC verification required"


class BelowNetworkMinimum(Failure):
    field = "amount_atomic"
    message = "Amount is below the network minimum"


class BelowMinimum(Failure):
    field = "amount_atomic"


class NotEligible(Failure):
    field = "asset_id"


@dataclass(frozen=True)
class Target:
    """Destination of a payout: a saved one, or a raw address in lower case."""

    destination: Destination | None
    address: Address | None

    @property
    def is_bank(self) -> bool:
        return self.destination is not None and not self.destination.is_wallet


@dataclass(frozen=True)
class PayoutOrder:
    """A payout that makes sense; caps and balance decide about it. `price` is today's in the
    store's currency, as far as it has been read."""

    amount: Amount[Asset]
    target: Target
    rail: str
    price: CoinPrice[Asset] | None = None
    schedule: Schedule | None = None
    agent_credential_id: uuid.UUID | None = None


def order_of(
    viewer: Viewer, store: Store, request: PayoutRequest, priced: Priced | None = None
) -> PayoutOrder:
    """The valid request; `priced` is its asset where that has been read. Raises Failure."""
    asset, price = _checked(viewer, priced or read_priced(request.asset_id, store))
    target = find_target(viewer, asset, request.target)
    if asset.mode == Mode.LIVE and not target.is_bank:
        costs.look(asset.chain)
    check_usable(target.destination, clock.now(store, viewer.mode))
    rail = Payout.Rail.FIAT_MANUAL if target.is_bank else Payout.Rail.CRYPTO
    amount = Amount(asset, request.amount_atomic)
    check_order(store, amount, target)
    return PayoutOrder(amount, target, rail, price)


def refuse_unread(viewer: Viewer, refusal: Invalid, asset_id: object) -> NoReturn:
    """A body that is no PayoutRequest: its asset comes before all else that may be wrong, but for a
    field that nobody knows. Raises what find_asset does, or the refusal."""
    if refusal.field != "asset_id" and refusal.rule not in OF_BODIES:
        find_asset(viewer, str(asset_id))
    raise refusal


def find_asset(viewer: Viewer, asset_id: str) -> Asset:
    """Raises PayoutAssetNotFound or AssetNotActive."""
    asset = with_chains([asset_id]).get(asset_id)
    return _checked(viewer, None if asset is None else (asset, None))[0]


def read_priced(asset_id: str, store: Store) -> Priced | None:
    """An asset with what a coin of it is worth now in the store's currency; None where there is no
    such asset."""
    currency = store.settlement_currency
    for asset, rate in valued([asset_id], currency, clock.real_now()):
        return asset, None if rate is None else CoinPrice(asset, rate, currency)
    return None


def _checked(viewer: Viewer, priced: Priced | None) -> Priced:
    if priced is None:
        raise PayoutAssetNotFound
    asset = priced[0]
    if not asset.is_active or asset.mode != viewer.mode:
        raise AssetNotActive
    return priced


def find_target(viewer: Viewer, asset: Asset, target: WalletTarget | Bank | RawAddress) -> Target:
    """The destination that was named, which this asset can be sent to."""
    match target:
        case Bank(detail_id=detail_id):
            bank = find_destination(viewer, detail_id, Destination.Kind.BANK)
            if bank.verified_at is None:
                raise BankNotVerified
            return Target(bank, None)
        case WalletTarget(detail_id=detail_id):
            wallet = find_destination(viewer, detail_id, Destination.Kind.WALLET)
            if wallet.network != asset.chain_id:
                raise OtherNetwork
            return Target(wallet, check_recipient(wallet.address, asset, PURPOSE))
        case RawAddress(address=text):
            address = check_recipient(text, asset, PURPOSE)
            check_named_by_platform(viewer, address)
            return Target(None, address)


def check_order(store: Store, amount: Amount[Asset], target: Target) -> None:
    """KYC, eligibility and the minimum."""
    asset = amount.asset
    if target.is_bank:
        if store.kyc_confirmed_at is None:
            raise PayoutKycRequired
        check_eligible(asset)
        least = Amount(asset, OFFRAMP_MINIMUMS[asset.coin_symbol])
        if amount < least:
            raise BelowMinimum(
                Worded(
                    "Amount is below the minimum of {coins} {coin_symbol}",
                    coins=least.coins,
                    coin_symbol=asset.coin_symbol,
                )
            )
    elif amount.atomic < network_minimum(asset):
        raise BelowNetworkMinimum


def network_minimum(asset: Asset) -> int:
    """The asset's own, or in live mode so many times the gas of the moment when that is more. A
    price that nobody knows asks nothing."""
    fee_atomic = costs.known_fee(asset) if asset.mode == Mode.LIVE else None
    times: int = settings.PAYOUT_MINIMUM_GAS_TIMES
    return max(asset.min_withdrawal_atomic, times * (fee_atomic or 0))


def check_eligible(asset: Asset) -> None:
    """Refuses an asset that can't be turned into money in a bank."""
    if not asset.is_fiat_eligible or asset.coin_symbol not in OFFRAMP_MINIMUMS:
        raise NotEligible(Worded("{asset} is not eligible for fiat payouts", asset=asset.pk))
