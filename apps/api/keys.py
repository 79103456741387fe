"""/api_keys: made, listed and revoked with a dashboard session only."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services
from apps.access.access import SESSION
from apps.access.documents import ApiKeyDocument, ApiKeyWithSecret, key_document, key_with_secret
from apps.access.models import ApiKey
from apps.access.requests import KeyRequest
from apps.api.plumbing.views import ApiView
from apps.core import clock


class SessionView(ApiView):
    """A view for people in the dashboard; every other credential is asked to sign in."""

    for_people = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.access.kind != SESSION:
            raise services.Unauthenticated("A dashboard session is required")
        services.check_may_see_credentials(self.access)


class Keys(SessionView):
    """Make an API key (its secret is shown once), or list them."""

    asks_for_code = is_act = True
    wrapper = "api_key"
    bodies = {"POST": KeyRequest}
    answers = {"GET": list[ApiKeyDocument], "POST": ApiKeyWithSecret}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = ApiKey.objects.filter(store_id=self.access.store_id, revoked_at=None).order_by(
            "-created_at"
        )
        return Response([key_document(key) for key in rows])

    def post(self, request: Request) -> Response:
        order = self.read(request, KeyRequest)
        key, secret = services.create_api_key(
            self.access.store,
            order.mode,
            name=order.name,
            key_type=order.key_type,
            scope_names=order.scopes,
            by=self.access,
        )
        return Response(key_with_secret(key, secret), status=201)


class KeyById(SessionView):
    """Revoke an API key."""

    statuses = {"DELETE": 204}

    def delete(self, request: Request, id: str) -> Response:
        key = self.find(ApiKey.objects.filter(store_id=self.access.store_id, revoked_at=None), id)
        services.revoke_api_key(key, clock.real_now(), by=self.access)
        return Response(status=204)
