"""Pages for people who can't sign in or have a link from an email: a forgotten password, and a new
email address."""

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from apps.access.person import email_change, recovery
from apps.core.errors import Failure, NotFound
from apps.core.web.forms import Form
from apps.core.web.middleware import client_address
from apps.core.web.refusals import headers_of
from apps.dashboard.site.views import go
from apps.stores.models import User


class ForgotForm(Form):
    names = ("email",)


class ResetForm(Form):
    names = ("password",)
    secrets = ("password",)


def forgot(request: HttpRequest) -> HttpResponse:
    if request.method == "GET":
        return _page(request, "forgot", ForgotForm({}))
    form = ForgotForm.from_post(request.POST)
    try:
        recovery.ask(form.values["email"], client_address(request))
    except Failure as refusal:
        return _page(request, "forgot", form, refusal)
    return _page(request, "sent", form)


def reset(request: HttpRequest, id: str, token: str) -> HttpResponse:
    try:
        user = recovery.find(id, token)
        if request.method == "GET":
            return _page(request, "reset", ResetForm({}), user=user)
        form = ResetForm.from_post(request.POST)
        try:
            recovery.reset(id, token, form.secret_values["password"], client_address(request))
        except NotFound:
            raise
        except Failure as refusal:
            return _page(request, "reset", form, refusal, user=user)
    except NotFound:
        return render(request, "dashboard/recovery/over.html", status=404)
    logout(request)
    messages.success(request, gettext("Password changed. Sign in with your new password."))
    return go("sign_in")


def confirm_email(request: HttpRequest, token: str) -> HttpResponse:
    """Opening the page changes nothing: mail programs look at links too."""
    try:
        user, email = email_change.find(token)
        if request.method == "GET":
            return _page(request, "email", Form({}), user=user, new_email=email)
        email_change.finish(token)
    except NotFound:
        return render(request, "dashboard/recovery/over.html", status=404)
    except Failure as refusal:
        return _page(request, "email", Form({}), refusal, user=user, new_email=email)
    logout(request)
    messages.success(
        request, gettext("Your email is now {email}. Sign in with it.").format(email=email)
    )
    return go("sign_in")


def _page(
    request: HttpRequest,
    name: str,
    form: Form,
    refusal: Failure | None = None,
    *,
    user: User | None = None,
    new_email: str = "",
) -> HttpResponse:
    if refusal is not None:
        form.refuse(refusal)
    context = {"form": form, "errors": form.common_errors, "user": user, "new_email": new_email}
    response = render(
        request,
        f"dashboard/recovery/{name}.html",
        context,
        status=form.status,
    )
    for header, value in headers_of(refusal).items():
        response[header] = value
    return response
