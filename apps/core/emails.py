"""Email addresses: the one form in which they are compared, and the form in which accounts keep
them.

Two spellings that a person may take for one address have one canonical form, or can't both be kept.
"""

import re
import unicodedata

import idna
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from apps.core.messages.fields import Invalid, check_storable

LENGTH_MAX = 254


def canonical(text: str) -> str:
    """Compared form of an address: compatibility forms and case folded, the domain in ASCII."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text.strip()).casefold())
    local, at, domain = folded.rpartition("@")
    return f"{local}{at}{_in_ascii(domain) or domain}"


def mailbox(text: str) -> str:
    """Mailbox of an address, for counting: many providers deliver `a+anything@b` to `a@b`."""
    local, at, domain = canonical(text).rpartition("@")
    return f"{local.partition('+')[0] or local}{at}{domain}"


def masked(text: str) -> str:
    """Enough to recognize an address that one knows: `a…@example.com`."""
    local, _, domain = text.rpartition("@")
    return f"{local[:1]}…@{domain}"


# A scheme, "www." and whatever has a path: what makes a link of a name.
_LINK = re.compile(r"(?i)\b[a-z][a-z0-9+.-]*:/\S*|\b(?:mailto|tel):\S+|\bwww\.\S+|\S+\.\S+/\S*")
_CONTROL = ("Cc", "Cf", "Zl", "Zp")
NAME_SHOWN_MAX = 60
_GREETED_WORDS_MAX = 5
_GREETED_DIGITS_MAX = 4
_GREETED_SIGNS = frozenset(" '’&,·-.")


def shown_name(text: str) -> str:
    """A name that somebody chose, for emails: on one line, without links, and not longer than
    names are."""
    line = "".join(" " if unicodedata.category(sign) in _CONTROL else sign for sign in text)
    return " ".join(_LINK.sub(" ", line).split())[:NAME_SHOWN_MAX].strip()


def greeting_name(text: str) -> str:
    """A name for a greeting, where a stranger's text could be read as ours; empty when it isn't
    plainly a name."""
    name = " ".join(text.split())
    is_name = (
        all(unicodedata.category(sign)[0] in "LMN" or sign in _GREETED_SIGNS for sign in name)
        and all(len(word.rstrip(".")) == len(word.replace(".", "")) for word in name.split())
        and shown_name(name) == name
        and len(name.split()) <= _GREETED_WORDS_MAX
        and sum(letter.isdigit() for letter in name) <= _GREETED_DIGITS_MAX
    )
    return name if is_name else ""


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
