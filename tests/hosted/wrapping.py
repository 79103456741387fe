"""A language that shows what goes through translation: every message in brackets."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.utils.translation import trans_real

LANGUAGE, OPEN, CLOSE = "de", "⟦", "⟧"


class Wrapping(trans_real.DjangoTranslation):
    def gettext(self, message: str) -> str:
        return f"{OPEN}{message}{CLOSE}" if message else ""

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return f"{OPEN}{singular if number == 1 else plural}{CLOSE}"


@contextmanager
def wrapping(monkeypatch: pytest.MonkeyPatch, language: str = LANGUAGE) -> Iterator[None]:
    """While it lasts, that language is this one."""
    with monkeypatch.context() as patched:
        patched.setitem(trans_real._translations, language, Wrapping(language))  # type: ignore[attr-defined]  # where Django keeps them
        yield
