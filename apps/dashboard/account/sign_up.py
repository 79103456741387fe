"""Pages of signing up: an address, the code from its email, then the store; and opening one more
store."""

from collections.abc import Mapping
from typing import ClassVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from msgspec.structs import replace

from apps.access.person import sign_up
from apps.access.person.sessions import look_at
from apps.assets import opening
from apps.core import clock
from apps.core.errors import NotFound
from apps.core.models import Mode
from apps.core.text.countries import countries
from apps.core.web.forms import Form
from apps.core.web.middleware import client_address
from apps.core.web.refusals import headers_of
from apps.dashboard.account.sign_in import enter
from apps.dashboard.site.views import ZONE_COOKIE, PageRequest, Refusals, go, show
from apps.payouts.services.price import price_of_new_stores
from apps.stores.models import Currency, Store
from apps.stores.requests import PersonRequest, StoreRequest


class AddressForm(Form):
    names = ("email",)
    labels = {"email": _("The email address")}


class EmailCodeForm(Form):
    names = ("code",)


class NewStoreForm(Form):
    names: tuple[str, ...] = ("name", "country", "settlement_currency")
    labels: ClassVar[Mapping[str, str]] = {
        "name": _("The store name"),
        "settlement_currency": _("The currency"),
    }

    def request(self) -> StoreRequest:
        """Raises Invalid."""
        return StoreRequest.read(self.sent)


class SignUpForm(NewStoreForm):
    """The first store and its owner."""

    names = ("name", "person_name", "password", "country", "settlement_currency")
    secrets = ("password",)
    labels = {**NewStoreForm.labels, "person_name": _("Your name"), "password": _("The password")}

    def person(self) -> PersonRequest:
        """Raises Invalid."""
        password = self.secret_values["password"] or None
        return PersonRequest.read({"person_name": self.sent["person_name"], "password": password})


def begin(request: HttpRequest) -> HttpResponse:
    """An address, to which a code is sent; opening the page changes nothing."""
    form = AddressForm(request.POST.dict())
    if request.method == "GET":
        return _page(request, "address" if sign_up.is_open() else "closed", form)
    try:
        sign_up.begin(
            request.session, form.values["email"], client_address(request), clock.real_now()
        )
    except Refusals as refusal:
        return _page(
            request, "address" if sign_up.is_open() else "closed", form.refuse(refusal), refusal
        )
    return go("sign_up_code")


def code(request: HttpRequest) -> HttpResponse:
    form = EmailCodeForm(request.POST.dict())
    if not sign_up.awaited(request.session):
        return go("sign_up")
    if request.method == "GET":
        return _page(request, "code", form)
    try:
        sign_up.prove(
            request.session, form.values["code"], client_address(request), clock.real_now()
        )
    except Refusals as refusal:
        return _page(request, "code", form.refuse(refusal), refusal)
    request.session.cycle_key()
    return go("sign_up_store")


def first_store(request: HttpRequest) -> HttpResponse:
    email = sign_up.proved(request.session, clock.real_now())
    return _first_store(request, email) if email else go("sign_up")


def invited(request: HttpRequest, token: str) -> HttpResponse:
    """The link of an invitation proves the address by itself."""
    try:
        email = sign_up.invited(token)
    except NotFound:
        return _page(request, "over", AddressForm({}), status=404)
    return _first_store(request, email)


def _first_store(request: HttpRequest, email: str) -> HttpResponse:
    form = SignUpForm(
        request.POST.dict() if request.method == "POST" else {"settlement_currency": Currency.EUR}
    )
    if request.method == "GET":
        return _page(request, "store", form, email=email)
    try:
        person = form.person()
        opened = _there(request, form.request())
        sign_up.count_account_attempt(email, client_address(request))
        user, store = opening.sign_up_with_store(email, person, opened)
    except Refusals as refusal:
        return _page(request, "store", form.refuse(refusal), refusal, email=email)
    response = enter(request, user, None)
    _look_at(request, store)
    messages.success(
        request,
        gettext("Welcome to {name}. You’re in test mode: nothing here moves real money.").format(
            name=store.name
        ),
    )
    return response


def _there(request: HttpRequest, store: StoreRequest) -> StoreRequest:
    """A store begins in the time zone of the browser that opens it."""
    return replace(store, time_zone=request.COOKIES.get(ZONE_COOKIE, ""))


def another_store(request: PageRequest) -> HttpResponse:
    """Another store of a person who has signed up."""
    form = NewStoreForm(
        request.POST.dict() if request.method == "POST" else {"settlement_currency": Currency.EUR}
    )
    if request.method == "POST":
        try:
            store = opening.open_store(request.person, _there(request, form.request()))
        except Refusals as refusal:
            form.refuse(refusal)
        else:
            _look_at(request, store)
            messages.success(
                request, gettext("{name} is open. You’re in test mode.").format(name=store.name)
            )
            return go("home")
    context = {
        "form": form,
        "errors": form.common_errors,
        "currencies": Currency.choices,
        "countries": countries(),
        "price": price_of_new_stores(),
        "may_open": sign_up.may_open(request.person),
    }
    return show(request, "dashboard/sign_up/another.html", context, status=form.status)


def _look_at(request: HttpRequest, store: Store) -> None:
    look_at(request.session, store.pk, Mode.TEST)


def _page(
    request: HttpRequest,
    name: str,
    form: Form,
    refusal: Exception | None = None,
    *,
    email: str = "",
    status: int = 0,
) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "email": email or sign_up.awaited(request.session),
        "currencies": Currency.choices,
        "countries": countries(),
        "price": price_of_new_stores(),
        "is_closed": sign_up.is_closed(),
    }
    response = render(
        request,
        f"dashboard/sign_up/{name}.html",
        context,
        status=status or form.status,
    )
    for header, value in headers_of(refusal).items():
        response[header] = value
    return response
