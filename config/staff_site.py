"""The staff site: for staff whose session has shown a second factor. Its sign-in is the dashboard's."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.urls import reverse

from apps.access import second_factor, sessions
from apps.core import clock
from apps.stores.models import User


class StaffSite(AdminSite):
    site_header = site_title = "Tillgate staff"
    index_title = "Records"
    site_url = "/dashboard/"

    def has_permission(self, request: HttpRequest) -> bool:
        if not super().has_permission(request) or not sessions.is_alive(request.session, clock.real_now()):
            return False
        sessions.touch(request.session, clock.real_now())
        return bool(request.user.is_verified())  # type: ignore[union-attr]  # put there by django_otp

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseRedirect:
        """To the page that is still missing: sign-in, a code, or setting up the app. People who aren't staff find nothing."""
        if not isinstance(request.user, User):
            page = "sign_in"
        elif not request.user.is_staff:
            raise Http404
        else:
            page = "security_enrol" if second_factor.confirmed(request.user) is None else "stepup"
        wanted = request.GET.get("next") or reverse("admin:index")
        return HttpResponseRedirect(f"{reverse(f'dashboard:{page}')}?{urlencode({'next': wanted})}")
