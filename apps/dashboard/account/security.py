"""The person's own account: password, authenticator app, backup codes."""

from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django_otp import login as otp_login

from apps.access.factors import own_factor, passkeys, second_factor, stepup
from apps.access.person import account_closing, email_change, sessions, sign_in
from apps.core import clock
from apps.core.errors import Failure, RefusalKind
from apps.core.web.forms import Form
from apps.core.web.middleware import client_address
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, go, next_url, show
from apps.stores.services import change_password


class NotYourPassword(sign_in.SignInRefused):
    """sign_in.Refused for a person who is signed in."""

    kind = RefusalKind.INVALID
    message = "Your current password is incorrect"


class EnrolForm(Form):
    names = ("code", "password")
    secrets = ("password",)


class ChangePasswordForm(Form):
    names = ("old", "new")
    secrets = ("old", "new")
    inputs = {"password": "new"}


class EmailForm(Form):
    names = ("email", "password")
    is_literal = True
    secrets = ("password",)


def index(request: PageRequest) -> HttpResponse:
    factor = second_factor.confirmed(request.person)
    context = {
        "factor": factor,
        "zone": request.zone.key,
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
        return _picture(request, EnrolForm({}))
    form = EnrolForm.from_post(request.POST)
    own_password = form.secret_values["password"]
    try:
        codes = own_factor.enroll(
            request.person,
            form.values["code"],
            password=own_password,
            address=client_address(request),
        )
    except sign_in.SignInRefused:
        return _picture(request, form.refuse(NotYourPassword()))
    except Failure as refusal:
        return _picture(request, form.refuse(refusal))
    stay_signed_in(request)
    otp_login(request, second_factor.confirmed(request.person))
    stepup.note(request.session, request.person, clock.real_now())
    return show(
        request,
        "dashboard/security/backup_codes.html",
        {
            "codes": codes,
            "is_first": True,
            "next": next_url(request) if "next" in request.GET else "",
        },
    )


def renew_codes(request: PageRequest) -> HttpResponse:
    factor = second_factor.confirmed(request.person)
    if factor is None:
        return go("security")
    if request.method == "GET":
        context = {"codes_left": len(factor.backup_codes)}
        return show(request, "dashboard/security/renew_codes.html", context)
    confirmation = confirming.ask_about_form(request, ())
    if confirmation is not None:
        return confirmation
    codes = own_factor.renew_codes(request.person, confirming.proof_of(request))
    return show(request, "dashboard/security/backup_codes.html", {"codes": codes})


def take_off(request: PageRequest) -> HttpResponse:
    factor = second_factor.confirmed(request.person)
    if factor is None:
        return go("security")
    if request.method == "GET":
        context = {
            "codes_left": len(factor.backup_codes),
            "passkeys": passkeys.of(request.person).count(),
        }
        return show(request, "dashboard/security/take_off.html", context)
    confirmation = confirming.ask_about_form(request, ())
    if confirmation is not None:
        return confirmation
    own_factor.remove(request.person, confirming.proof_of(request))
    stay_signed_in(request)
    messages.success(
        request, gettext("Authenticator app removed. You’ve been signed out everywhere else.")
    )
    return go("security")


def password(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, "password", ChangePasswordForm({}))
    form = ChangePasswordForm.from_post(request.POST)
    try:
        sign_in.by_password(
            request.person.email, form.secret_values["old"], client_address(request)
        )
        change_password(request.person, form.secret_values["new"])
    except sign_in.SignInRefused:
        return _form(request, "password", form.refuse(NotYourPassword(field="old")))
    except Failure as refusal:
        return _form(request, "password", form.refuse(refusal))
    stay_signed_in(request)
    messages.success(request, gettext("Password changed. You’ve been signed out everywhere else."))
    return go("security")


def email(request: PageRequest) -> HttpResponse:
    """Ask for another address; it counts when the link that goes there was opened."""
    question = confirming.ask_first(request, reverse("dashboard:security"))
    if question is not None:
        return question
    if request.method == "GET":
        return _form(request, "email", EmailForm({}))
    form = EmailForm.from_post(request.POST)
    address = form.values["email"]
    own_password = form.secret_values["password"]
    try:
        email_change.ask(
            request.person,
            email=address,
            password=own_password,
            address=client_address(request),
            proof=confirming.proof_of(request),
        )
    except sign_in.SignInRefused:
        return _form(request, "email", form.refuse(NotYourPassword()))
    except Failure as refusal:
        return _form(request, "email", form.refuse(refusal))
    stepup.spend(request.session)
    messages.success(
        request,
        gettext("We sent a link to {address}. It expires in 24 hours.").format(address=address),
    )
    return go("security")


def _form(request: PageRequest, name: str, form: Form) -> HttpResponse:
    context = {"form": form, "errors": form.common_errors}
    return show(
        request,
        f"dashboard/security/{name}.html",
        context,
        status=form.status,
    )


def stay_signed_in(request: PageRequest) -> None:
    """This session goes on under a new id; every other one has ended."""
    update_session_auth_hash(request, request.person)
    sessions.adopt(request.session, request.person)


def _picture(request: PageRequest, form: Form) -> HttpResponse:
    factor = second_factor.pending(request.person)
    key = second_factor.base32_key(factor)
    grouped = " ".join(key[at : at + 4] for at in range(0, len(key), 4))
    context = {
        "uri": second_factor.provisioning_uri(factor),
        "key": grouped,
        "form": form,
        "errors": form.common_errors,
    }
    return show(request, "dashboard/security/enrol.html", context, status=form.status)


class CloseAccountForm(Form):
    names = ("password",)
    secrets = ("password",)


def close(request: PageRequest) -> HttpResponse:
    """The account itself; with it goes the session."""
    form = CloseAccountForm.from_post(request.POST)
    if request.method == "POST":
        typed = form.secret_values["password"]
        address = client_address(request)
        try:
            account_closing.close_account(request.person, typed, address)
            logout(request)
            return render(request, "dashboard/security/closed.html")
        except sign_in.SignInRefused:
            form.refuse(NotYourPassword())
        except Failure as refusal:
            form.refuse(refusal)
    alone = account_closing.owned_alone(request.person)
    context = {"form": form, "errors": form.common_errors, "alone": alone}
    return show(request, "dashboard/security/close.html", context, status=form.status)
