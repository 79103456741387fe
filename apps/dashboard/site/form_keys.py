"""The key that a page gives its form: sent twice, or by an impatient finger, the form makes one
record."""

import uuid

from apps.core.messages.fields import Invalid

NAME = "form_key"


def new() -> dict[str, str]:
    """For the values of a form that is opened."""
    return {NAME: uuid.uuid4().hex}


def of(values: dict[str, str]) -> str:
    """The key that came back with a form. Raises Invalid."""
    key = values[NAME]
    if not (key.isascii() and key.isalnum() and len(key) == 32):
        raise Invalid(NAME, "old_form")
    return key
