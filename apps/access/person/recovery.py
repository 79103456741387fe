"""A forgotten password: an email with a link that works once, for an hour, and proves the address
only.

Anyone who asks hears the same, after the same work, whether there is an account or not. A second
factor is still asked for.
"""

import uuid

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction

from apps.access.person import sign_in
from apps.core import emails
from apps.core.errors import NotFound
from apps.core.messages.fields import Invalid, check_storable, is_uuid
from apps.stores import person_mail
from apps.stores.models import User
from apps.stores.profile import page_language
from apps.stores.services import change_password


class _ResetTokens(PasswordResetTokenGenerator):
    """Of the password, the address, the last sign-in and the sessions' version: each of them ends a
    token."""

    key_salt = "apps.access.recovery"

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        return f"{super()._make_hash_value(user, timestamp)}{user.session_version}"


_tokens = _ResetTokens()


def ask(email: str, address: str) -> None:
    """Send the link if someone has this address. Raises TooManyAttempts or SignInUnavailable."""
    email = email.strip()[: sign_in.EMAIL_LENGTH_MAX]
    sign_in.count_attempt(f"reset:{emails.canonical(email)}", address)
    try:
        check_storable(email)
    except Invalid:
        return
    holder = User.objects.with_email(email)
    recipient = holder if holder is not None and holder.is_active else None
    user = recipient or User(email="nobody@example.com")
    with transaction.atomic():
        context = {"id": user.pk, "token": _tokens.make_token(user), "email": user.email}
        person_mail.send(
            user,
            key=f"password_reset:{user.pk}:{uuid.uuid4()}",
            template="password_reset",
            context=context,
            page_language=page_language(),
        )
        if recipient is None:
            transaction.set_rollback(True)


def find(id: str, token: str) -> User:
    """The link's person. Raises NotFound when it was used or is too old."""
    user = User.objects.filter(pk=id, is_active=True).first() if is_uuid(id) else None
    if user is None or not _tokens.check_token(user, token):
        raise NotFound
    return user


def reset(id: str, token: str, password: str, address: str) -> User:
    """A new password; every session ends, and with them the link. Raises NotFound, TooManyAttempts,
    Closed or Failure."""
    sign_in.count_attempt(f"reset-link:{id}", address)
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=find(id, token).pk)
        find(id, token)  # again, under the lock: of two at once the second finds it used
        change_password(user, password)
    return user
