"""Signing in with a password and then a code where one is asked for, or with a passkey; signing
out; the step-up page."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django_otp import login as otp_login

from apps.access.access import Access
from apps.access.factors import passkeys, second_factor, stepup
from apps.access.person import sessions, sign_in, sign_up
from apps.core import clock
from apps.core.errors import Failure
from apps.core.web.forms import Form
from apps.core.web.middleware import client_address
from apps.core.web.refusals import headers_of
from apps.dashboard.site.acts import act_at
from apps.dashboard.site.views import PageRequest, go, next_url
from apps.stores.models import User

_HALF_WAY_KEY = "half_signed_in"
_CODE_WAIT = timedelta(minutes=10)
_BACKEND = "apps.access.signed_in.SignedInBackend"


class SignInForm(Form):
    names = ("email", "password")
    secrets = ("password",)


class SignInCodeForm(Form):
    """`passkey` answers instead of a code; what is wrong with it is said above."""

    names = ("code",)
    secrets = ("passkey",)


@dataclass(frozen=True)
class SignInDetails:
    """Page of signing in besides its form: the act and place to confirm, and the passkey's
    challenge."""

    act: str = ""
    access: Access | None = None
    passkey_options: str = ""
    starts: bool = False


def password(request: HttpRequest) -> HttpResponse:
    if request.method == "GET":
        if request.user.is_authenticated:
            return HttpResponseRedirect(next_url(request))
        return _form(request, "password", SignInForm({}))
    form = SignInForm.from_post(request.POST)
    try:
        typed = form.secret_values["password"]
        user, factor = sign_in.by_password(
            form.values["email"], typed, client_address(request), _device(request)
        )
    except Failure as refusal:
        return _form(request, "password", form, refusal)
    if factor is None:
        return enter(request, user, None)
    request.session.cycle_key()
    request.session[_HALF_WAY_KEY] = {
        "user_id": str(user.pk),
        "at": clock.real_now().isoformat(),
        "hash": user.get_session_auth_hash(),
    }
    return HttpResponseRedirect(
        f"{reverse('dashboard:sign_in_code')}?{urlencode({'next': next_url(request)})}"
    )


def code(request: HttpRequest) -> HttpResponse:
    user = _half_signed_in(request)
    if user is None:
        return go("sign_in")
    if request.method == "GET":
        return _form(
            request,
            "code",
            SignInCodeForm({}),
            details=SignInDetails(passkey_options=_options(request, user)),
        )
    form = SignInCodeForm.from_post(request.POST)
    try:
        factor = _taken(request, user, form)
    except Failure as refusal:
        return _form(
            request, "code", form, refusal, SignInDetails(passkey_options=_options(request, user))
        )
    return enter(request, user, factor)


def passkey(request: HttpRequest) -> HttpResponse:
    """Without password and code: the device has verified the person."""
    if request.method == "GET":
        return _passkey_form(request)
    answer = request.POST.get("passkey", "")
    at = clock.real_now()
    try:
        sign_in = passkeys.take(
            request.session, None, answer=answer, address=client_address(request), at=at
        )
    except Failure as refusal:
        return _passkey_form(request, refusal)
    return enter(request, sign_in.user, sign_in)


def _passkey_form(request: HttpRequest, refusal: Failure | None = None) -> HttpResponse:
    options = passkeys.begin_asking(request.session, None, clock.real_now())
    return _form(
        request,
        "passkey",
        Form({}),
        refusal,
        SignInDetails(passkey_options=options, starts=refusal is None),
    )


def _taken(request: HttpRequest, user: User, form: SignInCodeForm) -> Any:
    """The code or passkey with which the person has answered. Raises what either raises."""
    code = form.values["code"]
    passkey = form.secret_values["passkey"]
    place = sign_in.place_of(_device(request), user, client_address(request))
    at = clock.real_now()
    return stepup.take(request.session, user, code=code, passkey=passkey, address=place, at=at)


def _device(request: HttpRequest) -> str:
    return request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "")


def sign_out(request: HttpRequest) -> HttpResponse:
    sessions.leave(request.session, clock.real_now())
    logout(request)
    return go("sign_in")


def confirm(request: PageRequest) -> HttpResponse:
    """The step-up page: a fresh code, then back to what was asked for."""
    if second_factor.confirmed(request.person) is None:
        return HttpResponseRedirect(next_url(request))
    if request.method == "GET":
        return _form(request, "stepup", SignInCodeForm({}), details=_named(request))
    form = SignInCodeForm.from_post(request.POST)
    try:
        factor = _taken(request, request.person, form)
    except Failure as refusal:
        return _form(request, "stepup", form, refusal, _named(request))
    stepup.note(request.session, request.person, clock.real_now())
    otp_login(request, factor)
    request.session.cycle_key()
    return HttpResponseRedirect(next_url(request))


def _named(request: PageRequest) -> SignInDetails:
    """The act to confirm, and its store."""
    act, is_stores = act_at(next_url(request))
    access = getattr(request, "access", None) if is_stores else None
    return SignInDetails(act, access, _options(request, request.person))


def _options(request: HttpRequest, user: User) -> str:
    """Challenge for a passkey of the person; empty without one."""
    return (
        passkeys.begin_asking(request.session, user, clock.real_now())
        if passkeys.of(user).exists()
        else ""
    )


def enter(request: HttpRequest, user: User, factor: Any) -> HttpResponse:
    """A new session id, so that one planted before signing in is worth nothing."""
    where = next_url(request)
    at = clock.real_now()
    request.session.flush()
    if factor is not None:
        user.otp_device = factor  # type: ignore[attr-defined]  # django_otp marks the session as verified
    login(request, user, backend=_BACKEND)
    sessions.begin(request.session, at)
    if factor is not None:
        stepup.note(request.session, user, at)
    response = HttpResponseRedirect(where)
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        sign_in.device_token(user),
        max_age=sign_in.DEVICE_LIFETIME,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _half_signed_in(request: HttpRequest) -> User | None:
    """The person who gave the right password in this session a moment ago; nobody once the password
    or factor has changed."""
    half = request.session.get(_HALF_WAY_KEY)
    if not half or clock.real_now() - datetime.fromisoformat(half["at"]) > _CODE_WAIT:
        return None
    user = User.objects.filter(pk=half["user_id"], is_active=True).first()
    return user if user is not None and user.get_session_auth_hash() == half["hash"] else None


def _form(
    request: HttpRequest,
    step: str,
    form: Form,
    refusal: Failure | None = None,
    details: SignInDetails | None = None,
) -> HttpResponse:
    if refusal is not None:
        form.refuse(refusal)
    context = {
        "next": next_url(request),
        "next_query": urlencode({"next": next_url(request)}),
        "form": form,
        "errors": form.common_errors,
        "details": details or SignInDetails(),
        "may_sign_up": sign_up.is_open(),
    }
    response = render(
        request,
        f"dashboard/sign_in/{step}.html",
        context,
        status=form.status,
    )
    for name, value in headers_of(refusal).items():
        response[name] = value
    return response
