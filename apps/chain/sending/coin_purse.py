"""Our coins that may be spent now: those that blocks have brought, nobody has taken, and the books
know."""

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum

from apps.assets.models import Chain
from apps.chain.models import CoinRecord, Deposit, Head, SpendRecord
from apps.chain.networks.base import Coin, CoinPlace

COINS_MAX = 2000
_CONFIRMED = Deposit.Status.CONFIRMED


def spendable(chain: Chain) -> "QuerySet[CoinRecord]":
    """A deposit's coin once the deposit is confirmed and booked; change and what came to the hot
    wallet once a block has it."""
    head = Head.objects.filter(chain=chain).values_list("number", flat=True).first()
    deposits = Deposit.objects.filter(
        chain=chain,
        tx_hash=OuterRef("tx_hash"),
        log_index=OuterRef("output"),
        address=OuterRef("address"),
        status=_CONFIRMED,
        handled_status=_CONFIRMED,
        is_lost=False,
        is_simulated=False,
    )
    rows = untaken(
        CoinRecord.objects.filter(
            chain=chain,
            spend=None,
            spent_by="",
            block_number__isnull=False,
            usable_from__lte=-1 if head is None else head,
        )
    )
    return rows.filter(Q(is_deposit=False) | Exists(deposits))


def untaken(rows: "QuerySet[CoinRecord]") -> "QuerySet[CoinRecord]":
    """Without those that a transaction of ours had taken before a block brought them."""
    taken = SpendRecord.objects.filter(
        chain=OuterRef("chain"),
        first_tx_hash=OuterRef("tx_hash"),
        first_output=OuterRef("output"),
        ended_at=None,
    )
    return rows.exclude(Exists(taken))


def coins_of(rows: "QuerySet[CoinRecord]") -> list[Coin]:
    """The largest first."""
    listed = rows.order_by(F("amount_atomic").desc(), "pk")[:COINS_MAX]
    return [
        Coin(CoinPlace(row.tx_hash, row.output), row.address, int(row.amount_atomic))
        for row in listed
    ]


def free(chain: Chain) -> int:
    """Free coins of the chain, summed."""
    return int(spendable(chain).aggregate(all=Sum("amount_atomic"))["all"] or 0)
