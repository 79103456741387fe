"""Everything that happened to a payment as one timeline, newest first: its history, coins, refunds,
cards, emails, webhooks and who acted.

It is made of what the page has read anyway; nothing here asks the database.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.urls import reverse
from django.utils.html import format_html

from apps.chain.addresses import checksummed
from apps.chain.models import Deposit
from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT
from apps.core.emails import masked
from apps.core.models import OutgoingMail
from apps.core.templatetags.tillgate import crypto, fiat, status_tone, status_words
from apps.dashboard.refunds import ShownRefund
from apps.dashboard.timeline_steps import (
    CHAIN,
    KINDS,
    MONEY,
    PEOPLE,
    WEBHOOKS,
    TimelineLink,
    TimelineStep,
    held_steps,
)
from apps.onramp.models import FundingSession
from apps.payments import states
from apps.payments.documents.deposits import Arrival, arrivals, heads_for
from apps.payments.lost_coins import LOST_EVENT
from apps.payments.models import HeldRefund, Payment, PaymentEvent, Refund
from apps.payments.selectors import Renewals, confirmations_of
from apps.payments.services.cancel import CANCELED
from apps.payments.services.late import ACCEPTED_EVENT
from apps.payments.services.notes import NOTED
from apps.payments.snapshot import PaymentSnapshot
from apps.stores.models import AuditEntry
from apps.webhooks.models import Delivery

SHOWN = 100
SHOWN_MAX = 2000


@dataclass(frozen=True)
class Story:
    """What there is to tell of a payment. `entries` are the lines of the audit log about it; names
    in them are for who may see them."""

    whole: PaymentSnapshot
    refunds: Sequence[ShownRefund] = ()
    deliveries: Sequence[Delivery] = ()
    cards: Sequence[FundingSession] = ()
    entries: Sequence[AuditEntry] = ()
    renewals: Renewals = field(default_factory=Renewals)
    emails: Sequence[OutgoingMail] = ()
    is_naming: bool = False
    held: Sequence[HeldRefund] = ()

    @property
    def payment(self) -> Payment:
        return self.whole.payment

    def acts(self, action: str) -> list[AuditEntry]:
        """Oldest first."""
        return sorted(
            (entry for entry in self.entries if entry.action == action), key=lambda entry: entry.pk
        )

    def by(self, entry: AuditEntry | None) -> str:
        return f" by {entry.actor_name}" if entry and self.is_naming and entry.actor_name else ""


@dataclass(frozen=True)
class Filter:
    """A link that shows the steps of one kind; without a kind all of them."""

    kind: str
    label: str
    is_current: bool


@dataclass(frozen=True)
class Timeline:
    """`total` counts what the chosen kind has; `filters` are those that would show something."""

    steps: list[TimelineStep] = field(default_factory=list)
    total: int = 0
    kind: str = ""
    filters: list[Filter] = field(default_factory=list)

    @property
    def has_more(self) -> bool:
        return self.total > len(self.steps)


def timeline_of(story: Story, limit: int = SHOWN, kind: str = "") -> Timeline:
    every = [
        *_events(story),
        *_deposits(story),
        *_refunds(story),
        *held_steps(story.held),
        *_cards(story.cards),
        *_deliveries(story.deliveries),
        *_renewals(story.renewals),
        *_emails(story.emails),
        *_notes(story),
    ]
    chosen = kind if kind in KINDS else ""
    steps = [step for step in every if not chosen or chosen in step.kinds]
    numbered = sorted(
        enumerate(steps), key=lambda pair: (pair[1].at, pair[1].rank, pair[0]), reverse=True
    )
    newest = [step for _, step in numbered[:limit]]
    return Timeline(newest, len(steps), chosen, _filters(every, chosen))


def _filters(every: Sequence[TimelineStep], chosen: str) -> list[Filter]:
    """None where all steps are of the same kinds: there is nothing to choose."""
    if not chosen and len({step.kinds for step in every}) < 2:
        return []

    present = {kind for step in every for kind in step.kinds} | {chosen}
    offered = {"": "All", **{kind: label for kind, label in KINDS.items() if kind in present}}
    return [Filter(kind, label, kind == chosen) for kind, label in offered.items()]


_EVENT_ICONS = {
    states.CREATED_EVENT: "plus",
    states.EVENTS[states.COMPLETED]: "check",
    states.EVENTS[states.PROCESSING]: "arrow-path",
    states.EVENTS[states.FAILED]: "x-mark",
    states.EVENTS[states.REFUNDED]: "arrow-uturn-left",
    states.UNDERPAID_EVENT: "exclamation-triangle",
    ACCEPTED_EVENT: "check",
    LOST_EVENT: "exclamation-circle",
}


_ON_CHAIN = frozenset({CHAIN})
_OF_MONEY = frozenset({MONEY})
_BY_PEOPLE = frozenset({MONEY, PEOPLE})
_BY_CUSTOMER = frozenset({PEOPLE})
_SETTLED = frozenset({CHAIN, MONEY})
_EVENT_RANKS = {
    states.CREATED_EVENT: 0,
    states.EVENTS[states.PROCESSING]: 2,  # a deposit is seen, then the payment has it
    states.EVENTS[states.REFUNDED]: 8,
}


def _events(story: Story) -> Iterator[TimelineStep]:
    """What the deposits themselves say better is left to them."""
    accepted = iter(story.acts(ACCEPTED_EVENT))
    nouns = {
        str(arrival.deposit.pk): _noun(arrival)
        for arrival in arrivals(story.payment, story.whole.received, story.whole.others)
    }
    canceled = next(iter(story.acts(CANCELED)), None)
    for event in story.whole.history:
        if event.event_type.startswith("transaction."):
            continue
        if canceled is not None and event.event_type == states.EVENTS[states.EXPIRED]:
            yield TimelineStep(
                event.created_at,
                "x-mark",
                QUIET,
                f"Payment canceled{story.by(canceled)}",
                rank=4,
                kinds=_BY_PEOPLE,
            )
            continue
        if event.event_type == ACCEPTED_EVENT:
            noun = nouns.get(event.payload.get("deposit_id", ""), "Deposit")
            words = f"{noun} accepted{story.by(next(accepted, None))}"
        else:
            words = status_words("payment_event", event.event_type)
        yield _event(event, words)


def _event(event: PaymentEvent, words: str) -> TimelineStep:
    return TimelineStep(
        event.created_at,
        _EVENT_ICONS.get(event.event_type, "clock"),
        status_tone("payment_event", event.event_type),
        words,
        code=event.payload.get("tx_hash", "") if event.event_type == LOST_EVENT else "",
        rank=_EVENT_RANKS.get(event.event_type, 4),
        kinds=_BY_PEOPLE if event.event_type == ACCEPTED_EVENT else _OF_MONEY,
    )


def _noun(arrival: Arrival) -> str:
    if arrival.is_unexpected:
        return "Deposit in another coin"
    return "Late deposit" if arrival.is_late else "Deposit"


def _deposits(story: Story) -> Iterator[TimelineStep]:
    whole = story.whole
    every = arrivals(whole.payment, whole.received, whole.others)
    heads = heads_for([arrival.deposit for arrival in every])
    for arrival in every:
        deposit = arrival.deposit
        asset = deposit.asset
        late = _noun(arrival)
        amount = crypto(deposit.amount_atomic, asset.atomic_decimals, asset.coin_symbol)
        note = " · simulated" if deposit.is_simulated else ""
        text = format_html(
            '{} on {} from <bdi class="mono">{}</bdi>{}',
            amount,
            asset.chain.name,
            checksummed(deposit.from_address),
            note,
        )
        links = _explorer(
            asset.chain.explorer_url, deposit.tx_hash, is_real=not deposit.is_simulated
        )
        yield TimelineStep(
            deposit.detected_at,
            "arrow-down-tray",
            INFO,
            f"{late} detected",
            text,
            deposit.tx_hash,
            links,
            rank=1,
            kinds=_ON_CHAIN,
        )
        if deposit.confirmed_at:
            done = (
                f"{deposit.required_confirmations} confirmations"
                if deposit.required_confirmations != 1
                else "1 confirmation"
            )
            yield TimelineStep(
                deposit.confirmed_at,
                "check",
                GOOD,
                f"{late} confirmed",
                format_html("{} · {}", amount, done),
                rank=3,
                kinds=_SETTLED,
            )
        elif deposit.status in (Deposit.Status.CONFIRMING, Deposit.Status.UNMATCHED):
            waits = (
                f"{min(confirmations_of(deposit, heads), deposit.required_confirmations)} of"
                f" {deposit.required_confirmations} confirmations"
            )
            yield TimelineStep(
                deposit.detected_at,
                "clock",
                INFO,
                f"{late} confirming",
                format_html("{} · {}", amount, waits),
                rank=3,
                kinds=_ON_CHAIN,
            )
        if deposit.failed_at:
            yield TimelineStep(
                deposit.failed_at,
                "x-mark",
                BAD,
                f"{late} failed",
                format_html("{} is ignored", amount),
                rank=3,
                kinds=_ON_CHAIN,
            )


_REFUND_REASONS = {
    Refund.Reason.FAILED_OVERPAID: "because it was overpaid",
    Refund.Reason.FAILED_UNDERPAID: "because it was underpaid",
}


def _refunds(story: Story) -> Iterator[TimelineStep]:
    makers = {
        id: entry
        for entry in story.acts("refund.requested")
        for id in entry.details.get("refunds", [])
    }
    for item in story.refunds:
        refund = item.refund
        amount = crypto(
            refund.amount_atomic, refund.asset.atomic_decimals, refund.asset.coin_symbol
        )
        note = " · simulated" if refund.is_simulated else ""
        text = format_html(
            '{} on {} to <bdi class="mono">{}</bdi>{}',
            amount,
            refund.asset.chain.name,
            item.to_address,
            note,
        )
        why = _REFUND_REASONS.get(Refund.Reason(refund.reason), "")
        title = (
            f"Automatic refund {why}"
            if why
            else f"Refund requested{story.by(makers.get(str(refund.pk)))}"
        )
        yield TimelineStep(
            refund.created_at,
            "arrow-uturn-left",
            INFO,
            title,
            text,
            rank=5,
            kinds=_OF_MONEY if why else _BY_PEOPLE,
        )
        links = _explorer(
            refund.asset.chain.explorer_url, refund.tx_hash or "", is_real=not refund.is_simulated
        )
        if refund.submitted_at:
            yield TimelineStep(
                refund.submitted_at,
                "paper-airplane",
                INFO,
                "Refund sent",
                amount,
                refund.tx_hash or "",
                links,
                rank=6,
                kinds=_ON_CHAIN,
            )
        if refund.status == Refund.Status.CONFIRMED:
            yield TimelineStep(
                refund.updated_at, "check", GOOD, "Refund confirmed", amount, rank=7, kinds=_SETTLED
            )
        elif refund.status == Refund.Status.FAILED:
            reason = refund.failure_reason or ""
            yield TimelineStep(
                refund.updated_at, "x-mark", BAD, "Refund failed", reason, rank=7, kinds=_SETTLED
            )


def _cards(sessions: Iterable[FundingSession]) -> Iterator[TimelineStep]:
    for session in sessions:
        text = format_html(
            "{} with {} through {}",
            fiat(session.amount_cents, session.currency),
            session.method_name,
            session.provider_name,
        )
        yield TimelineStep(
            session.created_at, "credit-card", QUIET, "Card payment started", text, kinds=_OF_MONEY
        )
        if session.paid_at:
            number = f"Provider ID {session.provider_txid}" if session.provider_txid else ""
            yield TimelineStep(
                session.paid_at,
                "credit-card",
                GOOD,
                "Card charged",
                number,
                rank=1,
                kinds=_OF_MONEY,
            )


def _renewals(renewals: Renewals) -> Iterator[TimelineStep]:
    """What the API doesn't tell: that two payments are one order."""
    if renewals.before is not None:
        earlier = renewals.before.earlier
        links = (
            TimelineLink("View expired payment", reverse("dashboard:payment", args=[earlier.pk])),
        )
        text = format_html('Replaces <span class="mono">{}</span>', earlier.reference)
        yield TimelineStep(
            renewals.before.created_at,
            "arrow-path",
            QUIET,
            "New quote for an expired payment",
            text,
            links=links,
            rank=1,
            kinds=_BY_CUSTOMER,
        )
    if renewals.after is not None:
        later = renewals.after.later
        links = (TimelineLink("View new payment", reverse("dashboard:payment", args=[later.pk])),)
        text = format_html('Continued as <span class="mono">{}</span>', later.reference)
        yield TimelineStep(
            renewals.after.created_at,
            "arrow-path",
            QUIET,
            "Customer requested a new quote",
            text,
            links=links,
            rank=5,
            kinds=_BY_CUSTOMER,
        )


