"""Signed bytes that a node has refused, and what they are signed again with at the same nonce.

What is refused for its form needs another limit, what is refused for funds another sum of limit,
price and fees beside gas: being dearer helps neither. Bytes that any node has are never refused
(`sender`), so nothing of what was refused waits anywhere.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

import structlog
from django.db.models import F

from apps.chain.models import OutgoingTransaction, SignedTransaction
from apps.chain.providers.base import RpcError
from apps.chain.sending.fees import FeeOffer, replacing

log = structlog.get_logger(__name__)
# Signed again at once, and after that in so long, twice, three times…
AGAIN = timedelta(seconds=30)
TEXT_MAX = 200
ALARM_AT = 2
_FUNDS = re.compile(
    r"insufficient (funds|balance)|upfront cost|enough (funds|balance)|exceeds (the )?balance"
    r"|insufficient max"
)
_FORM = re.compile(
    r"intrinsic gas|floor (data )?gas|gas floor|gas (limit|too low|required|allowance)|out of gas"
    r"|exceeds block|gaslimit"
)
_MORE_NUMERATOR, _MORE_DENOMINATOR = 5, 4


class Words(Enum):
    """Subjects of a node's refusal."""

    FUNDS = "funds"
    FORM = "form"
    OTHER = "other"


@dataclass(frozen=True)
class Terms:
    """Terms of a transaction that is signed in place of the candidate `replaces`."""

    gas_limit: int
    offer: FeeOffer
    replaces: int


def words_of(refusal: str) -> Words:
    """Nodes agree on no code, so their words are read; others are of the price or the nonce."""
    text = refusal.lower()
    if _FUNDS.search(text):
        return Words.FUNDS
    return Words.FORM if _FORM.search(text) else Words.OTHER


def note(candidate: SignedTransaction, error: RpcError) -> None:
    """Count what a node has refused; the second refusal of a transaction calls somebody, in the
    node's words."""
    if not error.is_refusal:
        return
    SignedTransaction.objects.filter(pk=candidate.pk).update(
        refused_count=F("refused_count") + 1, refusal=str(error)[:TEXT_MAX]
    )
    row = candidate.outgoing
    counts = SignedTransaction.objects.filter(outgoing=row).values_list("refused_count", flat=True)
    if sum(counts) == ALARM_AT:
        log.error(
            "broadcast_refused_again",
            outgoing=str(row.pk),
            chain=row.chain_id,
            nonce=row.nonce,
            error=str(error),
        )


def is_due(row: OutgoingTransaction, at: datetime) -> bool:
    """Tell whether its newest bytes were refused for what another limit may mend, and for long
    enough."""
    candidates = list(row.candidates.all())
    if not candidates or not candidates[-1].refused_count:
        return False
    newest = candidates[-1]
    is_soon = at - newest.signed_at < AGAIN * (len(candidates) - 1)
    return not is_soon and words_of(newest.refusal) is not Words.OTHER


def terms(
    old: Terms,
    words: Words,
    *,
    today: FeeOffer | None,
    ceiling_wei: int,
    fresh_limit: int | None,
    most_limit: int,
    spare_wei: int,
) -> Terms | None:
    """The next terms, of today's offer and the node's fresh estimate; None when nothing would be
    other than before, or the sender can't pay for a place in the next block."""
    if words is Words.OTHER:
        dearer = replacing(old.offer, today, ceiling_wei)
        limit = fresh_limit or old.gas_limit
        return None if dearer is None else Terms(limit, dearer, old.replaces)
    if today is None or fresh_limit is None:
        return None
    limit = fresh_limit
    if words is Words.FORM and limit <= old.gas_limit:
        limit = min(old.gas_limit * _MORE_NUMERATOR // _MORE_DENOMINATOR, most_limit)
    max_fee_wei = min(today.max_fee_wei, spare_wei // limit)
    if max_fee_wei < max(today.priority_fee_wei, 1):
        return None
    new = Terms(limit, FeeOffer(max_fee_wei, today.priority_fee_wei), old.replaces)
    return None if new == old else new
