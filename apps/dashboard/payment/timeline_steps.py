"""Steps of a payment's timeline: those of refunds that waited for an address, of a look at the
checkout, of emails and of deliveries to endpoints."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from apps.chain.networks.families import shown_address
from apps.core.badges import GOOD, QUIET, WAIT
from apps.core.emails import masked
from apps.core.models import OutgoingMail
from apps.core.templatetags.tillgate import crypto
from apps.dashboard.payment.timeline_words import DELIVERED, EMAIL_TONES, EMAILED, REMINDER
from apps.payments.models import HeldRefund
from apps.webhooks.models import Delivery

CHAIN = "chain"
WEBHOOKS = "webhooks"
MONEY = "money"
PEOPLE = "people"
KINDS = {
    CHAIN: gettext_noop("On-chain"),
    WEBHOOKS: gettext_noop("Webhooks"),
    MONEY: gettext_noop("Money"),
    PEOPLE: gettext_noop("People"),
}
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
    HeldRefund.Proof.EMAIL: gettext_noop("Address confirmed with the link in the email"),
    HeldRefund.Proof.SIGNATURE: gettext_noop(
        "Address confirmed with a message signed by the sender"
    ),
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
                gettext("Refund waits for an address"),
                format_html(
                    "{} · {}",
                    format_html(
                        gettext("{amount} on {network}"),
                        amount=amount,
                        network=row.asset.chain.name,
                    ),
                    gettext(row.get_why_display()),
                ),
                rank=5,
                kinds=frozenset({MONEY}),
            )
        proof = _PROOFS.get(HeldRefund.Proof(row.proof)) if row.proof else None
        if proof and row.destination_address:
            yield TimelineStep(
                row.updated_at,
                "check",
                GOOD,
                gettext(proof),
                format_html('<bdi class="mono">{}</bdi>', shown_address(row.destination_address)),
                rank=5,
                kinds=frozenset({PEOPLE}),
            )


def view_steps(viewed_at: datetime | None) -> Iterator[TimelineStep]:
    """The customer, or anyone who has the link, opened the checkout."""
    if viewed_at is not None:
        yield TimelineStep(
            viewed_at,
            "arrow-top-right-on-square",
            QUIET,
            gettext("Checkout opened for the first time"),
            rank=1,
            kinds=frozenset({PEOPLE}),
        )


def email_steps(emails: Iterable[OutgoingMail]) -> Iterator[TimelineStep]:
    """Steps of emails: a reader knows the address, or doesn't learn it here."""
    for email in emails:
        status = OutgoingMail.Status(email.status)
        words = EMAILED.get(email.template, EMAILED[REMINDER])[status]
        yield TimelineStep(
            email.sent_at or email.created_at,
            "envelope",
            EMAIL_TONES[status],
            gettext(words),
            format_html(gettext("To <bdi>{address}</bdi>"), address=masked(email.to)),
            rank=10,
            kinds=frozenset({PEOPLE}),
        )


def delivery_steps(deliveries: Iterable[Delivery]) -> Iterator[TimelineStep]:
    for delivery in deliveries:
        tone, words = DELIVERED.get(
            Delivery.Status(delivery.status), (WAIT, gettext_noop("Webhook pending"))
        )
        parts = [
            (f"HTTP {delivery.response_status}" if delivery.response_status else delivery.failure),
            f"{delivery.duration_ms} ms" if delivery.duration_ms is not None else "",
            gettext("attempt {number}").format(number=delivery.attempts)
            if delivery.attempts > 1
            else "",
            delivery.endpoint.url[:60],
        ]
        text = " · ".join(part for part in parts if part)
        links = (
            TimelineLink(
                gettext("View endpoint"),
                reverse("dashboard:webhook_endpoint", args=[delivery.endpoint_id]),
            ),
        )
        title = format_html('{} <span class="mono">{}</span>', gettext(words), delivery.event.type)
        yield TimelineStep(
            delivery.delivered_at or delivery.created_at,
            "code-bracket",
            tone,
            title,
            text,
            links=links,
            rank=9,
            kinds=frozenset({WEBHOOKS}),
        )
