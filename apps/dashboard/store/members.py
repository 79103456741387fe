"""Team of a store: members and invitations, changes of role, removals, handing over ownership;
leaving."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.access.members import invitations, team
from apps.access.person import entering
from apps.access.person.sessions import look_away
from apps.core import clock
from apps.core.errors import Failure, NotFound
from apps.core.messages.fields import is_uuid
from apps.core.text.wording import translated, translated_pairs
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.views import Answer, PageRequest, find, go, sentences, show
from apps.dashboard.tables.files import MEMBERS
from apps.payouts.services.approval_rules import leaves_too_few
from apps.stores import roles
from apps.stores.models import Invitation, Member, Role


class InviteForm(Form):
    names = ("email", "role")
    is_literal = True


class RoleForm(Form):
    names = ("role",)


class ConfirmForm(Form):
    """A button alone: what is refused is above it."""


_PERMISSIONS = {
    roles.VIEW: _("View payments, balances and settings"),
    roles.KEEP_BOOKS: _("Create and download statements, reports and CSV files"),
    roles.INSPECT: _("View API keys, webhook endpoints, apps, agents and the request log"),
    roles.PAY: _("Create payments and invoices"),
    roles.DEVELOP: _("Manage API keys, webhook endpoints and apps"),
    roles.MOVE_MONEY: _("Refund, pay out and accept late deposits"),
    roles.MANAGE: _("Manage members and settings"),
    roles.OWN: _("Add and remove owners"),
}


def index(request: PageRequest) -> HttpResponse:
    table = [
        (translated(sentence), [role in roles.TABLE[permission] for role in Role.values])
        for permission, sentence in _PERMISSIONS.items()
    ]
    context = {
        "members": _members(request),
        "invitations": invitations.pending(request.access.store),
        "is_only_owner": team.is_only_owner(request.member),
        "now": clock.real_now(),
        "roles": translated_pairs(Role.choices),
        "table": table,
    }
    return show(request, "dashboard/members/list.html", context)


def _members(request: PageRequest) -> "QuerySet[Member]":
    rows = Member.objects.filter(store_id=request.access.store_id)
    return rows.select_related("user").order_by("created_at")


def export(request: PageRequest) -> Answer:
    """The team as CSV."""
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
            (gettext("Email"), form.values["email"]),
            (gettext("Role"), confirming.label_of(Role, form.values["role"])),
        ]
        confirmation = confirming.ask_about_form(request, rows, send)
        if confirmation is not None:
            return confirmation
        invitation = send()
    except Failure as refusal:
        return _form(request, "invite", form.refuse(refusal))
    messages.success(
        request,
        gettext("Invitation sent to {email}. It expires in {days} days.").format(
            email=invitation.email, days=invitations.LIFETIME.days
        ),
    )
    return go("members")


def resend(request: PageRequest, id: str) -> HttpResponse:
    invitation = _find_invitation(request, id)

    def send() -> None:
        invitations.resend(request.access, invitation, clock.real_now())

    rows = [
        (gettext("Email"), invitation.email),
        (gettext("Role"), translated(invitation.get_role_display())),
    ]
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
            gettext("New invitation sent to {email}. The previous one no longer works.").format(
                email=invitation.email
            ),
        )
    return go("members")


def revoke(request: PageRequest, id: str) -> HttpResponse:
    invitation = _find_invitation(request, id)
    invitations.revoke(invitation, clock.real_now(), by=request.access)
    messages.success(
        request, gettext("Invitation for {email} revoked.").format(email=invitation.email)
    )
    return go("members")


def change_role(request: PageRequest, id: str) -> HttpResponse:
    member = _find(request, id)
    if request.method == "GET":
        return _form(request, "role", RoleForm({"role": member.role}), member)
    form = RoleForm.from_post(request.POST)
    role = form.values["role"]
    rows = [
        (gettext("Member"), member.user.email),
        (gettext("From"), translated(member.get_role_display())),
        (gettext("To"), confirming.label_of(Role, role)),
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
    messages.success(
        request,
        gettext("{member} is now {role}.").format(
            member=_name(member), role=translated(Role(role).label.lower())
        ),
    )
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
            [(gettext("New owner"), member.user.email)],
            lambda: team.hand_over(request.access, member),
        )
        if confirmation is not None:
            return confirmation
        team.hand_over(request.access, member)
    except Failure as refusal:
        return _form(request, "hand_over", ConfirmForm({}).refuse(refusal), member)
    messages.success(
        request,
        gettext("{member} now owns this store. You’re now an admin.").format(member=_name(member)),
    )
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
    look_away(request.session)
    entering.forget(request.person)
    messages.success(request, gettext("You left {name}.").format(name=request.access.store.name))
    return go("home")


def _leave_page(request: PageRequest, form: Form) -> HttpResponse:
    """Page of leaving; a member who can't leave reads what to do first."""
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
        "roles": translated_pairs(Role.choices),
        "member_shown": member,
        "leaves_too_few": member is not None and not form.errors and leaves_too_few(member),
    }
    template = f"dashboard/members/{name}.html"
    return show(request, template, {**common, **context}, status=form.status)
