"""The page between a form and money that moves: what leaves, whom it goes to, what it costs, and
the code for just that.

Payouts, refunds and swaps are agreed to on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_noop

from apps.assets.models import Asset
from apps.core.errors import Failure
from apps.core.templatetags.tillgate import crypto
from apps.dashboard.site import confirming
from apps.dashboard.site.confirming import ConfirmationForm
from apps.dashboard.site.views import PageRequest


class NotCompared(Failure):
    """The address only looks like a known one, and the box that says it was compared is empty."""

    field = "compared"
    message = gettext_noop("Compare the two addresses, and say that you have")


@dataclass(frozen=True)
class Fact:
    """A line of the figures: `Network fee, about`, and how much."""

    name: str
    value: str | SafeString


@dataclass(frozen=True)
class ReviewTransfer:
    """An outgoing amount and its recipient; a swap has none."""

    facts: Sequence[Fact]
    to: str = ""
    label: str = ""
    note: str = ""


@dataclass(frozen=True)
class Caution:
    title: str
    text: str


@dataclass(frozen=True)
class Review:
    """A person's agreement. `agreed` comes back with the form and covers all of it.

    `permanent` is what can't be undone in live mode; `back` is where Cancel leads; `total` is shown
    where several transfers leave. `about` is what all of it concerns, `after` what is left when it
    has gone.
    """

    title: str
    button: str
    crumbs: Sequence[tuple[str, str]]
    back: str
    agreed: str
    transfers: Sequence[ReviewTransfer]
    permanent: str
    noun: str
    about: Sequence[Fact] = ()
    total: Sequence[SafeString] = ()
    after: Sequence[Fact] = ()
    notes: Sequence[str] = ()
    cautions: Sequence[Caution] = ()
    lookalike: str = ""


def coins(amount_atomic: int, asset: Asset) -> SafeString:
    return crypto(amount_atomic, asset.atomic_decimals, asset.coin_symbol)


def review_page(
    request: PageRequest,
    review: Review,
    values: Mapping[str, str],
    act: str,
    code: ConfirmationForm | None = None,
) -> HttpResponse:
    """`sent` is the form, which comes along; `code` says what was wrong about the last answer."""
    again = {name: value for name, value in values.items() if name not in ("agreed", "compared")}
    context = {"review": review, "sent": again, "takes_focus": not review.lookalike}
    return confirming.show_asking(request, "dashboard/review.html", context, act, code)
