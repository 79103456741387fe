"""A language that shows what is translated: every message of the catalogs in brackets, and nothing
else."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.utils.translation import trans_real

from dev import messages

LANGUAGE = "de"
OPEN = "⟦"
CLOSE = "⟧"


messages.set_up()
COLLECTED = {text for id in messages.collect() for text in id}


class Wrapping(trans_real.DjangoTranslation):
    def gettext(self, message: str) -> str:
        text = message.rpartition("\x04")[2]  # what comes before it is the context
        is_collected = message in COLLECTED or text in COLLECTED
        return f"{OPEN}{text}{CLOSE}" if is_collected else message

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)


@contextmanager
def wrapping(monkeypatch: pytest.MonkeyPatch, language: str = LANGUAGE) -> Iterator[None]:
    """While it lasts, that language is this one."""
    with monkeypatch.context() as patched:
        patched.setitem(trans_real._translations, language, Wrapping(language))  # type: ignore[attr-defined]  # where Django keeps them
        yield
