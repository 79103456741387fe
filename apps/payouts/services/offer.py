"""A store's present offer for an asset: the available amount, its cost, and its destinations,
before anything is requested.

The rules are those of create and orders; nothing is kept or reserved.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, ExpressionWrapper, F, Func, IntegerField, Q

from apps.access.access import Access
from apps.assets.models import Asset
from apps.chain.sending import costs
from apps.core.messages.invalid import Invalid
from apps.core.models import Mode
from apps.core.money import Amount, CoinPrice
from apps.ledger.selectors import balances
from apps.payments.services.own_fees import said_of_missing
from apps.payments.services.worth import MaximumAmount
from apps.payouts import selectors
from apps.payouts.models import Destination, Payout, PaysNetworkFee
from apps.payouts.services.caps import Cap, daily_spent
from apps.payouts.services.create import Insufficient
from apps.payouts.services.offramp import OFFRAMP_MINIMUMS
from apps.payouts.services.orders import NotEligible, check_eligible, network_minimum
from apps.payouts.services.terms import terms_of

DESTINATIONS_MAX = 100
RECENT_MAX = 200


@dataclass(frozen=True)
class PayoutOffer:
    """`maximum` is the available balance within what staff have set. The minimum of a bank is None
    where no bank takes the asset.

    `network_fee` comes out of the amount; it is None where the service pays it, or where nobody
    knows it now.
    """

    available: Amount[Asset]
    maximum: Amount[Asset]
    price: CoinPrice[Asset] | None
    minimum: Amount[Asset]
    bank_minimum: Amount[Asset] | None
    bears_fee: bool
    network_fee: Amount[Asset] | None
    destinations: Sequence[Destination]
    # Those that it could be sent to but for their waiting period, the next one first.
    waiting: Sequence[Destination]
    has_destinations: bool  # of whatever kind

    @property
    def asset(self) -> Asset:
        return self.available.asset

    @property
    def in_fiat(self) -> MaximumAmount | None:
        return None if self.price is None else MaximumAmount(self.maximum, self.price)


def offer_of(
    access: Access, available: Amount[Asset], price: CoinPrice[Asset] | None
) -> PayoutOffer:
    """Of what is available of an asset. Not inside a transaction: the network may be asked what a
    transfer costs."""
    asset = available.asset
    if asset.mode == Mode.LIVE:
        costs.look(asset.chain)
    terms = terms_of(access, access.store, asset.pk, access.now())
    bears_fee = terms.settings.payout_network_fee == PaysNetworkFee.MERCHANT
    fee = costs.known_fee(asset) if bears_fee else None
    destinations, waiting, has_destinations = _destinations(access, asset)
    return PayoutOffer(
        available=available,
        maximum=payable_now(access, available, terms.cap),
        price=price,
        minimum=Amount(asset, network_minimum(asset)),
        bank_minimum=Amount(asset, OFFRAMP_MINIMUMS[asset.coin_symbol])
        if _takes_bank(access, asset)
        else None,
        bears_fee=bears_fee,
        network_fee=None if fee is None else Amount(asset, fee),
        destinations=destinations,
        waiting=waiting,
        has_destinations=has_destinations,
    )


def payable_now(access: Access, available: Amount[Asset], cap: Cap) -> Amount[Asset]:
    """Available amount, within staff's caps per payout and per day."""
    amounts = [available.atomic]
    asset = available.asset
    if cap.per_tx_atomic is not None:
        amounts.append(cap.per_tx_atomic)
    if cap.daily_atomic is not None:
        spent = daily_spent(access.store_id, access.mode, asset.pk, access.now())
        amounts.append(max(0, cap.daily_atomic - spent))
    return Amount(asset, min(amounts))


def accepts(destination: Destination, asset: Asset) -> bool:
    """True if it can be sent there as it is: a bank is paid what an off-ramp takes."""
    if destination.is_wallet:
        return destination.network == asset.chain_id
    return _is_eligible(asset)


def _takes_bank(access: Access, asset: Asset) -> bool:
    return _is_eligible(asset) and access.store.kyc_confirmed_at is not None


def _is_eligible(asset: Asset) -> bool:
    try:
        check_eligible(asset)
    except NotEligible:
        return False
    return True


def _destinations(
    access: Access, asset: Asset
) -> tuple[list[Destination], list[Destination], bool]:
    """Those that the asset can be sent to now, the last used first; those that wait; and whether
    there are any at all."""
    fits = Q(kind=Destination.Kind.WALLET, network=asset.chain_id)
    if _takes_bank(access, asset):
        fits |= Q(kind=Destination.Kind.BANK, verified_at__isnull=False)
    usable = Q(usable_from=None) | Q(usable_from__lte=access.now())
    paid = Payout.objects.visible_to(access).filter(asset=asset, destination__isnull=False)
    recent = paid.order_by("-created_at").values("destination_id")[:RECENT_MAX]
    # Its place among the destinations of the newest payouts.
    turn = Func(
        ArraySubquery(recent), F("pk"), function="array_position", output_field=IntegerField()
    )
    is_offered = ExpressionWrapper(fits & usable, output_field=BooleanField())
    is_fit = ExpressionWrapper(fits, output_field=BooleanField())
    rows: Any = selectors.destinations_visible_to(access).annotate(
        turn=turn, is_offered=is_offered, is_fit=is_fit
    )
    ordered = rows.order_by("-is_offered", "-is_fit", "-created_at", "id")
    saved = list(ordered[:DESTINATIONS_MAX])
    offered = [destination for destination in saved if destination.is_offered]
    offered.sort(key=lambda destination: destination.turn or math.inf)
    waiting = [row for row in saved if row.is_fit and not row.is_offered]
    waiting.sort(key=lambda destination: destination.usable_from)
    return offered, waiting, bool(saved)


def available_of(access: Access, asset: Asset) -> Amount[Asset]:
    balance = balances(access.store_id, access.mode).get(asset.pk)
    return Amount(asset, 0 if balance is None else balance.available_atomic)


def check_affordable(
    access: Access, amount: Amount[Asset], available: Amount[Asset], cap: Cap
) -> None:
    """Before anybody reviews it. Raises Insufficient or Invalid."""
    if available < amount:
        raise Insufficient(said_of_missing(access, amount.asset.pk))
    maximum = payable_now(access, available, cap)
    if maximum < amount:
        most = f"{maximum.coins} {maximum.asset.coin_symbol}"
        raise Invalid("amount_atomic", "payable_now", maximum=most)
