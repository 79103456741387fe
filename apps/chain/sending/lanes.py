"""Turns at the hot wallet: stores and coins alternate, and rows that wait step aside until their
next try.

A lane is what one store asks of one asset; the gas of sweeps has its own. None gets a second place
while another has none, and cold storage comes last.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

import structlog
from django.db.models import Q

from apps.assets.models import Chain
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.reasons import Reason, because
from apps.chain.states import UNMINED
from apps.core import jobs
from apps.core.db.sql import Statement, array
from apps.core.rows import PAUSED_SQL, Job
from apps.stores.models import Store
from apps.stores.staff.suspensions import Suspension, goes_on_sql

log = structlog.get_logger(__name__)
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose
WaitsFor = OutgoingTransaction.WaitsFor
# So many of a batch's places are for the gas of sweeps first: without it nothing comes to the
# wallet.
GAS_PLACES = 20
# What waits while its store's payouts are suspended.
STOPPABLE = (_Purpose.PAYOUT, _Purpose.SETTLEMENT)
JOB = Job("chain.sign", limit=250, in_transaction=False, is_vital=True)
_TURNS = Statement(f"""
SELECT id FROM (
    SELECT id, requested_at, purpose IN ('sweep_gas', 'sweep_batch') AS is_gas,
           purpose = 'cold' AS is_cold,
           row_number() OVER (PARTITION BY purpose IN ('sweep_gas', 'sweep_batch'), store_id,
               asset_id ORDER BY requested_at, id) AS turn
    FROM chain_outgoingtransaction
    WHERE chain_id = %(chain)s AND status = 'requested' AND purpose <> 'sweep'
        AND (not_before IS NULL OR not_before <= %(at)s)
      AND asset_id <> ALL (%(held)s::text[])
      AND purpose <> ALL (%(without)s::text[]) AND to_address <> ALL (%(without)s::text[])
      AND id::text NOT IN ({PAUSED_SQL})
      AND (purpose <> ALL (%(stoppable)s::text[])
          OR {goes_on_sql(Suspension.PAYOUTS, "chain_outgoingtransaction.store_id")})
) AS lane ORDER BY is_cold, is_gas AND turn <= %(gas_places)s DESC, turn, requested_at, id
    LIMIT %(limit)s
""")  # noqa: S608
# It is looked at again after a quarter of the time that it has waited: two seconds at first, a
# minute at most.
_WAIT = Statement("""
WITH waiting AS (
    SELECT id, reason_code <> %(reason_code)s OR waits_for <> %(waits_for)s AS is_news
        FROM chain_outgoingtransaction
    WHERE id = ANY (%(ids)s::uuid[]) AND status = 'requested' FOR UPDATE
)
UPDATE chain_outgoingtransaction t
SET reason = %(reason)s, reason_code = %(reason_code)s, waits_for = %(waits_for)s,
    not_before = %(at)s::timestamptz
    + least(greatest((%(at)s::timestamptz - t.requested_at) / 4, interval '2 seconds'),
        interval '1 minute')
