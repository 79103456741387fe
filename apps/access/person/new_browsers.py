"""A sign-in from a browser or network that a person hasn't used before is reported to them, with a
link that ends it.

A browser is known by its kind and system and by its network, without a location service; the first
one of all is nobody's news.
"""

import hashlib
import ipaddress
from datetime import datetime, timedelta

from django.core import signing

from apps.access.models import KnownBrowser, SignIn
from apps.access.person.browsers import device_of
from apps.core.errors import NotFound
from apps.stores import person_mail
from apps.stores.auditing import audit
from apps.stores.models import User

FORGOTTEN_AFTER = timedelta(days=365)
LINK_LASTS = timedelta(days=7)
_SALT = "a sign-in that wasn't the person's"
_NETWORK_BITS = {4: 16, 6: 32}


def note(row: SignIn, user: User) -> None:
    """Remember the browser of a sign-in that has just begun, and write to the person when it is new
    to them."""
    browsers = KnownBrowser.objects.filter(user=user)
    digest = _digest(user, row)
    if browsers.filter(digest=digest).update(seen_at=row.seen_at):
        return
    is_first = not browsers.exists()
    _, is_new = KnownBrowser.objects.get_or_create(
        user=user, digest=digest, defaults={"seen_at": row.seen_at}
    )
    if is_new and not is_first:
        _tell(row, user)


def _tell(row: SignIn, user: User) -> None:
    context = {
        "device": device_of(row.browser),
        "address": row.address,
        "at": row.began_at,
        "token": token_of(row),
    }
    person_mail.send(user, key=f"new_sign_in:{row.pk}", template="new_sign_in", context=context)


def token_of(row: SignIn) -> str:
    return signing.dumps(str(row.pk), salt=_SALT)


def read(token: str) -> SignIn:
    """The sign-in that an email's link names. Raises NotFound."""
    try:
        id = signing.loads(token, salt=_SALT, max_age=LINK_LASTS)
    except signing.BadSignature:
        raise NotFound from None
    sign_in = SignIn.objects.filter(pk=id).select_related("user").first()
    if sign_in is None:
        raise NotFound
    return sign_in


def end(row: SignIn, at: datetime) -> bool:
    """By the email's link: nothing opens with that session any more. False when it was over."""
    if not SignIn.objects.filter(pk=row.pk, ended_at=None).update(ended_at=at):
        return False
    KnownBrowser.objects.filter(user=row.user_id, digest=_digest(row.user, row)).delete()
    audit.record("session.ended", target=row, name=row.browser)
    return True


def tidy(at: datetime) -> None:
    KnownBrowser.objects.filter(seen_at__lt=at - FORGOTTEN_AFTER).delete()


def _digest(user: User, row: SignIn) -> str:
    """Of the person's own, so that nobody's network shows in another's row."""
    text = f"{user.pk}|{device_of(row.browser)}|{_network(row.address)}"
    return hashlib.sha256(text.encode()).hexdigest()


def _network(address: str) -> str:
    """The part of an address that stays the same when a provider gives a customer another one."""
    try:
        bits = _NETWORK_BITS[ipaddress.ip_address(address).version]
    except ValueError:
        return address
    return str(ipaddress.ip_network(f"{address}/{bits}", strict=False))
