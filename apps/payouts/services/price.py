"""The price of the service for a new store, read from what new stores get."""

from dataclasses import dataclass
from typing import Any

from apps.payouts.models.settings import PayoutSettings, PaysNetworkFee
from apps.stores.models import Store


@dataclass(frozen=True)
class NewStorePrice:
    """`fee_percentage` of each payment, as text in percent ("1", "0.75"). The service itself never
    charges for payouts; `has_free_payouts` means that it bears the network's fee too."""

    fee_percentage: str
    has_free_payouts: bool


def price_of_new_stores() -> NewStorePrice:
    percent = _default(Store, "fee_fraction") * 100
    payer = _default(PayoutSettings, "payout_network_fee")
    return NewStorePrice(format(percent.normalize(), "f"), payer == PaysNetworkFee.SERVICE)


def _default(model: Any, name: str) -> Any:
    return model._meta.get_field(name).default
