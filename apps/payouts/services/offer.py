"""What of an asset a store can pay out now, what that costs, and where it can go: what a form
offers before anything is asked for.

The rules are those of create and orders; nothing is kept or reserved.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import price_of
from apps.chain.sending import costs
from apps.core import clock
from apps.core.messages.invalid import Invalid
from apps.core.models import Mode
from apps.core.money import Amount, CoinPrice
from apps.ledger.selectors import balances
from apps.payments.services.worth import Most
from apps.payouts import selectors
from apps.payouts.models import Destination, Payout, PayoutSettings, PaysNetworkFee
from apps.payouts.services.caps import daily_spent, store_cap
from apps.payouts.services.create import Insufficient
from apps.payouts.services.offramp import OFFRAMP_MINIMUMS
from apps.payouts.services.orders import NotEligible, check_eligible, network_minimum

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

    @property
    def asset(self) -> Asset:
        return self.available.asset

    @property
    def in_fiat(self) -> Most | None:
        return None if self.price is None else Most(self.maximum, self.price)


def offer_of(access: Access, asset: Asset) -> PayoutOffer:
    """Not inside a transaction: the network may be asked what a transfer costs."""
    store = access.store
    balance = balances(access.store_id, access.mode).get(asset.pk)
    if asset.mode == Mode.LIVE:
        costs.look(asset.chain)
    available = Amount(asset, 0 if balance is None else balance.available_atomic)
    bears_fee = PayoutSettings.of(store).payout_network_fee == PaysNetworkFee.MERCHANT
    fee = costs.known_fee(asset) if bears_fee else None
    return PayoutOffer(
        available=available,
        maximum=min([available, *_caps(access, asset)]),
        price=price_of(asset, store.settlement_currency, clock.real_now()),
        minimum=Amount(asset, network_minimum(asset)),
        bank_minimum=Amount(asset, OFFRAMP_MINIMUMS[asset.coin_symbol])
        if _takes_bank(access, asset)
        else None,
        bears_fee=bears_fee,
        network_fee=None if fee is None else Amount(asset, fee),
        destinations=_destinations(access, asset),
    )


def _caps(access: Access, asset: Asset) -> list[Amount[Asset]]:
    """What staff let through at once, and today."""
    cap = store_cap(access.store_id, asset.pk)
    at = access.now()
    caps = []
    if cap is not None and cap.per_tx_atomic is not None:
        caps.append(int(cap.per_tx_atomic))
    if cap is not None and cap.daily_atomic is not None:
        spent = daily_spent(access.store_id, access.mode, asset.pk, at)
        caps.append(max(0, int(cap.daily_atomic) - spent))
    return [Amount(asset, cap) for cap in caps]


def accepts(destination: Destination, asset: Asset) -> bool:
    """Whether it can be sent there as it is: a bank is paid what an off-ramp takes."""
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


def _destinations(access: Access, asset: Asset) -> list[Destination]:
    """Those that the asset can be sent to now, the last used first."""
    fits = Q(kind=Destination.Kind.WALLET, network=asset.chain_id)
    if _takes_bank(access, asset):
        fits |= Q(kind=Destination.Kind.BANK, verified_at__isnull=False)
    usable = Q(usable_from=None) | Q(usable_from__lte=access.now())
    destinations = list(
        selectors.destinations_visible_to(access).filter(fits, usable)[:DESTINATIONS_MAX]
    )
    paid = Payout.objects.visible_to(access).filter(asset=asset, destination__isnull=False)
    recent = paid.order_by("-created_at").values_list("destination_id", flat=True)[:RECENT_MAX]
    turn = {id: place for place, id in reversed(list(enumerate(recent)))}
    return sorted(destinations, key=lambda destination: turn.get(destination.pk, RECENT_MAX))


def check_affordable(offer: PayoutOffer, amount: Amount[Asset]) -> None:
    """Before anybody reviews it. Raises Insufficient or Invalid."""
    if offer.available < amount:
        raise Insufficient
    if offer.maximum < amount:
        most = f"{offer.maximum.coins} {offer.maximum.asset.coin_symbol}"
        raise Invalid("amount_atomic", "payable_now", maximum=most)
