"""Calls that plugins make to a BTCPay Server before they use it: its version, the key's rights, and
the store."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.compat import documents
from apps.api.compat.views import PERMISSIONS, GreenfieldView
from apps.assets.selectors import accepted_assets


class Health(GreenfieldView):
    """True if the service answers."""

    def get(self, request: Request) -> Response:
        return Response({"synchronized": True})


class ServerInfo(GreenfieldView):
    """The version whose API is spoken, and the coins that the store takes."""

    def get(self, request: Request) -> Response:
        methods = [asset.pk for asset in accepted_assets(self.access.store_id, self.access.mode)]
        return Response(
            {
                "version": documents.VERSION,
                "onion": None,
                "supportedPaymentMethods": methods,
                "fullySynched": True,
                "syncStatus": [],
            }
        )


class CurrentKey(GreenfieldView):
    """The key's name and rights, in BTCPay's words; never the key."""

    def get(self, request: Request) -> Response:
        permissions = [
            f"{name}:{self.access.store_id}"
            for scope in sorted(self.access.scopes)
            for name in PERMISSIONS.get(scope, ())
        ]
        return Response({"label": self.access.label, "permissions": permissions})


class Stores(GreenfieldView):
    """The key's one store."""

    def get(self, request: Request) -> Response:
        return Response([documents.store(self.access.store)])


class StoreById(GreenfieldView):
    """The key's store."""

    def get(self, request: Request, store_id: str) -> Response:
        return Response(documents.store(self.access.store))


class StorePaymentMethods(GreenfieldView):
    """The coins that the store takes."""

    def get(self, request: Request, store_id: str) -> Response:
        rows = accepted_assets(self.access.store_id, self.access.mode)
        return Response(
            [
                {"paymentMethodId": asset.pk, "enabled": True, "cryptoCode": asset.coin_symbol}
                for asset in rows
            ]
        )
