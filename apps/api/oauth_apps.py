"""/merchants/oauth_apps: a store's OAuth apps, made, changed and switched off with a dashboard
session only."""

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access.authorization import apps as oauth_apps
from apps.access.documents import (
    OAuthAppDocument,
    OAuthAppWithSecret,
    app_document,
    app_with_secret,
)
from apps.access.models import Application
from apps.access.requests import AppChanges, AppRequest
from apps.api.keys import SessionView
from apps.core import clock


class AppView(SessionView):
    wrapper = "oauth_application"

    def rows(self) -> "QuerySet[Application]":
        """The apps of the store; they are of no mode."""
        rows: QuerySet[Application] = Application.objects.filter(
            store_id=self.access.store_id
        ).order_by("-created")
        return rows


class OAuthApps(AppView):
    """Make an OAuth app (its secret is shown once), or list them."""

    asks_for_code = True
    bodies = {"POST": AppRequest}
    answers = {"GET": list[OAuthAppDocument], "POST": OAuthAppWithSecret}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        return Response([app_document(app) for app in self.rows()])

    def post(self, request: Request) -> Response:
        order = self.read(request, AppRequest)
        assert self.access.user is not None  # a session has a person
        app, secret = oauth_apps.create_app(
            self.access.store, self.access.user, order, by=self.access
        )
        return Response(app_with_secret(app, secret), status=201)


class OAuthAppById(AppView):
    """One OAuth app: read, changed, switched off."""

    asks_for_code = True
    asks_on = ("PATCH", "DELETE")
    bodies = {"PATCH": AppChanges}
    answers = {"GET": OAuthAppDocument, "PATCH": OAuthAppDocument}
    statuses = {"DELETE": 204}

    def get(self, request: Request, id: str) -> Response:
        return Response(app_document(self.find(self.rows(), id)))

    def patch(self, request: Request, id: str) -> Response:
        app = self.find(self.rows(), id)
        oauth_apps.change_app(app, self.read(request, AppChanges), by=self.access)
        return Response(app_document(app))

    def delete(self, request: Request, id: str) -> Response:
        oauth_apps.deactivate_app(self.find(self.rows(), id), clock.real_now(), by=self.access)
        return Response(status=204)


class RotateAppSecret(AppView):
    """Give an OAuth app a new secret, shown once."""

    bodies = {"POST": None}
    answers = {"POST": OAuthAppWithSecret}
    asks_for_code = is_act = True

    def post(self, request: Request, id: str) -> Response:
        app = self.find(self.rows(), id)
        secret = oauth_apps.rotate_secret(app, by=self.access)
        return Response(app_with_secret(app, secret))
