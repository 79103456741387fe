"""Everything that happened to a payment as one timeline, newest first: its history, the first look
at its checkout, coins, refunds, cards, emails, webhooks and who acted.

It is made of what the page has read anyway; nothing here asks the database.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop

from apps.chain.models import Deposit
from apps.chain.networks.families import shown_address
from apps.core.badges import BAD, GOOD, INFO, QUIET
from apps.core.models import OutgoingMail
from apps.core.templatetags.tillgate import crypto, fiat, status_tone, status_words
from apps.core.text.wording import translated
from apps.dashboard.payment.refunds import ShownRefund
from apps.dashboard.payment.timeline_steps import (
    CHAIN,
    KINDS,
    MONEY,
    PEOPLE,
    TimelineLink,
    TimelineStep,
    delivery_steps,
    email_steps,
    held_steps,
    view_steps,
)
from apps.dashboard.payment.timeline_words import (
    ACCEPTED,
    ACCEPTED_BY,
    CONFIRMED,
    CONFIRMING,
    DETECTED,
    FAILED,
    Arrived,
    arrived_as,
    by_name,
    confirmations_done,
    confirmations_so_far,
    simulated_note,
)
from apps.onramp.models import FundingSession
from apps.payments import states
from apps.payments.documents.deposits import arrivals, heads_for
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
class TimelineFacts:
    """Facts of a payment for its timeline. `entries` are the lines of the audit log about it; names
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
    viewed_at: datetime | None = None

    @property
    def payment(self) -> Payment:
        return self.whole.payment

    def acts(self, action: str) -> list[AuditEntry]:
        """Oldest first."""
        return sorted(
            (entry for entry in self.entries if entry.action == action), key=lambda entry: entry.pk
        )

    def by(self, entry: AuditEntry | None) -> str:
        """The name of who did it, where the reader may know."""
        return entry.actor_name if entry and self.is_naming else ""


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


def timeline_of(story: TimelineFacts, limit: int = SHOWN, kind: str = "") -> Timeline:
    every = [
        *_events(story),
        *view_steps(story.viewed_at),
        *_deposits(story),
        *_refunds(story),
        *held_steps(story.held),
        *_cards(story.cards),
        *delivery_steps(story.deliveries),
        *_renewals(story.renewals),
        *email_steps(story.emails),
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
    offered = {
        "": gettext("All"),
        **{kind: gettext(label) for kind, label in KINDS.items() if kind in present},
    }
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


_CANCELED = (gettext_noop("Payment canceled"), gettext_noop("Payment canceled by {name}"))


def _events(story: TimelineFacts) -> Iterator[TimelineStep]:
    """Steps of the history, without those that the deposits show better."""
    accepted = iter(story.acts(ACCEPTED_EVENT))
    kinds = {
        str(arrival.deposit.pk): arrived_as(arrival)
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
                by_name(*_CANCELED, story.by(canceled)),
                rank=4,
                kinds=_BY_PEOPLE,
            )
            continue
        if event.event_type == ACCEPTED_EVENT:
            kind = kinds.get(event.payload.get("deposit_id", ""), Arrived.DEPOSIT)
            words = by_name(ACCEPTED[kind], ACCEPTED_BY[kind], story.by(next(accepted, None)))
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


def _deposits(story: TimelineFacts) -> Iterator[TimelineStep]:
    whole = story.whole
    every = arrivals(whole.payment, whole.received, whole.others)
    heads = heads_for([arrival.deposit for arrival in every])
    for arrival in every:
        deposit = arrival.deposit
        asset = deposit.asset
        kind = arrived_as(arrival)
        amount = crypto(deposit.amount_atomic, asset.atomic_decimals, asset.coin_symbol)
        note = simulated_note(deposit.is_simulated)
        text = format_html(
            gettext('{amount} on {network} from <bdi class="mono">{address}</bdi>{note}'),
            amount=amount,
            network=asset.chain.name,
            address=shown_address(deposit.from_address),
            note=note,
        )
        links = _explorer(
            asset.chain.explorer_url, deposit.tx_hash, is_real=not deposit.is_simulated
        )
        yield TimelineStep(
            deposit.detected_at,
            "arrow-down-tray",
            INFO,
            gettext(DETECTED[kind]),
            text,
            deposit.tx_hash,
            links,
            rank=1,
            kinds=_ON_CHAIN,
        )
        if deposit.confirmed_at:
            done = confirmations_done(deposit)
            yield TimelineStep(
                deposit.confirmed_at,
                "check",
                GOOD,
                gettext(CONFIRMED[kind]),
                format_html("{} · {}", amount, done) if done else amount,
                rank=3,
                kinds=_SETTLED,
            )
        elif deposit.status in (Deposit.Status.CONFIRMING, Deposit.Status.UNMATCHED):
            waits = confirmations_so_far(deposit, confirmations_of(deposit, heads))
            yield TimelineStep(
                deposit.detected_at,
                "clock",
                INFO,
                gettext(CONFIRMING[kind]),
                format_html("{} · {}", amount, waits),
                rank=3,
                kinds=_ON_CHAIN,
            )
        if deposit.failed_at:
            yield TimelineStep(
                deposit.failed_at,
                "x-mark",
                BAD,
                gettext(FAILED[kind]),
                format_html(gettext("{amount} is ignored"), amount=amount),
                rank=3,
                kinds=_ON_CHAIN,
            )


_REFUND_REASONS = {
    Refund.Reason.FAILED_OVERPAID: gettext_noop("Automatic refund because it was overpaid"),
    Refund.Reason.FAILED_UNDERPAID: gettext_noop("Automatic refund because it was underpaid"),
}
_REQUESTED = (gettext_noop("Refund requested"), gettext_noop("Refund requested by {name}"))


def _refunds(story: TimelineFacts) -> Iterator[TimelineStep]:
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
        note = simulated_note(refund.is_simulated)
        text = format_html(
            gettext('{amount} on {network} to <bdi class="mono">{address}</bdi>{note}'),
            amount=amount,
            network=refund.asset.chain.name,
            address=item.to_address,
            note=note,
        )
        why = _REFUND_REASONS.get(Refund.Reason(refund.reason), "")
        maker = story.by(makers.get(str(refund.pk)))
        title = gettext(why) if why else by_name(*_REQUESTED, maker)
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
                gettext("Refund sent"),
                amount,
                refund.tx_hash or "",
                links,
                rank=6,
                kinds=_ON_CHAIN,
            )
        if refund.status == Refund.Status.CONFIRMED:
            yield TimelineStep(
                refund.updated_at,
                "check",
                GOOD,
                gettext("Refund confirmed"),
                amount,
                rank=7,
                kinds=_SETTLED,
            )
        elif refund.status == Refund.Status.FAILED:
            reason = translated(refund.failure_reason)
            yield TimelineStep(
                refund.updated_at,
                "x-mark",
                BAD,
                gettext("Refund failed"),
                reason,
                rank=7,
                kinds=_SETTLED,
            )


