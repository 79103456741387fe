"""/payment_currencies and /supported_assets: what a payment can be priced in and paid with."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.views import ApiView
from apps.assets.documents import (
    PaymentCurrencyDocument,
    SupportedAsset,
    payment_currencies,
    supported_asset,
)
from apps.assets.selectors import listed_assets


class PaymentCurrencies(ApiView):
    """The currencies that price a payment."""

    answers = {"GET": list[PaymentCurrencyDocument]}

    def get(self, request: Request) -> Response:
        return Response(payment_currencies())


class SupportedAssets(ApiView):
    """The active assets of the mode."""

    answers = {"GET": list[SupportedAsset]}

    def get(self, request: Request) -> Response:
        currency = self.access.store.settlement_currency
        return Response(
            [supported_asset(asset, currency) for asset in listed_assets(self.access.mode)]
        )
