"""Emails to members of staff: what waits for a second one of them, and what became of what they had
asked for."""

from dataclasses import dataclass

from django.conf import settings

from apps.core import mail
from apps.stores import staff_roles
from apps.stores.models import User
from apps.stores.staff_roles import StaffOperation


@dataclass(frozen=True)
class StaffEmail:
    """`key` makes it one email to each of them; what exactly is asked for is on the page at `path`,
    which asks who is reading."""

    key: str
    title: str
    text: str
    name: str
    reason: str
    path: str


def tell_deciders(operation: StaffOperation, asked_by: User, email: StaffEmail) -> None:
    """Everybody who may decide, except the person who asked."""
    for person in User.objects.filter(is_staff=True, is_active=True).exclude(pk=asked_by.pk):
        if staff_roles.may(person, operation):
            tell(person, email)


def tell(to: User, email: StaffEmail) -> None:
    context = {
        "title": email.title,
        "text": email.text,
        "name": email.name,
        "reason": email.reason,
        "url": f"{settings.ADMIN_URL}{email.path}",
    }
    mail.send(key=f"{email.key}:{to.pk}", to=to.email, template="staff_request", context=context)
