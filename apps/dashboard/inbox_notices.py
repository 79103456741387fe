"""What a row of the inbox is made of: a notice and its buttons, and how coins are said."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.text import Truncator

from apps.assets.models import Asset
from apps.core import money

BAD = "bad"
WAIT = "wait"
INFO = "info"
DETAIL_SHOWN = 140


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
        """The detail in its parts, so that no line of a page ends with what stands between two."""
        return Truncator(self.detail).chars(DETAIL_SHOWN).split(" · ")


def url_of(name: str, *ids: object) -> str:
    return reverse(f"dashboard:{name}", args=[str(id) for id in ids])


def coins_of(amount_atomic: int, asset: Asset) -> str:
    return f"{money.decimal_from_atomic(amount_atomic, asset.atomic_decimals)} {asset.coin_symbol}"