FROM waiting WHERE t.id = waiting.id RETURNING t.purpose, waiting.is_news
""")


def due(
    chain: Chain, at: datetime, holds: Iterable[str] = (), without: Iterable[str] = ()
) -> list[OutgoingTransaction]:
    """Transactions that may be signed now, lane by lane in turns; none of the assets that staff
    hold, for the purposes or to the contracts in `without`, or of stores whose payouts are
    suspended."""
    arguments = {
        "chain": chain.pk,
        "at": at,
        "limit": JOB.limit,
        "gas_places": GAS_PLACES,
        "stoppable": array(STOPPABLE),
        "job": JOB.name,
        "now": at,
    }
    ids = [pk for (pk,) in _TURNS.rows(held=array(holds), without=array(without), **arguments)]
    rows = OutgoingTransaction.objects.select_related("asset", "receives_asset").in_bulk(ids)
    return [rows[pk] for pk in ids if pk in rows]


def still_going(rows: Sequence[OutgoingTransaction]) -> list[OutgoingTransaction]:
    """Without those of stores whose payouts were suspended meanwhile. One statement when there are
    any that can be stopped."""
    ids = {row.store_id for row in rows if row.purpose in STOPPABLE and row.store_id is not None}
    if not ids:
        return list(rows)
    going = Store.objects.filter(
        pk__in=ids, payouts_suspended_at=None, platform__payouts_suspended_at=None
    )
    open_ids = set(going.values_list("pk", flat=True))
    return [row for row in rows if row.purpose not in STOPPABLE or row.store_id in open_ids]


def wait(rows: Sequence[OutgoingTransaction], reason: Reason, waits_for: str, at: datetime) -> None:
    """Step aside; the apps that asked hear of it when it is news to them."""
    if not rows:
        return
    answers = _WAIT.rows(
        ids=array(row.pk for row in rows), waits_for=waits_for, at=at, **because(reason)
    )
    news = [purpose for purpose, is_news in answers if is_news]
    if news:
        log.warning("outgoing_waits", chain=rows[0].chain_id, count=len(news), reason=reason.value)
        wake(news, rows[0].mode)


def wait_for_funds(rows: Sequence[OutgoingTransaction], at: datetime) -> None:
    """The wallet is short of their coins: the sweeper is notified, and looks what it can bring."""
    groups: dict[tuple[str, bool], list[OutgoingTransaction]] = {}
    for row in rows:
        groups.setdefault((row.asset_id, row.waits_for == WaitsFor.SWEEP), []).append(row)
    for (asset_id, was_ordered), waiting in groups.items():
        comes = was_ordered and is_being_swept(waiting[0].chain_id, asset_id)
        wait(waiting, Reason.SHORT, WaitsFor.SWEEP if comes else WaitsFor.FUNDS, at)
        if not comes:
            HotWallet.objects.filter(chain=waiting[0].chain_id, short_since=None).update(
                short_since=at
            )
    if rows:
        jobs.nudge("chain.sweep", mode=rows[0].mode)


def note_enough(wallet: HotWallet) -> None:
    """Nothing waits for funds any more."""
    waiting = OutgoingTransaction.objects.filter(
        chain=wallet.chain_id, status=_Status.REQUESTED, waits_for=WaitsFor.FUNDS
    )
    if wallet.short_since is not None and not waiting.exists():
        HotWallet.objects.filter(pk=wallet.pk).update(short_since=None)


def is_being_swept(chain_id: str, asset_id: str) -> bool:
    """True if coins of the asset, or the gas that tokens need first, are on their way."""
    under_way = OutgoingTransaction.objects.filter(chain=chain_id, status__in=UNMINED)
    return under_way.filter(
        Q(purpose=_Purpose.SWEEP, asset=asset_id) | Q(purpose=_Purpose.SWEEP_GAS)
    ).exists()


def short_of(chain_id: str) -> dict[str, int]:
    """Amounts that wait for funds, by asset, in atomic units."""
    waiting = OutgoingTransaction.objects.filter(chain=chain_id, status=_Status.REQUESTED)
    short: dict[str, int] = {}
    for asset_id, amount in waiting.filter(
        waits_for__in=(WaitsFor.FUNDS, WaitsFor.SWEEP)
    ).values_list("asset", "amount_atomic"):
        short[asset_id] = short.get(asset_id, 0) + amount
    return short


def call_back(chain_id: str, asset_id: str | None = None, **changes: object) -> None:
    """Makes rows that wait for funds due at once, after an arrival. With `changes` it goes on
    waiting, for something else."""
    rows = OutgoingTransaction.objects.filter(
        chain=chain_id, status=_Status.REQUESTED, waits_for__in=(WaitsFor.FUNDS, WaitsFor.SWEEP)
    )
    if asset_id is not None:
        rows = rows.filter(asset=asset_id)
    rows.update(**(changes or {"not_before": None}))


def wake(purposes: Iterable[str], mode: str) -> None:
    """The jobs of the apps that asked."""
    for name in sorted({job for purpose in purposes for job in jobs.followers(news_of(purpose))}):
        jobs.nudge(name, mode=mode)


def news_of(purpose: str) -> str:
    """Channel on which apps hear of transactions of this purpose."""
    return f"chain.{purpose}_news"
