"""Emails to members of staff: what waits for a second one of them, and what became of what they had
asked for."""

from dataclasses import dataclass

from django.conf import settings

from apps.core import mail
from apps.stores import staff_roles
from apps.stores.models import User
from apps.stores.staff_roles import StaffOperation


@dataclass(frozen=True)
class StaffLetter:
    """`key` makes it one email to each of them; what exactly is asked for is on the page at `path`,
    which asks who is reading."""

    key: str
    title: str
    text: str
    name: str
    reason: str
    path: str


def tell_deciders(operation: StaffOperation, asked_by: User, letter: StaffLetter) -> None:
    """Everybody who may decide, but whoever asked."""
    for person in User.objects.filter(is_staff=True, is_active=True).exclude(pk=asked_by.pk):
        if staff_roles.may(person, operation):
            tell(person, letter)


def tell(to: User, letter: StaffLetter) -> None:
    context = {
        "title": letter.title,
        "text": letter.text,
        "name": letter.name,
        "reason": letter.reason,
        "url": f"{settings.ADMIN_URL}{letter.path}",
    }
    mail.send(key=f"{letter.key}:{to.pk}", to=to.email, template="staff_request", context=context)