def _cards(sessions: Iterable[FundingSession]) -> Iterator[TimelineStep]:
    for session in sessions:
        text = format_html(
            gettext("{amount} with {method} through {provider}"),
            amount=fiat(session.amount_cents, session.currency),
            method=session.method_name,
            provider=session.provider_name,
        )
        yield TimelineStep(
            session.created_at,
            "credit-card",
            QUIET,
            gettext("Card payment started"),
            text,
            kinds=_OF_MONEY,
        )
        if session.paid_at:
            number = (
                gettext("Provider ID {number}").format(number=session.provider_txid)
                if session.provider_txid
                else ""
            )
            yield TimelineStep(
                session.paid_at,
                "credit-card",
                GOOD,
                gettext("Card charged"),
                number,
                rank=1,
                kinds=_OF_MONEY,
            )


def _renewals(renewals: Renewals) -> Iterator[TimelineStep]:
    """Steps of renewals, which the API leaves out: two payments are one order."""
    if renewals.before is not None:
        earlier = renewals.before.earlier
        links = (
            TimelineLink(
                gettext("View expired payment"), reverse("dashboard:payment", args=[earlier.pk])
            ),
        )
        text = format_html(
            gettext('Replaces <span class="mono">{reference}</span>'), reference=earlier.reference
        )
        yield TimelineStep(
            renewals.before.created_at,
            "arrow-path",
            QUIET,
            gettext("New quote for an expired payment"),
            text,
            links=links,
            rank=1,
            kinds=_BY_CUSTOMER,
        )
    if renewals.after is not None:
        later = renewals.after.later
        links = (
            TimelineLink(
                gettext("View new payment"), reverse("dashboard:payment", args=[later.pk])
            ),
        )
        text = format_html(
            gettext('Continued as <span class="mono">{reference}</span>'), reference=later.reference
        )
        yield TimelineStep(
            renewals.after.created_at,
            "arrow-path",
            QUIET,
            gettext("Customer requested a new quote"),
            text,
            links=links,
            rank=5,
            kinds=_BY_CUSTOMER,
        )


def _notes(story: TimelineFacts) -> Iterator[TimelineStep]:
    for entry in story.acts(NOTED):
        yield TimelineStep(
            entry.at,
            "pencil",
            INFO,
            gettext("Note by {name}").format(name=entry.actor_name),
            format_html("<bdi>{}</bdi>", entry.reason),
            rank=10,
            kinds=_BY_CUSTOMER,
        )


def _explorer(base: str, tx_hash: str, *, is_real: bool) -> tuple[TimelineLink, ...]:
    return (
        (TimelineLink(gettext("View transaction"), f"{base}/tx/{tx_hash}", is_outside=True),)
        if base and tx_hash and is_real
        else ()
    )
