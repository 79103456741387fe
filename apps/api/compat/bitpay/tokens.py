"""Pairing: a client asks for a token, and its owner approves it in the dashboard."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.views.decorators.http import require_safe
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import pairing
from apps.api.compat.bitpay.documents import milliseconds
from apps.api.compat.bitpay.requests import TokenRequest
from apps.api.compat.bitpay.views import BitPayView
from apps.core import clock


class Tokens(BitPayView):
    """A token that opens nothing until a person has approved its client."""

    bodies = {"POST": TokenRequest}
    is_logged = False

    def post(self, request: Request) -> Response:
        order = self.read(request, TokenRequest)
        begun, token = pairing.begin(order.label or order.id, order.id)
        now = clock.real_now()
        policy = {"policy": "id", "method": "inactive", "params": [order.id]}
        document = {
            "policies": [policy],
            "resource": order.id,
            "token": token,
            "facade": order.facade,
            "label": begun.name,
            "dateCreated": milliseconds(now),
            "pairingExpiration": milliseconds(now + pairing.LIFETIME),
            "pairingCode": begun.code,
        }
        return Response({"data": [document]})


@require_safe
def api_access_request(request: HttpRequest) -> HttpResponseRedirect:
    """Sends the browser of a shop's owner to the page that asks for approval."""
    query = urlencode({"code": request.GET.get("pairingCode", "")})
    return HttpResponseRedirect(f"{settings.DASHBOARD_URL}/dashboard/api-keys/pair?{query}")
