"""Email addresses: the one form in which they are compared, and the form in which accounts keep
them.

Two spellings that a person may take for one address have one canonical form, or can't both be kept.
"""

import unicodedata

import idna
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from apps.core.messages.fields import Invalid, check_storable

LENGTH_MAX = 254


def canonical(text: str) -> str:
    """What addresses are compared by: compatibility forms and case folded, the domain in ASCII."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text.strip()).casefold())
    local, at, domain = folded.rpartition("@")
    return f"{local}{at}{_in_ascii(domain) or domain}"


def mailbox(text: str) -> str:
    """Whose letters are counted together: many providers deliver `a+anything@b` to `a@b`."""
    local, at, domain = canonical(text).rpartition("@")
    return f"{local.partition('+')[0] or local}{at}{domain}"


def masked(text: str) -> str:
    """Enough to recognize an address that one knows: `a…@example.com`."""
    local, _, domain = text.rpartition("@")
    return f"{local[:1]}…@{domain}"


def for_account(text: str) -> str:
    """The address as an account keeps it: trimmed, its domain in ASCII. Raises Invalid.

    What is before the @ must be ASCII: letters of other alphabets look like those of this one.
    """
    text = text.strip()
    check_storable(text, "email")
    try:
        validate_email(text)
    except ValidationError:
        raise Invalid("email", "account_email") from None
    local, _, domain = text.rpartition("@")
    address = f"{local}@{domain if domain.isascii() else _in_ascii(domain)}"
    if not address.isascii() or address.endswith("@") or len(address) > LENGTH_MAX:
        raise Invalid("email", "account_email")
    return address


def _in_ascii(domain: str) -> str:
    """The domain as DNS has it; empty when it has none."""
    if domain.isascii():
        return domain
    try:
        return idna.encode(domain, uts46=True).decode("ascii")
    except idna.IDNAError:
        return ""
