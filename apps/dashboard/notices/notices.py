"""Parts of an inbox row: a notice and its buttons, and the names of coins."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext_lazy

from apps.assets.models import Asset
from apps.core import money
from apps.core.templatetags.tillgate import grouped

BAD = "bad"
WAIT = "wait"
INFO = "info"
DETAIL_SHOWN = 140
_AGES = (
    (86_400, ngettext_lazy("%d day ago", "%d days ago")),
    (3_600, ngettext_lazy("%d hour ago", "%d hours ago")),
    (60, ngettext_lazy("%d minute ago", "%d minutes ago")),
)


@dataclass(frozen=True)
class RowButton:
    """A button beside the first one of a row, for who has the permission that it `needs`."""

    action: str
    url: str
    posts: tuple[str, str] = ("", "")
    needs: str = ""


@dataclass(frozen=True)
class Notice:
    """`posts` names a button of a form with these fields; without it the button is a link. What
    `copies` is for somebody else, and has a button that copies it. `page` is where the title leads
    where the buttons don't."""

    title: str
    detail: str
    at: datetime
    action: str
    url: str
    amount: str = ""
    icon: str = "clock"
    tone: str = WAIT
    posts: tuple[str, str] = ("", "")
    copies: str = ""
    page: str = ""
    also: tuple[RowButton, ...] = ()

    @property
    def facts(self) -> list[str]:
        """The detail in its parts, so that no line of a page ends with a mark between two."""
        return Truncator(self.detail).chars(DETAIL_SHOWN).split(" · ")


def url_of(name: str, *ids: object) -> str:
    return reverse(f"dashboard:{name}", args=[str(id) for id in ids])


def age_words(seconds: int) -> str:
    """Age in its largest unit alone: in a list, seconds say nothing."""
    for unit, words in _AGES:
        if seconds >= unit:
            return str(words % (seconds // unit))
    return gettext("just now")


def coins_of(amount_atomic: int, asset: Asset) -> str:
    amount = grouped(money.decimal_from_atomic(amount_atomic, asset.atomic_decimals))
    return f"{amount} {asset.coin_symbol}"
