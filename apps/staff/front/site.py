"""The staff site: for staff whose session has shown a second factor. Its sign-in is the
dashboard's."""

from functools import partial, wraps
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse

from apps.access.factors import second_factor
from apps.access.person import sessions
from apps.core import clock
from apps.core.acting import ActorKind, become
from apps.core.db import tenancy
from apps.core.errors import Failure
from apps.core.web.forms import typographic
from apps.staff.books import trial_balance
from apps.staff.front import home, navigation, search
from apps.staff.networks import coin_search, sending
from apps.staff.pages import may
from apps.staff.plumbing import fresh_code
from apps.staff.system import jobs, proxies
from apps.stores import staff_roles
from apps.stores.models import User

# Where the dashboard is, seen from here: nothing on the same host.
_DASHBOARD = settings.DASHBOARD_URL if settings.ADMIN_HOST != settings.DASHBOARD_HOST else ""


class StaffSite(AdminSite):
    site_header = site_title = "Tillgate staff"
    index_title = "Staff home"
    index_template = "staff/home.html"
    logout_template = "staff/signed_out.html"
    enable_nav_sidebar = False
    site_url = f"{_DASHBOARD}/dashboard/"

    def __init__(self, name: str = "admin") -> None:
        """With the pages of the table: those that libraries bring stay away."""
        super().__init__(name)
        for pages in navigation.GROUPS.values():
            for page in pages:
                self.register(page.model, page)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        views = {
            "proxies": proxies.page,
            "sending": sending.page,
            "coins": coin_search.page,
            "jobs": jobs.page,
            "trial_balance": trial_balance.page,
            "search": search.page,
        }
        own = [
            path(f"{name.replace('_', '-')}/", self.admin_view(partial(page, self)), name=name)
            for name, page in views.items()
        ]
        # Which leads to pages of records that libraries would have.
        django = [url for url in super().get_urls() if getattr(url, "name", "") != "view_on_site"]
        return [*own, *django]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Answers refusals and missing records by a page of the site; the product's own pages of
        errors speak to customers."""

        @wraps(view)
        def answered(request: HttpRequest, *args: Any, **options: Any) -> Any:
            try:
                return self._code_page(request) or view(request, *args, **options)
            except PermissionDenied:
                return self._problem(
                    request, "Your staff role doesn’t allow this", "forbidden", 403
                )
            except Http404:
                return self._problem(request, "Page not found", "missing", 404)

        return super().admin_view(answered, cacheable)

    def _code_page(self, request: HttpRequest) -> HttpResponse | None:
        """Before an act more than five minutes after the last code: the page that asks for one,
        with all that the form was sent with. None when nothing is to be asked."""
        if request.method != "POST" or request.path == reverse("admin:logout"):
            return None
        if not fresh_code.is_due(request):
            return None
        errors = []
        if request.POST.get("code", "").strip():
            try:
                fresh_code.take(request)
            except Failure as refusal:
                errors = [typographic(refusal.text)]
            else:
                return None
        fields = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name not in ("code", "csrfmiddlewaretoken")
        ]
        context = {
            **self.each_context(request),
            "title": "Enter a code to continue",
            "fields": fields,
            "errors": errors,
        }
        return render(request, "staff/code.html", context, status=422 if errors else 403)

    def _problem(
        self, request: HttpRequest, title: str, template: str, status: int
    ) -> HttpResponse:
        context = {**self.each_context(request), "title": title}
        return render(request, f"staff/{template}.html", context, status=status)

    def logout(self, request: HttpRequest, extra_context: Any = None) -> TemplateResponse:
        return super().logout(request, {"title": "Signed out", **(extra_context or {})})

    def index(self, request: HttpRequest, extra_context: Any = None) -> TemplateResponse:
        return super().index(request, {**home.context(), **(extra_context or {})})

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """By what people look for, in the order of the table of groups; of one app as Django has
        it."""
        apps = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        models = {model["model"]: model for app in apps for model in app["models"]}
        return [
            {
                "name": group,
                "app_label": "",
                "app_url": "",
                "has_module_perms": True,
                "models": [
                    {**models[page.model], "name": self.get_model_admin(page.model).list_name}  # type: ignore[attr-defined]
                    for page in pages
                ],
            }
            for group, pages in navigation.GROUPS.items()
        ]

    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        if not super().has_permission(request) or not isinstance(user, User):
            return False
        if not sessions.is_alive(user, request.session, clock.real_now()):
            return False
        if not may(request, staff_roles.READ):
            return False
        sessions.touch(request.session, clock.real_now())
        become(ActorKind.STAFF, request.user.pk, str(request.user))
        if not request.user.is_verified():  # type: ignore[union-attr]  # put there by django_otp
            return False
        tenancy.open_for("staff")
        return True

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponseRedirect:
        """To the page that is still missing: sign-in, a code, or setting up the app. People who
        aren't staff find nothing."""
        if not isinstance(request.user, User):
            page = "sign_in"
        elif not may(request, staff_roles.READ):
            raise Http404
        else:
            page = "security_enrol" if second_factor.confirmed(request.user) is None else "stepup"
        target = request.GET.get("next") or reverse("admin:index")
        return HttpResponseRedirect(f"{reverse(f'dashboard:{page}')}?{urlencode({'next': target})}")
