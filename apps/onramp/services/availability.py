"""Availability of card payments for an intent: the networks, or the reason.

What the card would be charged at least is the order's total; where the customer bears the fees,
what the whole delivery is worth.
"""

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext_noop

from apps.core import money
from apps.onramp.documents import CardUnavailableDocument
from apps.onramp.services.networks import CardNetwork, networks_for
from apps.payments import states
from apps.payments.models import Payment, PaymentAddress
from apps.payments.selectors import addresses_of

# In the order of how near a network came; the nearest one's reason is given.
MESSAGES = {
    "feature_disabled": gettext_noop("Card payments are not enabled for this store"),
    "provider_unconfigured": gettext_noop("No card provider is configured"),
    "live_credentials_in_test": gettext_noop("The card provider has live credentials in test mode"),
    "live_credentials_in_live": gettext_noop("The card provider has test credentials in live mode"),
    "unsupported_currency": gettext_noop("The card provider does not take this currency"),
    "no_settlement_asset": (
        gettext_noop("The payment has no address for an asset that the card provider delivers")
    ),
    "below_min_amount": gettext_noop("The amount is below the card provider's minimum"),
    "above_max_amount": gettext_noop("The amount is above the card provider's maximum"),
}
_NEARNESS = {reason: number for number, reason in enumerate(MESSAGES)}
AMOUNT_REASONS = ("below_min_amount", "above_max_amount")


@dataclass(frozen=True)
class UsableNetwork:
    """A network that can be asked, and the address that it would deliver to."""

    network: CardNetwork
    entry: PaymentAddress


@dataclass(frozen=True)
class CardLimits:
    """The card's charge, and the network's limits; without a maximum it takes any."""

    charge_cents: int
    least_cents: int
    most_cents: int | None
    currency: str


@dataclass(frozen=True)
class CardsUnavailable:
    reason: str
    limits: CardLimits | None = None

    def document(self) -> CardUnavailableDocument:
        message = MESSAGES[self.reason]
        limits = self.limits
        if limits is None:
            return CardUnavailableDocument(reason=self.reason, message=message)
        return CardUnavailableDocument(
            reason=self.reason,
            message=message,
            charge_amount_cents=limits.charge_cents,
            min_amount_cents=limits.least_cents,
            max_amount_cents=limits.most_cents,
            currency=limits.currency,
        )


@dataclass(frozen=True)
class Availability:
    usable: list[UsableNetwork]
    unavailable: CardsUnavailable | None


def target_atomic(payment: Payment, entry: PaymentAddress) -> int | None:
    """Amount to be delivered when the customer bears the fees; None when the store does.

    A little more than is required, for rates move until the coins arrive; never so much that it
    would be an overpayment.
    """
    if not payment.customer_pays_fee:
        return None
    surcharge = money.Bps(min(settings.CARD_SURCHARGE_BPS, payment.store.overpayment_tolerance_bps))
    return money.with_bps(entry.required_atomic, surcharge)


def least_charge_cents(payment: Payment, entry: PaymentAddress) -> int:
    target = target_atomic(payment, entry)
    if target is None:
        return payment.settlement_amount_cents
    return money.cents_at_least(target, entry.exchange_rate, entry.asset.atomic_decimals)


def is_enabled(payment: Payment) -> bool:
    return bool(
        payment.store.card_funding_live if payment.is_live else payment.store.card_funding_test
    )


def is_payable(payment: Payment) -> bool:
    """Nothing has come yet, and the time is not up: a card can still pay the whole."""
    return payment.status == states.PENDING


def availability(payment: Payment) -> Availability:
    """Asks nobody: every fact is here."""
    if not is_enabled(payment):
        return Availability([], CardsUnavailable("feature_disabled"))
    entries = addresses_of(payment)
    usable = []
    refused = [CardsUnavailable("provider_unconfigured")]
    for network in networks_for(payment.store, payment.mode):
        candidates = _of_network(payment, entries, network)
        if isinstance(candidates, UsableNetwork):
            usable.append(candidates)
        else:
            refused.append(candidates)
    if usable:
        return Availability(usable, None)
    return Availability([], max(refused, key=lambda refusal: _NEARNESS[refusal.reason]))


def _of_network(
    payment: Payment, entries: list[PaymentAddress], network: CardNetwork
) -> UsableNetwork | CardsUnavailable:
    if network.adapter is None:
        return CardsUnavailable(network.problem)
    adapter = network.adapter
    currency = payment.settlement_currency
    if currency not in adapter.currencies:
        return CardsUnavailable("unsupported_currency")
    by_asset = {entry.asset_id: entry for entry in entries}
    entry = next(
        (by_asset[asset_id] for asset_id in adapter.assets() if asset_id in by_asset), None
    )
    if entry is None:
        return CardsUnavailable("no_settlement_asset")
    charge = least_charge_cents(payment, entry)
    limits = CardLimits(charge, adapter.floor_cents, adapter.ceiling_cents, currency)
    if charge < adapter.floor_cents:
        return CardsUnavailable("below_min_amount", limits)
    if adapter.ceiling_cents is not None and charge > adapter.ceiling_cents:
        return CardsUnavailable("above_max_amount", limits)
    return UsableNetwork(network, entry)
