"""Before a payment ends for want of coins, its own addresses are looked at in a block past its
deadline: contracts and exchanges pay without a transfer that a block tells of (decision 517).

The watcher of each chain looks, and wakes who judges (decision 658). A payment that can't be looked
at waits and holds up no other; a chain without an answer delays its own payments.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import structlog
from django.conf import settings
from django.db.models import Q, QuerySet

from apps.assets.models import Asset, Chain
from apps.chain.models import AddressLook, Deposit, Head, UnexplainedBalance
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.selectors import (
    are_looked_at,
    are_on_their_way,
    covered_until,
    is_caught_up,
    is_watched,
)
from apps.chain.watching import address_looks
from apps.chain.watching.holdings import holders_now
from apps.chain.watching.look_up import watch_again
from apps.chain.watching.writers import may_write
from apps.core.clock import real_now
from apps.core.errors import Failure
from apps.core.models import Mode
from apps.payments import states
from apps.payments.models import Payment, PaymentAddress

PAGE = 500
SECONDS_MAX = 60.0
NOW_PATIENCE_SECONDS = 3.0
# Coins that nobody explains are looked for by the watcher; their payment asks again after a while.
UNEXPLAINED_PAUSE = timedelta(seconds=30)

log = structlog.get_logger(__name__)
_OPEN = (states.PENDING, states.PROCESSING)
_BY_CLOCK = Q(mode=Mode.TEST) & ~Q(store__test_offset_seconds=0)


class Untold(StrEnum):
    """Answer of the nodes about a payment to which nothing has come by the books."""

    NOTHING = "nothing"
    COINS = "coins"  # something is at its addresses, which the watcher has yet to find
    SILENT = "silent"  # a chain couldn't be asked


def look_due(payment_ids: Collection[object] | None = None) -> None:
    """Have the addresses looked at of open payments whose time is past on a chain: of these, else
    of all."""
    _look(lambda until: _pages(until, payment_ids))


def look_until(moments: Mapping[Any, datetime]) -> None:
    """Have the addresses of these open payments looked at past a moment that isn't their deadline.
    Not inside a transaction."""
    if not moments:
        return
    is_open = Payment.objects.filter(pk__in=list(moments), status__in=_OPEN).exclude(_BY_CLOCK)
    ids = list(is_open.values_list("pk", flat=True))
    _look(lambda until: iter([{pk: moments[pk] for pk in ids if moments[pk] <= until}]))


def is_known(payment: Payment, addresses: Collection[PaymentAddress], moment: datetime) -> bool:
    """Tell whether everything that came to an open payment by then is booked: each of its chains
    was read, and its own addresses were looked at past that moment. The addresses come with their
    assets."""
    if is_judged_by_clock(payment):
        return True
    if not all(is_caught_up(row.asset.chain_id, moment) for row in addresses):
        return False
    if are_on_their_way([row.address_id for row in addresses], moment):
        return False
    watched = [row.address_id for row in addresses if is_watched(row.asset.chain_id)]
    return are_looked_at(watched, moment)


def _look(pages: Callable[[datetime], Iterator[dict[object, datetime]]]) -> None:
    """Ask the watchers for the payments that are due by what the chains have read, each with its
    moment."""
    heads = {head.chain_id: head for head in Head.objects.all() if is_watched(head.chain_id)}
    if not heads:
        return
    began = time.monotonic()
    covered = {chain_id: covered_until(head) for chain_id, head in heads.items()}
    for payments in pages(max(covered.values())):
        rows = _addresses(payments)
        for chain_id, until in covered.items():
            due = {
                row.address_id: row.asset_id
                for row in rows
                if row.asset.chain_id == chain_id
                and payments[row.payment_id] <= until
                and not _is_looked_at(row, payments[row.payment_id])
            }
            if due:
                address_looks.ask(chain_id, due)
        if time.monotonic() - began > SECONDS_MAX:
            break
    if settings.WORK_INLINE:
        for chain_id in covered:
            address_looks.look_asked(chain_id)


def look_now(payment: Payment) -> Untold:
    """Ask the nodes what a payment's addresses hold, to which nothing has come by the books. Not
    inside a transaction: somebody waits."""
    if is_judged_by_clock(payment):
        return Untold.NOTHING
    by_chain: dict[Chain, dict[str, Asset]] = defaultdict(dict)
    for row in payment.addresses.select_related("asset__chain"):
        if is_watched(row.asset.chain_id):
            by_chain[row.asset.chain][row.address_id] = row.asset
    answer = Untold.NOTHING
    for chain, assets in by_chain.items():
        try:
            with closing(nodes_of(chain, patience_seconds=NOW_PATIENCE_SECONDS)) as nodes:
                holders = holders_now(nodes, assets)
        except RpcError as error:
            log.warning("payment_not_looked_at", chain=chain.pk, error=str(error))
            answer = Untold.SILENT
            continue
        for address in holders:
            watch_again(address)
        if holders:
            return Untold.COINS
    return answer


class NotLookable(Failure):
    """The text says why."""


def look_at_address(address: str) -> str:
    """For an operator: look at an address whatever the age of its payment, book what is missing,
    and say what it holds. A role that may not write what a chain has brought asks the watcher.
    Raises NotLookable or RpcError."""
    row = PaymentAddress.objects.filter(address=address).select_related("asset__chain").first()
    if row is None:
        raise NotLookable(f"No payment has the address {address}")
    head = Head.objects.filter(chain=row.asset.chain_id).first()
    if head is None or not is_watched(row.asset.chain_id):
        raise NotLookable(f"{row.asset.chain.name} isn't read")
    if not may_write():
        address_looks.ask(head.chain_id, {address: row.asset_id})
        return "The watcher compares it with the books now, and adds what is missing"
    before = set(Deposit.objects.filter(address=address).values_list("pk", flat=True))
    is_explained = address_looks.look_at(head, address, row.asset_id)
    count = Deposit.objects.filter(address=address).exclude(pk__in=before).count()
    text = f"{count} deposit{'' if count == 1 else 's'} recorded" if count else "No new deposits"
    return text if is_explained else f"{text}; something is left that nothing explains"


def is_judged_by_clock(payment: Payment) -> bool:
    """A test clock that was moved judges at once: no block has the time that it shows."""
    return payment.mode == Mode.TEST and bool(payment.store.test_offset_seconds)


def _pages(
    until: datetime, payment_ids: Collection[object] | None
) -> Iterator[dict[object, datetime]]:
    """The open payments that are due by then, each with its deadline, oldest first."""
    rows: QuerySet[Any] = (
        Payment.objects.filter(status__in=_OPEN, expires_at__lte=until)
        .filter(Q(held_open_until=None) | Q(held_open_until__lte=until))
        .filter(Q() if payment_ids is None else Q(pk__in=list(payment_ids)))
        .exclude(_BY_CLOCK)
        .order_by("expires_at", "pk")
        .values_list("pk", "expires_at", "held_open_until")
    )
    last: tuple[datetime, object] | None = None
    while True:
        rest = rows
        if last is not None:
            expires_at, pk = last
            is_later = Q(expires_at__gt=expires_at) | Q(expires_at=expires_at, pk__gt=pk)
            rest = rows.filter(is_later, expires_at__gte=expires_at)
        page = list(rest[:PAGE])
        if page:
            yield {pk: max(expires, held or expires) for pk, expires, held in page}
        if len(page) < PAGE:
            return
        last = page[-1][1], page[-1][0]


def _addresses(payments: Collection[object]) -> list[PaymentAddress]:
    """Their addresses with the last look at each, but for those whose coins nobody explained a
    moment ago."""
    rows = list(
        PaymentAddress.objects.filter(payment_id__in=list(payments)).select_related(
            "asset", "address__look"
        )
    )
    recent = UnexplainedBalance.objects.filter(
        settled_at=None, looked_at__gt=real_now() - UNEXPLAINED_PAUSE
    )
    paused = set(recent.values_list("address_id", flat=True))
    return [row for row in rows if row.address_id not in paused]


def _is_looked_at(row: PaymentAddress, deadline: datetime) -> bool:
    look: AddressLook | None = getattr(row.address, "look", None)
    return look is not None and look.looked_until >= deadline
