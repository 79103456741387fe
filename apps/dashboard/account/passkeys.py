"""The person's passkeys: listed, added with what the browser made, named and removed."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from apps.access.factors import own_factor, passkeys, second_factor, stepup
from apps.core import clock
from apps.core.errors import Failure, NotFound
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, go, sentences, show


class PasskeyForm(Form):
    """`passkey` is what the browser made."""

    names = ("name",)
    is_literal = True
    secrets = ("passkey",)


def index(request: PageRequest) -> HttpResponse:
    context = {
        "passkeys": passkeys.of(request.person),
        "has_app": second_factor.confirmed(request.person) is not None,
    }
    return show(request, "dashboard/security/passkeys.html", context)


def add(request: PageRequest) -> HttpResponse:
    question = confirming.ask_first(request, reverse("dashboard:passkeys"))
    if question is not None:
        return question
    if request.method == "GET":
        return _form(request, PasskeyForm({}))
    form = PasskeyForm.from_post(request.POST)
    at = clock.real_now()
    answer = form.secret_values["passkey"]
    try:
        passkey = own_factor.add_passkey(
            request.session,
            request.person,
            answer=answer,
            name=form.values["name"],
            at=at,
            proof=confirming.proof_of(request),
        )
    except Failure as refusal:
        return _form(request, form.refuse(refusal))
    stepup.spend(request.session)
    messages.success(
        request,
        gettext("Passkey {name} added. You can now sign in with it.").format(name=passkey.name),
    )
    return go("passkeys")


def rename(request: PageRequest, id: str) -> HttpResponse:
    passkey = _find(request, id)
    try:
        passkeys.rename(passkey, request.POST.get("name", ""))
    except Failure as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(request, gettext("Passkey renamed to {name}.").format(name=passkey.name))
    return go("passkeys")


def remove(request: PageRequest, id: str) -> HttpResponse:
    passkey = _find(request, id)
    if request.method == "GET":
        return show(request, "dashboard/security/remove_passkey.html", {"passkey": passkey})
    confirmation = confirming.ask_about_form(request, [(gettext("Passkey"), passkey.name)])
    if confirmation is not None:
        return confirmation
    own_factor.remove_passkey(request.person, passkey, confirming.proof_of(request))
    messages.success(request, gettext("Passkey {name} removed.").format(name=passkey.name))
    return go("passkeys")


def _find(request: PageRequest, id: str) -> Any:
    is_id = id.isascii() and id.isdigit() and len(id) <= 18
    row = passkeys.of(request.person).filter(pk=int(id)).first() if is_id else None
    if row is None:
        raise NotFound
    return row


def _form(request: PageRequest, form: Form) -> HttpResponse:
    """With a new challenge each time: what was asked for is good for one answer."""
    try:
        options = passkeys.begin_adding(request.session, request.person, clock.real_now())
    except Failure as cannot:
        messages.error(request, " ".join(sentences(cannot)))
        return go("passkeys")
    context = {"options": options, "form": form, "errors": form.common_errors}
    return show(request, "dashboard/security/add_passkey.html", context, status=form.status)
