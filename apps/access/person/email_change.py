"""Another email address for an account: it counts when its owner has opened the link that was sent
there.

The link works once, for a day. The old address gets an email.
"""

from datetime import timedelta
from typing import Any

from django.core import signing
from django.db import transaction

from apps.access import operations
from apps.access.members.invitations import BadAddress
from apps.access.person import sign_in
from apps.core import emails
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, NotFound
from apps.core.messages.fields import Invalid, is_uuid
from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.stores import person_mail
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import User
from apps.stores.profile import page_language
from apps.stores.services import EmailTaken, sign_out_everywhere

LIFETIME = timedelta(days=1)
_SALT = "apps.access.email_change"


class SameAddress(Failure):
    field = "email"
    message = "That is your address already"


def ask(user: User, *, email: str, password: str, address: str, proof: str = "") -> None:
    """Send the link to the new address, unless somebody has it. Raises Refused, BadAddress,
    SameAddress, TooManyAttempts or stepup.StepUpRequired."""
    operations.check_person(user, operations.EMAIL_CHANGE, Mode.LIVE, proof)
    try:
        email = emails.for_account(email)
    except Invalid:
        raise BadAddress from None
    if email == user.email:
        raise SameAddress
    sign_in.by_password(user.email, password, address)
    holder = User.objects.with_email(email)
    if holder is not None and holder.pk != user.pk:
        return
    token = signing.dumps([str(user.pk), user.email, email, user.session_version], salt=_SALT)
    context = {"token": token, "email": email, "old": user.email}
    person_mail.send(
        user,
        key=f"email_change:{token[-40:]}",
        to=email,
        template="email_change",
        context=context,
        page_language=page_language(),
    )


def find(token: str) -> tuple[User, str]:
    """The link's person, and the new address. Raises NotFound when it was used or is too old."""
    try:
        content: Any = signing.loads(token, salt=_SALT, max_age=LIFETIME)
        id, old, new, version = content
    except (signing.BadSignature, ValueError, TypeError):
        raise NotFound from None
    rows = User.objects.filter(pk=id, email=old, session_version=version, is_active=True)
    user = rows.first() if is_uuid(id) else None
    if user is None:
        raise NotFound
    return user, str(new)


def finish(token: str) -> User:
    """From now on the person signs in with the new address; every session ends. Raises NotFound or
    EmailTaken."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=find(token)[0].pk)
        user, new = find(token)
        old = user.email
        user.email = new
        with refused_by(User.EMAIL_ONCE, EmailTaken):
            user.save(update_fields=["email"])
        sign_out_everywhere(user)
        audit.record("email.changed", target=user, name=new, details={"email": [old, new]})
        event = Worded("Your email address was changed to {email}", email=new)
        account_emails.tell(user, event, to=old)
    return user