_EMAILS = {
    "payment_receipt": "Receipt",
    "refund_address": "Question for a refund address",
    "invoice_receipt": "Invoice receipt",
    "invoice_open": "Invoice",
}
_EMAILED = {
    OutgoingMail.Status.QUEUED: (WAIT, "waiting to be emailed"),
    OutgoingMail.Status.SENT: (GOOD, "emailed"),
    OutgoingMail.Status.FAILED: (BAD, "could not be emailed"),
    OutgoingMail.Status.DROPPED: (QUIET, "not emailed: too many were sent that day"),
    OutgoingMail.Status.SHOWN: (QUIET, "shown under Test emails, not sent"),
}


def _emails(emails: Iterable[OutgoingMail]) -> Iterator[TimelineStep]:
    """Whoever reads it knows the address, or doesn't learn it here."""
    for email in emails:
        tone, words = _EMAILED[OutgoingMail.Status(email.status)]
        yield TimelineStep(
            email.sent_at or email.created_at,
            "envelope",
            tone,
            f"{_EMAILS.get(email.template, 'Reminder')} {words}",
            format_html("To <bdi>{}</bdi>", masked(email.to)),
            rank=10,
            kinds=_BY_CUSTOMER,
        )


def _notes(story: Story) -> Iterator[TimelineStep]:
    for entry in story.acts(NOTED):
        yield TimelineStep(
            entry.at,
            "pencil",
            INFO,
            f"Note by {entry.actor_name}",
            format_html("<bdi>{}</bdi>", entry.reason),
            rank=10,
            kinds=_BY_CUSTOMER,
        )


