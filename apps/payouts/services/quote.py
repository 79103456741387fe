"""Quote of a bank payout: an estimate of the off-ramp. Nothing is kept or reserved."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from apps.assets.models import Asset
from apps.core import clock, money
from apps.core.clock import iso
from apps.core.errors import ProviderError, ProviderFailed
from apps.core.messages.fields import Invalid
from apps.core.models import Viewer
from apps.core.money import Amount, Fiat
from apps.payouts.documents import PayoutQuoteDocument
from apps.payouts.requests import PayoutRequest
from apps.payouts.services.offramp import OFFRAMP_MINIMUMS, offramp_of
from apps.payouts.services.orders import check_eligible, find_asset, find_target

LIFETIME = timedelta(seconds=60)


@dataclass(frozen=True)
class PayoutEstimate:
    amount: Amount[Asset]
    fiat: Fiat
    fee: Fiat
    rate: Decimal
    expires_at: datetime

    def document(self) -> PayoutQuoteDocument:
        asset = self.amount.asset
        least = Amount(asset, OFFRAMP_MINIMUMS[asset.coin_symbol])
        return PayoutQuoteDocument(
            asset_id=asset.pk,
            coin_symbol=asset.coin_symbol,
            amount_atomic=str(self.amount.atomic),
            estimated_fiat_cents=self.fiat.cents,
            estimated_fee_cents=self.fee.cents,
            exchange_rate=money.rate_text(self.rate),
            fiat_currency=self.fiat.currency,
            source_currency=asset.coin_symbol,
            minimum_atomic=str(least.atomic),
            meets_minimum=self.amount >= least,
            expires_at=iso(self.expires_at),
        )


def quote_payout(viewer: Viewer, request: PayoutRequest) -> PayoutEstimate:
    """Raises Failure; ProviderFailed when the off-ramp doesn't answer. Not
    inside a transaction."""
    asset = find_asset(viewer, request.asset_id)
    bank = find_target(viewer, asset, request.target).destination
    if bank is None:
        raise Invalid("destination_address", "one_destination")
    check_eligible(asset)
    try:
        quote = offramp_of(viewer.mode).quote(asset, request.amount_atomic, bank.currency)
    except ProviderError:
        raise ProviderFailed from None
    fiat = Fiat(quote.fiat_cents, bank.currency)
    fee = Fiat(quote.fee_cents, bank.currency)
    return PayoutEstimate(
        Amount(asset, request.amount_atomic), fiat, fee, quote.rate, clock.real_now() + LIFETIME
    )
