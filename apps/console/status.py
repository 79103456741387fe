"""/status: how each part of the service is, in words and since when, for anybody. No figure of the
business, and no secret.

What it says is at most some seconds old and is asked for once however many look, so it costs
nothing.
"""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.db.models import Max, Min
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from apps.assets.models import Chain, Rate
from apps.chain.models import Head, HotWallet, OutgoingTransaction
from apps.chain.selectors import READ_LATE, SENT_LATE
from apps.chain.states import UNMINED
from apps.core import clock
from apps.core.db import tenancy
from apps.core.models import Mode, OutgoingMail
from apps.core.redis import buckets
from apps.webhooks.selectors import ours_to_deliver

FRESH_SECONDS = 10
# An event or email that waits longer for us, and not for somebody else, is late.
TOLD_LATE = timedelta(minutes=5)
log = structlog.get_logger(__name__)
Words = str | Promise


class State(StrEnum):
    OPERATIONAL = "operational"
    DELAYED = "delayed"
    PAUSED = "paused"
    DOWN = "down"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Component:
    """`since` is when it stopped being operational, as far as anybody knows."""

    name: Words
    state: State
    since: datetime | None = None
    about: Words = ""


@dataclass(frozen=True)
class StatusReport:
    at: datetime
    components: tuple[Component, ...]

    @property
    def is_well(self) -> bool:
        return all(component.state == State.OPERATIONAL for component in self.components)


_lock = threading.Lock()
_kept: tuple[float, StatusReport] | None = None


def page(request: HttpRequest) -> HttpResponse:
    report = current()
    answer = render(request, "hosted/status.html", {"report": report})
    answer["Cache-Control"] = f"public, max-age={FRESH_SECONDS}"
    answer["X-Robots-Tag"] = "noindex"
    return answer


def current() -> StatusReport:
    """A report of the last seconds; anyone who comes while it is made anew is given the one
    before."""
    global _kept
    cached = _kept
    if cached is not None and (time.monotonic() - cached[0] < FRESH_SECONDS or _lock.locked()):
        return cached[1]
    with _lock:
        if _kept is cached:
            _kept = (time.monotonic(), _make(clock.real_now()))
        return _kept[1] if _kept else _make(clock.real_now())


def forget() -> None:
    """Ask anew the next time."""
    global _kept
    _kept = None


def _make(at: datetime) -> StatusReport:
    try:
        with tenancy.everyone("states of the whole service"):
            components = [_api(at), _checkout(at), _webhooks(at), *_chains(at), _mail(at)]
    except DatabaseError as error:
        log.warning("status_unknown", error=type(error).__name__)
        components = [
            Component(_("API"), State.DOWN),
            Component(_("Everything else"), State.UNKNOWN),
        ]
    return StatusReport(at, tuple(components))


def _api(at: datetime) -> Component:
    """It answers, since this does. Without Redis limits can't be counted, and jobs wait for their
    periodic run."""
    try:
        buckets.client().ping()
    except buckets.unreachable():
        return Component(
            _("API"), State.DELAYED, about=_("Requests are answered; background work takes longer.")
        )
    return Component(_("API"), State.OPERATIONAL)


def _checkout(at: datetime) -> Component:
    """Nothing can be priced once every rate has run out."""
    rates = Rate.objects.filter(asset__is_active=True, asset__chain__mode=Mode.LIVE)
    valid_until = rates.aggregate(last=Max("valid_until"))["last"]
    if valid_until is not None and valid_until < at:
        about = _("New payments can’t be priced. Payments that are open can be paid.")
        return Component(_("Checkout"), State.DOWN, valid_until, about)
    return Component(_("Checkout"), State.OPERATIONAL)


def _webhooks(at: datetime) -> Component:
    due = ours_to_deliver(Mode.LIVE, at - TOLD_LATE)
    return _unless_late(
        _("Webhooks"),
        due.aggregate(since=Min("next_attempt_at"))["since"],
        _("Events are delivered late."),
    )


def _mail(at: datetime) -> Component:
    due = OutgoingMail.objects.filter(
        status=OutgoingMail.Status.QUEUED, next_attempt_at__lte=at - TOLD_LATE
    )
    return _unless_late(
        _("Email"), due.aggregate(since=Min("next_attempt_at"))["since"], _("Email is sent late.")
    )


def _chains(at: datetime) -> Iterable[Component]:
    """Deposits and payouts of each chain that has a node here."""
    heads = {head.chain_id: head for head in Head.objects.all()}
    at_work = HotWallet.objects.filter(halted_at=None).values("chain")
    stopped = HotWallet.objects.exclude(chain__in=at_work).values_list("chain")
    halted = dict(stopped.annotate(Min("halted_at")))
    late = OutgoingTransaction.objects.filter(status__in=UNMINED, requested_at__lte=at - SENT_LATE)
    waiting = dict(late.order_by().values_list("chain_id").annotate(since=Min("requested_at")))
    for chain in Chain.objects.filter(
        pk__in=[name for name, urls in settings.CHAIN_URLS.items() if urls]
    ).order_by("mode", "name"):
        # Formatted when it is shown: a report is kept for readers of every language.
        deposits = format_lazy(_("{chain} deposits"), chain=chain.name)
        payouts = format_lazy(_("{chain} payouts"), chain=chain.name)
        head = heads.get(chain.pk)
        if head is None:
            yield Component(deposits, State.UNKNOWN, about=_("The chain hasn’t been read yet."))
        else:
            behind = head.synced_at if head.synced_at < at - READ_LATE else None
            yield _unless_late(
                deposits, behind, _("Incoming payments are seen late. None are lost.")
            )
        if chain.pk in halted:
            yield Component(
                payouts,
                State.PAUSED,
                halted[chain.pk],
                _("Payouts and refunds wait until we resume sending."),
            )
        else:
            yield _unless_late(
                payouts, waiting.get(chain.pk), _("Payouts and refunds take longer than usual.")
            )


def _unless_late(name: Words, since: datetime | None, about: Words) -> Component:
    return (
        Component(name, State.OPERATIONAL)
        if since is None
        else Component(name, State.DELAYED, since, about)
    )