_DELIVERED = {
    Delivery.Status.DELIVERED: (GOOD, "Webhook delivered"),
    Delivery.Status.FAILED: (BAD, "Webhook failed"),
    Delivery.Status.IGNORED: (QUIET, "Webhook not sent"),
}


def _deliveries(deliveries: Iterable[Delivery]) -> Iterator[TimelineStep]:
    for delivery in deliveries:
        tone, words = _DELIVERED.get(Delivery.Status(delivery.status), (WAIT, "Webhook pending"))
        parts = [
            (f"HTTP {delivery.response_status}" if delivery.response_status else delivery.failure),
            f"{delivery.duration_ms} ms" if delivery.duration_ms is not None else "",
            f"attempt {delivery.attempts}" if delivery.attempts > 1 else "",
            delivery.endpoint.url[:60],
        ]
        text = " · ".join(part for part in parts if part)
        links = (
            TimelineLink(
                "View endpoint", reverse("dashboard:webhook_endpoint", args=[delivery.endpoint_id])
            ),
        )
        title = format_html('{} <span class="mono">{}</span>', words, delivery.event.type)
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


def _explorer(base: str, tx_hash: str, *, is_real: bool) -> tuple[TimelineLink, ...]:
    return (
        (TimelineLink("View transaction", f"{base}/tx/{tx_hash}", is_outside=True),)
        if base and tx_hash and is_real
        else ()
    )
