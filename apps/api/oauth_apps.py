"""/merchants/oauth_apps: a store's OAuth apps, made, changed and switched off with a dashboard session only."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import oauth_apps
from apps.access.models import Application
from apps.api.keys import SessionDoor
from apps.core import clock
from apps.core.clock import iso
from apps.core.literal import Boolean, Invalid, List, Object, Text, Url, wrapped, wrapper_schema

WRAPPER = "oauth_application"
_NAME, _CONFIDENTIAL = Text(100, required=True, shortest=1, trim=True), Boolean(default=True)
_FIELDS = {
    "website_url": Url(),
    "logo_url": Url(),
    "redirect_uris": List(Url(plain_http="localhost"), 10, required=True),
    "scopes": List(Text(20), 50, required=True),
}
_NEW = Object({"name": _NAME, "confidential": _CONFIDENTIAL, **_FIELDS})
_CHANGED = Object({"name": _NAME, **_FIELDS})


class AppDoor(SessionDoor):
    def rows(self) -> "QuerySet[Application]":
        """The apps of the store; they are of no mode."""
        rows: QuerySet[Application] = Application.objects.filter(store_id=self.access.store_id).order_by("-created")
        return rows


class OAuthApps(AppDoor):
    """Make an OAuth app (its secret is shown once), or list them."""

    asks_for_code = True
    bodies = {"POST": wrapper_schema(WRAPPER, _NEW)}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        return Response([document(app) for app in self.rows()])

    def post(self, request: Request) -> Response:
        fields = wrapped(self.body(request), WRAPPER, _NEW)
        assert self.access.user is not None  # a session has a person
        app, secret = oauth_apps.create_app(self.access.store, self.access.user, fields, by=self.access)
        return Response({**document(app), "client_secret": secret}, status=201)


class OAuthAppById(AppDoor):
    """One OAuth app: read, changed, switched off."""

    asks_for_code = True
    asks_on = ("PATCH", "DELETE")
    bodies = {"PATCH": wrapper_schema(WRAPPER, _CHANGED)}
    statuses = {"DELETE": 204}

    def get(self, request: Request, id: str) -> Response:
        return Response(document(self.find(self.rows(), id)))

    def patch(self, request: Request, id: str) -> Response:
        app = self.find(self.rows(), id)
        given = self.body(request).get(WRAPPER)
        if not isinstance(given, dict):
            raise Invalid(WRAPPER, "required")
        fields = {name: field.read(given, name) for name, field in _CHANGED.fields.items() if name in given}
        oauth_apps.change_app(app, fields, by=self.access)
        return Response(document(app))

    def delete(self, request: Request, id: str) -> Response:
        oauth_apps.deactivate_app(self.find(self.rows(), id), clock.real_now(), by=self.access)
        return Response(status=204)


class RotateAppSecret(AppDoor):
    """Give an OAuth app a new secret, shown once."""

    bodies = {"POST": None}
    asks_for_code = True

    def post(self, request: Request, id: str) -> Response:
        app = self.find(self.rows(), id)
        secret = oauth_apps.rotate_secret(app, by=self.access)
        return Response({**document(app), "client_secret": secret})


def document(app: Application) -> dict[str, Any]:
    return {
        "id": str(app.pk),
        "client_id": app.client_id,
        "name": app.name,
        "website_url": app.website_url or None,
        "logo_url": app.logo_url or None,
        "confidential": app.client_type == Application.CLIENT_CONFIDENTIAL,
        "redirect_uris": app.redirect_uris.split(),
        "scopes": app.scopes,
        "has_secret": bool(app.client_secret),
        "active": app.is_active,
        "created_at": iso(app.created),
    }
