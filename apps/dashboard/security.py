"""The person's own account: password, authenticator app, backup codes."""

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django_otp import login as otp_login

from apps.access import email_change, own_factor, passkeys, second_factor, sessions, sign_in, stepup
from apps.access.access import RECENT
from apps.core import clock
from apps.core.errors import Failure
from apps.core.middleware import client_address
from apps.core.web import status_of
from apps.dashboard.plumbing import PageRequest, go, next_url, sentences, show
from apps.stores.services import change_password


def index(request: PageRequest) -> HttpResponse:
    factor = second_factor.confirmed(request.person)
    context = {
        "factor": factor,
        "codes_left": len(factor.backup_codes) if factor is not None else 0,
        "passkeys": passkeys.of(request.person).count(),
        "sessions": sessions.open_of(request.person, clock.real_now()).count(),
    }
    return show(request, "dashboard/security/account.html", context)


def enrol(request: PageRequest) -> HttpResponse:
    """The picture for the app, and the first code that proves the app has it."""
    if second_factor.confirmed(request.person) is not None:
        return go("security")
    if request.method == "GET":
        return _picture(request, [])
    try:
        given = {"code": request.POST.get("code", ""), "password": request.POST.get("password", "")}
        codes = own_factor.enroll(request.person, **given, address=client_address(request))
    except sign_in.Refused:
        return _picture(request, ["Your current password is not right."], 422)
    except Failure as refusal:
        return _picture(request, sentences(refusal), status_of(refusal))
    stay_signed_in(request)
    otp_login(request, second_factor.confirmed(request.person))
    stepup.note(request.session, request.person, clock.real_now())
    return show(
        request,
        "dashboard/security/backup_codes.html",
        {"codes": codes, "is_first": True, "next": next_url(request) if "next" in request.GET else ""},
    )


def renew_codes(request: PageRequest) -> HttpResponse:
    if second_factor.confirmed(request.person) is None:
        return go("security")
    if request.method == "GET":
        return show(request, "dashboard/security/renew_codes.html")
    return show(request, "dashboard/security/backup_codes.html", {"codes": second_factor.renew_backup_codes(request.person)})


def take_off(request: PageRequest) -> HttpResponse:
    if second_factor.confirmed(request.person) is None:
        return go("security")
    if request.method == "GET":
        return show(request, "dashboard/security/take_off.html")
    own_factor.remove(request.person, _proof(request))
    stay_signed_in(request)
    messages.success(request, "The authenticator app has been removed. You have been signed out everywhere else.")
    return go("security")


def _proof(request: PageRequest) -> str:
    """What has been shown in this session, also of somebody without a store."""
    return RECENT if stepup.is_fresh(request.session, request.person, clock.real_now()) else ""


def password(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return show(request, "dashboard/security/password.html", {"errors": []})
    old, new = request.POST.get("old", ""), request.POST.get("new", "")
    try:
        sign_in.by_password(request.person.email, old, client_address(request))
        change_password(request.person, new)
    except sign_in.Refused:
        return show(request, "dashboard/security/password.html", {"errors": ["Your current password is not right."]}, status=422)
    except Failure as refusal:
        return show(request, "dashboard/security/password.html", {"errors": sentences(refusal)}, status=status_of(refusal))
    stay_signed_in(request)
    messages.success(request, "Your password has been changed. You have been signed out everywhere else.")
    return go("security")


def email(request: PageRequest) -> HttpResponse:
    """Ask for another address; it counts when the link that goes there was opened."""
    given = request.POST.get("email", "")
    if request.method == "GET":
        return show(request, "dashboard/security/email.html", {"errors": [], "email": ""})
    try:
        email_change.ask(request.person, email=given, password=request.POST.get("password", ""), address=client_address(request))
    except sign_in.Refused:
        return show(
            request, "dashboard/security/email.html", {"errors": ["Your current password is not right."], "email": given}, status=422
        )
    except Failure as refusal:
        context = {"errors": sentences(refusal), "email": given}
        return show(request, "dashboard/security/email.html", context, status=status_of(refusal))
    messages.success(request, f"A link is on its way to {given.strip()}. It works for a day.")
    return go("security")


def stay_signed_in(request: PageRequest) -> None:
    """This session goes on under a new id; every other one has ended."""
    update_session_auth_hash(request, request.person)
    sessions.adopt(request.session, request.person)


def _picture(request: PageRequest, errors: list[str], status: int = 200) -> HttpResponse:
    factor = second_factor.pending(request.person)
    key = second_factor.base32_key(factor)
    grouped = " ".join(key[at : at + 4] for at in range(0, len(key), 4))
    return show(
        request,
        "dashboard/security/enrol.html",
        {"uri": second_factor.provisioning_uri(factor), "key": grouped, "errors": errors},
        status=status,
    )
