"""The staff site: for staff whose session has shown a second factor. Its sign-in is the
dashboard's."""

from decimal import Decimal
from functools import partial, wraps
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.admin import AdminSite, ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse

from apps.access import second_factor, sessions
from apps.core import clock
from apps.core.acting import ActorKind, become
from apps.core.db import tenancy
from apps.core.errors import Failure
from apps.core.web.forms import typographic
from apps.core.words import sentence
from apps.staff import (
    coin_search,
    home,
    jobs,
    navigation,
    proxies,
    search,
    sending,
    trial_balance,
)
from apps.staff.labels import LABELS, record_names
from apps.staff.pages import ReadOnly, may, typed_reason
from apps.staff.plumbing import fresh_code
from apps.stores import audit, staff_roles
from apps.stores.models import Store, User


class Audited:
    """Pages on which every act of staff is in the audit log too, with the numbers and choices that
    they have typed in: texts may be about a person."""

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        form.instance.typed_values = {
            name: form.cleaned_data[name]
            for name in form.changed_data
            if isinstance(form.cleaned_data[name], (int, Decimal, type(None)))
            or (isinstance(form.cleaned_data[name], str) and hasattr(form.fields[name], "choices"))
        }
        return super().construct_change_message(request, form, formsets, add)  # type: ignore[misc]  # mixed into a ModelAdmin

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record("staff.added", obj, message, typed_reason(request))
        return super().log_addition(request, obj, message)  # type: ignore[misc]  # mixed into a ModelAdmin

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record("staff.changed", obj, message, typed_reason(request))
        return super().log_change(request, obj, message)  # type: ignore[misc]  # mixed into a ModelAdmin

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for row in queryset:
            _record("staff.deleted", row, "", typed_reason(request))
        return super().log_deletions(request, queryset)  # type: ignore[misc]  # mixed into a ModelAdmin


def _record(action: str, obj: Any, message: Any, reason: str) -> None:
    store = obj if isinstance(obj, Store) else getattr(obj, "store", None)
    typed = getattr(obj, "typed_values", {})
    details = {"message": message} if isinstance(message, str) else {"changed": message}
    audit.record(
        action,
        store=store,
        mode=getattr(obj, "mode", ""),
        target=obj,
        name=str(obj),
        reason=reason,
        details={**typed, **details, "typed": sorted(typed)},
    )


def _named(model: Any, name: str) -> dict[str, object]:
    return {**model, "name": sentence(LABELS.get(name) or record_names(model["model"]._meta))}


# Where the dashboard is, seen from here: nothing on the same host.
_DASHBOARD = settings.DASHBOARD_URL if settings.ADMIN_HOST != settings.DASHBOARD_HOST else ""


class StaffSite(AdminSite):
    site_header = site_title = "Tillgate staff"
    index_title = "Staff home"
    index_template = "admin/staff_index.html"
    enable_nav_sidebar = False
    site_url = f"{_DASHBOARD}/dashboard/"

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Nothing is registered that isn't audited, and nothing that doesn't ask who may: pages
        that libraries bring stay away."""
        if not issubclass(admin_class or ModelAdmin, ReadOnly):
            return
        audited = type(f"Audited{admin_class.__name__}", (Audited, admin_class), {})
        super().register(model_or_iterable, audited, **options)

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
        django = [
            url for url in super().get_urls() if getattr(url, "name", "") != "view_on_site"
        ]  # which leads to pages of records that libraries would have
        return [*own, *django]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Who may not do something, or looks for what isn't there, is told so by a page of the
        site; the product's own pages of errors speak to customers."""

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
        return render(request, "admin/code.html", context, status=422 if errors else 403)

    def _problem(
        self, request: HttpRequest, title: str, template: str, status: int
    ) -> HttpResponse:
        context = {**self.each_context(request), "title": title}
        return render(request, f"admin/{template}.html", context, status=status)

    def index(self, request: HttpRequest, extra_context: Any = None) -> TemplateResponse:
        return super().index(request, {**home.context(), **(extra_context or {})})

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """By what people look for, in the order of the table of groups; of one app as Django has
        it."""
        apps = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        models = {
            f"{app['app_label']}.{model['object_name']}": model
            for app in apps
            for model in app["models"]
        }
        return [
            {
                "name": group,
                "app_label": "",
                "app_url": "",
                "has_module_perms": True,
                "models": [_named(models[name], name) for name in names],
            }
            for group, names in navigation.GROUPS.items()
        ]

    def has_permission(self, request: HttpRequest) -> bool:
        if not super().has_permission(request) or not sessions.is_alive(
            request.session, clock.real_now()
        ):
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
