"""Letters to a person about their own account: something that opens it has changed, and what to do if it wasn't them."""

import uuid

from apps.core import acting, clock, mail
from apps.stores.models import User


def tell(user: User, what: str, *, to: str = "") -> None:
    """Write `what` ("Your password was changed") to the person, or to the address they had before."""
    context = {"what": what, "email": user.email, "at": clock.real_now(), "address": acting.current().address}
    mail.send(key=f"account:{user.pk}:{uuid.uuid4()}", to=to or user.email, template="account_changed", context=context)
