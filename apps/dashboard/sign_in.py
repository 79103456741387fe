"""Signing in with a password, then with a code where one is asked for; signing out; the step-up page."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.datastructures import MultiValueDictKeyError
from django_otp import login as otp_login

from apps.access import second_factor, sessions, sign_in, stepup
from apps.access.models import SecondFactor
from apps.core import clock
from apps.core.errors import Failure
from apps.core.middleware import client_address
from apps.dashboard.acts import act_of
from apps.dashboard.plumbing import PageRequest, go, next_url, sentences
from apps.stores.models import User

_HALF_WAY_KEY = "half_signed_in"
_CODE_WAIT = timedelta(minutes=10)
_BACKEND = "django.contrib.auth.backends.ModelBackend"


def password(request: HttpRequest) -> HttpResponse:
    if request.method == "GET":
        if request.user.is_authenticated:
            return HttpResponseRedirect(next_url(request))
        return _form(request, "password")
    try:
        user, factor = sign_in.by_password(request.POST["email"], request.POST["password"], client_address(request))
    except MultiValueDictKeyError:
        return _form(request, "password", sign_in.Refused())
    except Failure as refusal:
        return _form(request, "password", refusal)
    if factor is None:
        return enter(request, user, None)
    request.session.cycle_key()
    request.session[_HALF_WAY_KEY] = {
        "user_id": str(user.pk),
        "at": clock.real_now().isoformat(),
        "hash": user.get_session_auth_hash(),
    }
    return HttpResponseRedirect(f"{reverse('dashboard:sign_in_code')}?{urlencode({'next': next_url(request)})}")


def code(request: HttpRequest) -> HttpResponse:
    user = _half_signed_in(request)
    if user is None:
        return go("sign_in")
    if request.method == "GET":
        return _form(request, "code")
    try:
        factor = sign_in.by_code(user, request.POST.get("code", ""), client_address(request))
    except Failure as refusal:
        return _form(request, "code", refusal)
    return enter(request, user, factor)


def sign_out(request: HttpRequest) -> HttpResponse:
    sessions.leave(request.session, clock.real_now())
    logout(request)
    return go("sign_in")


def confirm(request: PageRequest) -> HttpResponse:
    """The step-up page: a fresh code, then back to what was asked for."""
    if second_factor.confirmed(request.person) is None:
        return HttpResponseRedirect(next_url(request))
    if request.method == "GET":
        return _form(request, "stepup", **_named(request))
    try:
        factor = stepup.prove(request.session, request.person, request.POST.get("code", ""), client_address(request), clock.real_now())
    except Failure as refusal:
        return _form(request, "stepup", refusal, **_named(request))
    otp_login(request, factor)
    request.session.cycle_key()
    return HttpResponseRedirect(next_url(request))


def _named(request: PageRequest) -> dict[str, Any]:
    """What is confirmed, and in which store."""
    act, is_stores = act_of(next_url(request))
    return {"act": act, "access": getattr(request, "access", None) if is_stores else None}


def enter(request: HttpRequest, user: User, factor: SecondFactor | None) -> HttpResponse:
    """A new session id, so that one planted before signing in is worth nothing."""
    where, at = next_url(request), clock.real_now()
    request.session.flush()
    if factor is not None:
        user.otp_device = factor  # type: ignore[attr-defined]  # django_otp marks the session as verified
    login(request, user, backend=_BACKEND)
    sessions.begin(request.session, at)
    if factor is not None:
        stepup.note(request.session, user, at)
    return HttpResponseRedirect(where)


def _half_signed_in(request: HttpRequest) -> User | None:
    """Who gave the right password in this session a moment ago; nobody once the password or factor has changed."""
    given = request.session.get(_HALF_WAY_KEY)
    if not given or clock.real_now() - datetime.fromisoformat(given["at"]) > _CODE_WAIT:
        return None
    user = User.objects.filter(pk=given["user_id"], is_active=True).first()
    return user if user is not None and user.get_session_auth_hash() == given["hash"] else None


def _form(request: HttpRequest, step: str, refusal: Failure | None = None, **more: Any) -> HttpResponse:
    context = {
        "next": next_url(request),
        "errors": sentences(refusal) if refusal else [],
        "email": request.POST.get("email", ""),
        **more,
    }
    response = render(request, f"dashboard/sign_in/{step}.html", context, status=refusal.http_status if refusal else 200)
    for name, value in (refusal.headers if refusal else {}).items():
        response[name] = value
    return response
