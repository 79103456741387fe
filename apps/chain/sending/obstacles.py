"""Obstacles to coins that aren't ours to remove: tokens whose issuer has paused them or frozen a
wallet of ours, and gas that costs more than a sweep brings.

Each is looked at again until it is over, and what waited for it goes on by itself. While a token
moves for none of our wallets no payment asks for it.
"""

from collections.abc import Collection
from contextlib import closing
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction

from apps.assets.models import Asset, Chain
from apps.assets.services import note_stop
from apps.chain.models import HotWallet, Obstacle, OutgoingTransaction
from apps.chain.networks.families import has_coins
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending import token_stops
from apps.core import clock, jobs
from apps.core.rows import Job

log = structlog.get_logger(__name__)
JOB = Job("chain.look_at_tokens", in_transaction=False)
Kind = Obstacle.Kind
KINDS = {Reason.TOKEN_STOPPED: Kind.TOKEN, Reason.WALLET_FROZEN: Kind.WALLET}
# What is there is looked at again after as long as it has been there, between these.
SOONEST = timedelta(minutes=5)
LATEST = timedelta(days=1)


def look_at_tokens(mode: str = "") -> None:
    """Ask each active token of each chain (of a mode) that has a hot wallet whether it moves for
    us."""
    chains = Chain.objects.filter(pk__in=HotWallet.objects.values("chain")).order_by("pk")
    JOB.walk(chains.filter(mode=mode) if mode else chains, _look)


def _look(chain: Chain) -> None:
    if not settings.CHAIN_URLS.get(chain.pk) or has_coins(chain):
        return
    tokens = Asset.objects.filter(chain=chain, is_active=True).exclude(contract_address=None)
    wallets = HotWallet.objects.filter(chain=chain).order_by("number")
    holders = list(wallets.values_list("address", flat=True))
    at = clock.real_now()
    with closing(nodes_of(chain)) as nodes:
        try:
            for asset in tokens.exclude(contract_address="").order_by("pk"):
                _judge(asset, holders, nodes, at)
        except RpcError as error:
            log.warning("chain_not_asked", chain=chain.pk, error=str(error))


def _judge(asset: Asset, holders: Collection[str], nodes: Nodes, at: datetime) -> None:
    reasons = dict(
        zip(holders, token_stops.why_many_stopped(asset, list(holders), nodes), strict=True)
    )
    is_paused = Reason.TOKEN_STOPPED in reasons.values()
    frozen = {holder for holder, why in reasons.items() if why == Reason.WALLET_FROZEN}
    with transaction.atomic():
        (note if is_paused else end)(asset, "", Kind.TOKEN, at)
        for holder in holders:
            (note if holder in frozen else end)(asset, holder, Kind.WALLET, at)
        is_news = note_stop(asset.pk, is_stopped=is_paused or len(frozen) == len(holders), at=at)
        if is_news or not (is_paused or frozen):
            _call_back(asset)


def _call_back(asset: Asset) -> None:
    """Have what waits for the token looked at at once."""
    rows = OutgoingTransaction.objects.filter(
        chain=asset.chain_id,
        status=OutgoingTransaction.Status.REQUESTED,
        waits_for=OutgoingTransaction.WaitsFor.TOKEN,
    )
    if rows.update(not_before=None):
        jobs.enqueue("chain.send", mode=asset.mode)


def note(
    asset: Asset,
    holder: str,
    kind: str,
    at: datetime,
    *,
    addresses: int = 0,
    amount_atomic: int = 0,
    cost_atomic: int = 0,
) -> None:
    """It is there; the person who is responsible hears of it once."""
    with transaction.atomic():
        row, is_new = Obstacle.objects.select_for_update().get_or_create(
            asset=asset,
            holder=holder,
            kind=kind,
            defaults={"found_at": at, "looked_at": at, "next_look_at": at + SOONEST},
        )
        is_news = is_new or row.ended_at is not None
        since = at if is_news else row.found_at
        Obstacle.objects.filter(pk=row.pk).update(
            found_at=since,
            looked_at=at,
            next_look_at=at + min(max(at - since, SOONEST), LATEST),
            ended_at=None,
            addresses=addresses,
            amount_atomic=amount_atomic,
            cost_atomic=cost_atomic,
        )
    if is_news:
        say = log.warning if kind == Kind.GAS else log.error
        say("coins_cannot_move", asset=asset.pk, kind=str(kind), holder=holder)


def end(asset: Asset, holder: str, kind: str, at: datetime) -> None:
    """It isn't there, or not any more."""
    rows = Obstacle.objects.filter(asset=asset, holder=holder, kind=kind, ended_at=None)
    if rows.update(ended_at=at, looked_at=at):
        log.info("coins_can_move_again", asset=asset.pk, kind=str(kind), holder=holder)


def frozen_for(chain_id: str) -> dict[str, set[str]]:
    """By wallet, the assets that are refused it."""
    rows = Obstacle.objects.filter(asset__chain=chain_id, kind=Kind.WALLET, ended_at=None)
    frozen: dict[str, set[str]] = {}
    for holder, asset_id in rows.values_list("holder", "asset_id"):
        frozen.setdefault(holder, set()).add(asset_id)
    return frozen
