"""Steps of a payment's timeline, and those of refunds that waited for an address."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.chain.addresses import checksummed
from apps.core.badges import GOOD, WAIT
from apps.core.templatetags.tillgate import crypto
from apps.payments.models import HeldRefund

CHAIN = "chain"
WEBHOOKS = "webhooks"
MONEY = "money"
PEOPLE = "people"
KINDS = {CHAIN: "On-chain", WEBHOOKS: "Webhooks", MONEY: "Money", PEOPLE: "People"}
Text = str | SafeString


@dataclass(frozen=True)
class TimelineLink:
    label: str
    url: str
    is_outside: bool = False


@dataclass(frozen=True)
class TimelineStep:
    """`code` is what is to be copied, a transaction's hash; of steps at the same moment the higher
    `rank` came later; `kinds` are the filters that show it."""

    at: datetime
    icon: str
    tone: str
    title: Text
    text: Text = ""
    code: str = ""
    links: tuple[TimelineLink, ...] = ()
    rank: int = 0
    kinds: frozenset[str] = frozenset()


_PROOFS = {
    HeldRefund.Proof.EMAIL: "with the link in the email",
    HeldRefund.Proof.SIGNATURE: "with a message signed by the sender",
}


def held_steps(rows: Iterable[HeldRefund]) -> Iterator[TimelineStep]:
    """Shares that couldn't go back by themselves, and how their address became known."""
    for row in rows:
        amount = crypto(row.amount_atomic, row.asset.atomic_decimals, row.asset.coin_symbol)
        if row.why:
            yield TimelineStep(
                row.created_at,
                "exclamation-triangle",
                WAIT,
                "Refund waits for an address",
                format_html("{} on {} · {}", amount, row.asset.chain.name, row.get_why_display()),
                rank=5,
                kinds=frozenset({MONEY}),
            )
        proof = _PROOFS.get(HeldRefund.Proof(row.proof)) if row.proof else None
        if proof and row.destination_address:
            yield TimelineStep(
                row.updated_at,
                "check",
                GOOD,
                f"Address confirmed {proof}",
                format_html('<bdi class="mono">{}</bdi>', checksummed(row.destination_address)),
                rank=5,
                kinds=frozenset({PEOPLE}),
            )
