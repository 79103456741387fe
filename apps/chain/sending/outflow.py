"""Outflow of all stores: promised amounts, amounts signed in a day, and the alarm's threshold."""

from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db.models import Q, Sum

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import caps
from apps.chain.states import STAYS_OURS, TAKES_NO_TOKENS, UNMINED

log = structlog.get_logger(__name__)
_Status = OutgoingTransaction.Status


@dataclass(frozen=True)
class Outflow:
    """In atomic units. `alarm_atomic` is None when nobody is called."""

    asset: Asset
    promised_atomic: int
    day_atomic: int
    alarm_atomic: int | None


def by_asset(mode: str, at: datetime) -> list[Outflow]:
    """Of every active asset of a mode."""
    rows = OutgoingTransaction.objects.filter(mode=mode).exclude(
        purpose__in=(*TAKES_NO_TOKENS, *STAYS_OURS)
    )
    # What goes back to who paid it in takes nothing from anybody.
    recent = Q(signed_at__gt=at - caps.DAY, goes_back=False)
    promised = dict(
        rows.filter(status__in=UNMINED).values_list("asset").annotate(Sum("amount_atomic"))
    )
    signed = dict(
        rows.filter(recent)
        .exclude(status=_Status.FAILED)
        .values_list("asset")
        .annotate(Sum("amount_atomic"))
    )
    assets = Asset.objects.filter(is_active=True, chain__mode=mode).select_related("chain")
    return [
        Outflow(
            asset, int(promised.get(asset.pk, 0)), int(signed.get(asset.pk, 0)), caps.alarm(asset)
        )
        for asset in assets
    ]


def watch(at: datetime) -> int:
    """Call somebody about each live asset of which more has left than is usual; nothing is stopped.
    How many there are."""
    above = [
        outflow
        for outflow in by_asset("live", at)
        if outflow.alarm_atomic is not None and outflow.day_atomic > outflow.alarm_atomic
    ]
    for outflow in above:
        log.error(
            "outflow_above_alarm",
            asset=outflow.asset.pk,
            signed_atomic=str(outflow.day_atomic),
            alarm_atomic=str(outflow.alarm_atomic),
        )
    return len(above)
