"""The page of an invitation, reached by the email's link: sign in or make an account, then join
the store."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext

from apps.access.members import invitations
from apps.access.person import sign_in
from apps.access.person.sessions import is_alive, look_at
from apps.core import acting, clock
from apps.core.errors import Failure, NotFound
from apps.core.web.forms import Form
from apps.core.web.middleware import client_address
from apps.dashboard.account.sign_in import enter
from apps.dashboard.site.views import go
from apps.stores.models import Invitation, Member, User


class JoinForm(Form):
    """Somebody new; who has an account presses a button alone."""

    names = ("name", "password")
    is_literal = True
    secrets = ("password",)


def join(request: HttpRequest, token: str) -> HttpResponse:
    """Opening the page changes nothing: mail programs look at links too."""
    try:
        invitation = invitations.find(token, clock.real_now())
        return (
            _page(request, invitation, JoinForm({}))
            if request.method == "GET"
            else _answer(request, invitation)
        )
    except NotFound:
        return render(request, "dashboard/join/over.html", status=404)


def _answer(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    form = JoinForm.from_post(request.POST)
    try:
        sign_in.count_attempt(f"invitation:{invitation.pk}", client_address(request))
        return _accept(request, invitation, form)
    except NotFound:
        raise
    except Failure as refusal:
        return _page(request, invitation, form.refuse(refusal))


def _accept(request: HttpRequest, invitation: Invitation, form: Form) -> HttpResponse:
    at = clock.real_now()
    person = _person(request)
    if person is None:
        password = form.secret_values["password"]
        member = invitations.accept_as_new(
            invitation, name=form.values["name"], password=password, at=at
        )
        enter(request, member.user, None)
    else:
        acting.become(acting.ActorKind.PERSON, person.pk, person.email)
        member = invitations.accept(invitation, person, at)
    return _arrive(request, member)


def _arrive(request: HttpRequest, member: Member) -> HttpResponse:
    look_at(request.session, member.store_id)
    messages.success(request, gettext("Welcome to {name}.").format(name=member.store.name))
    return go("home")


def _person(request: HttpRequest) -> User | None:
    user = request.user
    if isinstance(user, User) and is_alive(user, request.session, clock.real_now()):
        return user
    return None


def _page(request: HttpRequest, invitation: Invitation, form: Form) -> HttpResponse:
    person = _person(request)
    account = invitations.invited_user(invitation)
    if person is not None:
        step = "accept" if person.email.casefold() == invitation.email.casefold() else "other"
    else:
        step = "sign_in" if account is not None else "new"
    context = {
        "invitation": invitation,
        "step": step,
        "sign_in_url": f"{reverse('dashboard:sign_in')}?{urlencode({'next': request.path})}",
        "person": person,
        "form": form,
        "errors": form.common_errors,
    }
    return render(request, "dashboard/join/join.html", context, status=form.status)
