"""Who works in the store and who is invited; roles changed, people removed, ownership handed over;
leaving."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse

from apps.access import entering, invitations, team
from apps.access.sessions import STORE_KEY
from apps.core import clock
from apps.core.errors import Failure, NotFound
from apps.core.messages.fields import is_uuid
from apps.core.web.forms import Form
from apps.dashboard import confirming
from apps.dashboard.list_files import MEMBERS
from apps.dashboard.plumbing import Answer, PageRequest, find, go, sentences, show
from apps.payouts.services.approval_rules import leaves_too_few
from apps.stores import roles
from apps.stores.models import Invitation, Member, Role


class InviteForm(Form):
    names = ("email", "role")
    is_literal = True


class RoleForm(Form):
    names = ("role",)


class ConfirmForm(Form):
    """A button alone: what is refused stands above it."""


_PERMISSIONS = {
    roles.VIEW: "View payments, balances and settings",
    roles.KEEP_BOOKS: "Create and download statements, reports and CSV files",
    roles.INSPECT: "View API keys, webhook endpoints, apps, agents and the request log",
    roles.PAY: "Create payments and invoices",
    roles.DEVELOP: "Manage API keys, webhook endpoints and apps",
    roles.MOVE_MONEY: "Refund, pay out and accept late deposits",
    roles.MANAGE: "Manage members and settings",
    roles.OWN: "Add and remove owners",
}


def index(request: PageRequest) -> HttpResponse:
    table = [
        (sentence, [role in roles.TABLE[permission] for role in Role.values])
        for permission, sentence in _PERMISSIONS.items()
    ]
    context = {
        "members": _members(request),
        "invitations": invitations.pending(request.access.store),
        "is_only_owner": team.is_only_owner(request.member),
        "now": clock.real_now(),
        "roles": Role.choices,
        "table": table,
    }
    return show(request, "dashboard/members/list.html", context)


def _members(request: PageRequest) -> "QuerySet[Member]":
    rows = Member.objects.filter(store_id=request.access.store_id)
    return rows.select_related("user").order_by("created_at")


def export(request: PageRequest) -> Answer:
    """Who is in the team, as CSV."""
    return MEMBERS.of_each(request, _members(request))


def invite(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, "invite", InviteForm({"role": Role.DEVELOPER}))
    form = InviteForm.from_post(request.POST)

    def send() -> Invitation:
        return invitations.invite(
            request.access,
            email=form.values["email"],
            role=form.values["role"],
            at=clock.real_now(),
        )

    try:
        rows = [
            ("Email", form.values["email"]),
            ("Role", confirming.label_of(Role, form.values["role"])),
        ]
        confirmation = confirming.ask_about_form(request, rows, send)
        if confirmation is not None:
            return confirmation
        invitation = send()
    except Failure as refusal:
        return _form(request, "invite", form.refuse(refusal))
    messages.success(
        request,
        f"Invitation sent to {invitation.email}. It expires in {invitations.LIFETIME.days} days.",
    )
    return go("members")


def resend(request: PageRequest, id: str) -> HttpResponse:
    invitation = _find_invitation(request, id)

    def send() -> None:
        invitations.resend(request.access, invitation, clock.real_now())

    rows = [("Email", invitation.email), ("Role", invitation.get_role_display())]
    try:
        confirmation = confirming.ask_about_form(
            request, rows, send, back=reverse("dashboard:members")
        )
        if confirmation is not None:
            return confirmation
        send()
    except Failure as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(
            request,
            f"New invitation sent to {invitation.email}. The previous one no longer works.",
        )
    return go("members")


def revoke(request: PageRequest, id: str) -> HttpResponse:
    invitation = _find_invitation(request, id)
    invitations.revoke(invitation, clock.real_now(), by=request.access)
    messages.success(request, f"Invitation for {invitation.email} revoked.")
    return go("members")


def change_role(request: PageRequest, id: str) -> HttpResponse:
    member = _find(request, id)
    if request.method == "GET":
        return _form(request, "role", RoleForm({"role": member.role}), member)
    form = RoleForm.from_post(request.POST)
    role = form.values["role"]
    rows = [
        ("Member", member.user.email),
        ("From", member.get_role_display()),
        ("To", confirming.label_of(Role, role)),
    ]
    try:
        confirmation = confirming.ask_about_form(
            request, rows, lambda: team.change_role(request.access, member, role)
        )
        if confirmation is not None:
            return confirmation
        team.change_role(request.access, member, role)
    except Failure as refusal:
        return _form(request, "role", form.refuse(refusal), member)
    messages.success(request, f"{_name(member)} is now {Role(role).label.lower()}.")
    return go("members")


def remove(request: PageRequest, id: str) -> HttpResponse:
    member = _find(request, id)
    if request.method == "GET":
        return _form(request, "remove", ConfirmForm({}), member)
    try:
        team.remove(request.access, member)
    except Failure as refusal:
        return _form(request, "remove", ConfirmForm({}).refuse(refusal), member)
    messages.success(request, f"{_name(member)} removed.")
    return go("members")


def hand_over(request: PageRequest, id: str) -> HttpResponse:
    member = _find(request, id)
    if request.method == "GET":
        return _form(request, "hand_over", ConfirmForm({}), member)
    try:
        confirmation = confirming.ask_about_form(
            request,
            [("New owner", member.user.email)],
            lambda: team.hand_over(request.access, member),
        )
        if confirmation is not None:
            return confirmation
        team.hand_over(request.access, member)
    except Failure as refusal:
        return _form(request, "hand_over", ConfirmForm({}).refuse(refusal), member)
    messages.success(request, f"{_name(member)} now owns this store. You’re now an admin.")
    return go("members")


def leave(request: PageRequest) -> HttpResponse:
    """Anybody may leave the store that they look at."""
    if getattr(request, "member", None) is None:
        raise NotFound
    if request.method == "GET":
        return _leave_page(request, ConfirmForm({}))
    try:
        team.leave(request.member)
    except Failure as refusal:
        return _leave_page(request, ConfirmForm({}).refuse(refusal))
    request.session.pop(STORE_KEY, None)
    entering.forget(request.person)
    messages.success(request, f"You left {request.access.store.name}.")
    return go("home")


def _leave_page(request: PageRequest, form: Form) -> HttpResponse:
    """Who can't leave is told what to do first, instead of being asked."""
    is_only_owner = team.is_only_owner(request.member)
    return _form(request, "leave", form, request.member, is_only_owner=is_only_owner)


def _find(request: PageRequest, id: str) -> Member:
    rows = Member.objects.filter(store_id=request.access.store_id).select_related("user")
    member = rows.filter(user_id=id).first() if is_uuid(id) else None
    if member is None:
        raise NotFound
    return member


def _find_invitation(request: PageRequest, id: str) -> Invitation:
    invitation: Invitation = find(invitations.pending(request.access.store), id)
    return invitation


def _name(member: Member) -> str:
    return member.user.name or member.user.email


def _form(
    request: PageRequest,
    name: str,
    form: Form,
    member: Member | None = None,
    **context: object,
) -> HttpResponse:
    """`member` is whom it is about; a page that would leave too few approvers says so before
    anything is sent."""
    common = {
        "form": form,
        "errors": form.common_errors,
        "roles": Role.choices,
        "member_shown": member,
        "leaves_too_few": member is not None and not form.errors and leaves_too_few(member),
    }
    template = f"dashboard/members/{name}.html"
    return show(request, template, {**common, **context}, status=form.status)
