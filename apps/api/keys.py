"""/api_keys: made, listed and revoked with a dashboard session only."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services
from apps.access.access import SESSION
from apps.access.models import ApiKey, KeyType
from apps.api.plumbing.views import Door
from apps.core import clock
from apps.core.clock import iso
from apps.core.literal import List, Object, Text, wrapped, wrapper_schema
from apps.core.models import Mode

_FIELDS = Object(
    {
        "name": Text(100, required=True, shortest=1, trim=True),
        "mode": Text(4, required=True, choices=Mode.values),
        "key_type": Text(11, choices=KeyType.values, default=KeyType.SECRET),
        "scopes": List(Text(20), 50, default=None),
    }
)


class SessionDoor(Door):
    """A view for people in the dashboard; every other credential is told to sign in."""

    for_people = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.access.kind != SESSION:
            raise services.Unauthenticated("A dashboard session is required")
        services.check_may_see_credentials(self.access)


class Keys(SessionDoor):
    """Make an API key (its secret is shown once), or list them."""

    asks_for_code = True
    bodies = {"POST": wrapper_schema("api_key", _FIELDS)}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = ApiKey.objects.filter(store_id=self.access.store_id, revoked_at=None).order_by("-created_at")
        return Response([document(key) for key in rows])

    def post(self, request: Request) -> Response:
        fields = wrapped(self.body(request), "api_key", _FIELDS)
        key, secret = services.create_api_key(
            self.access.store,
            fields["mode"],
            name=fields["name"],
            key_type=fields["key_type"],
            wanted=fields["scopes"],
            by=self.access,
        )
        return Response({**document(key), "secret": secret}, status=201)


class KeyById(SessionDoor):
    """Revoke an API key."""

    statuses = {"DELETE": 204}

    def delete(self, request: Request, id: str) -> Response:
        key = self.find(ApiKey.objects.filter(store_id=self.access.store_id, revoked_at=None), id)
        services.revoke_api_key(key, clock.real_now(), by=self.access)
        return Response(status=204)


def document(key: ApiKey) -> dict[str, Any]:
    return {
        "id": str(key.pk),
        "name": key.name,
        "mode": key.mode,
        "key_type": key.key_type,
        "scopes": key.scopes,
        "prefix": key.prefix,
        "last_four": key.last_four,
        "last_used_at": iso(key.last_used_at),
        "revoked_at": iso(key.revoked_at),
        "created_at": iso(key.created_at),
    }
