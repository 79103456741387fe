"""Coins that the records say are left at the deposit addresses of a network, asked for by the
sweeper."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from apps.assets.models import Asset, Chain
from apps.chain.providers.base import RpcError
from apps.chain.sending import sweep_queries as queries
from apps.core.db.sql import Value
from apps.core.models import RowTurn
from apps.core.money import atomic_from_decimal
from apps.core.rows import Job

JOB = Job("chain.sweep", limit=100, in_transaction=False, raises=(RpcError,))
SET_ASIDE_AT_ONCE = 5_000
FULLEST_MAX = 4 * JOB.limit


def threshold(asset: Asset) -> int | None:
    """The least of an asset that is swept, in atomic units: what the asset says, or SWEEP_MINIMUMS;
    None when it never is."""
    if asset.sweep_minimum_atomic is not None:
        return asset.sweep_minimum_atomic
    for line in settings.SWEEP_MINIMUMS:
        name, _, amount = line.partition("=")
        if name == asset.pk:
            return atomic_from_decimal(amount, asset.atomic_decimals)
    return None


class LeftCoins:
    """Questions about one chain."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    def candidates(self, asset: Asset, least: int, at: datetime) -> list[tuple[str, int]]:
        """The addresses at which something has come since they were set aside, and as much is left
        as is worth a sweep."""
        return self._found_in(
            queries.UNSWEPT, self._arguments(asset, least, at) | {"is_wanted": False}
        )

    def fullest(self, asset: Asset, at: datetime) -> list[tuple[str, int]]:
        """The addresses at which the most is left, whatever it is worth."""
        arguments = self._arguments(asset, 1, at) | {"is_wanted": True, "fullest": FULLEST_MAX}
        with connection.cursor() as cursor:
            cursor.execute(queries.CORRECT, arguments)
        holdings = {
            **dict(self._found_in(queries.UNSWEPT, arguments)),
            **dict(self._found_in(queries.FULLEST, arguments)),
        }
        return sorted(holdings.items(), key=lambda holding: -holding[1])[: JOB.limit]

    def aged(self, asset: Asset, at: datetime) -> list[tuple[str, int]]:
        """The addresses at which something was set aside and has waited for long."""
        if asset.sweep_after_days is None:
            return []
        waits = timedelta(days=asset.sweep_after_days)
        arguments = self._arguments(asset, 1, at) | {"is_wanted": False}
        arguments |= {"before": at - waits, "fullest": FULLEST_MAX}
        return self._found_in(queries.AGED, arguments)

    def set_aside(self, asset: Asset, least: int, at: datetime) -> None:
        """Deposits at whose addresses less is left than is worth a sweep aren't asked about until
        another one arrives there, or the minimum is lowered."""
        values = self._arguments(asset, least, at) | {"limit": SET_ASIDE_AT_ONCE}
        turn = f"{JOB.name}:{asset.pk}"
        before = RowTurn.objects.filter(job=turn).values_list("row_id", flat=True).first()
        with connection.cursor() as cursor:
            if before is not None and least < int(before):
                cursor.execute(queries.LOOK_AGAIN, values)
            cursor.execute(queries.SET_ASIDE, values)
        if before != str(least):
            RowTurn.objects.update_or_create(job=turn, defaults={"row_id": str(least)})

    def waiting(self, asset: Asset, most: int, at: datetime) -> tuple[int, int]:
        """How many addresses have more than the minimum and less than this, and how much in all."""
        arguments = self._arguments(asset, threshold(asset) or 1, at) | {"most": most}
        with connection.cursor() as cursor:
            cursor.execute(queries.WAITING, arguments)
            count, amount = cursor.fetchone()
        return int(count), int(amount)

    def _found_in(self, addresses: str, arguments: dict[str, Value]) -> list[tuple[str, int]]:
        with connection.cursor() as cursor:
            cursor.execute(
                queries.CANDIDATES.format(addresses=addresses), arguments | {"limit": JOB.limit}
            )
            return [(address, int(remainder)) for address, remainder in cursor.fetchall()]

    def _arguments(self, asset: Asset, least: int, at: datetime) -> dict[str, Value]:
        return {
            "chain": self.chain.pk,
            "asset": asset.pk,
            "mode": self.chain.mode,
            "pays_fees": asset.pays_fees,
            "least": least,
            "at": at,
            "job": JOB.name,
            "now": at,
        }
