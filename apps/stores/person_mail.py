"""Emails to people who have accounts: the one way to send them, in the reader's language and zone,
and with their form of amounts and dates.

Nobody's page speaks for somebody else: who has chosen no language is written to in that of the page
alone on which they asked for the email, else in English.
"""

from collections.abc import Mapping
from typing import Any

from apps.core import mail
from apps.stores.models import User
from apps.stores.profile import language_of, zone_of


def send(
    user: User,
    *,
    key: str,
    template: str,
    context: Mapping[str, Any],
    to: str = "",
    page_language: str = "",
    unsubscribe_path: str = "",
) -> bool:
    """Queue it for their address, or `to`; what core.mail.send answers. `page_language` is that of
    the page on which the reader asked for it."""
    return mail.send(
        key=key,
        to=to or user.email,
        template=template,
        context=context,
        zone=zone_of(user),
        language=language_of(user, page_language),
        region=user.region,
        unsubscribe_path=unsubscribe_path,
    )
