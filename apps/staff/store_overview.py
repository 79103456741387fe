"""Overview at the top of a store's page: what is open and what is suspended, its cards,
verification, balances, payments and payouts, each with where to go on. A bounded number of rows,
however much the store has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from apps.agents.models import AgentSettings, AuthorizationProvider, CheckoutSignatures
from apps.core.models import Mode
from apps.core.templatetags.tillgate import badge, fiat, moment
from apps.payments.models import Payment
from apps.staff.pages import may
from apps.staff.payouts import balances_of, payouts_of
from apps.stores import staff_roles
from apps.stores.models import StaffRequest, Store, Verification
from apps.stores.selectors import latest_verification
from apps.stores.staff import suspensions
from apps.stores.staff.suspensions import Suspension

PAYMENTS_MAX = 5


@dataclass(frozen=True)
class StateLine:
    """How one thing is now, and what a press would make of it: a link to what would change."""

    name: str
    value: Any
    url: str = ""
    action: str = ""
    about: str = ""  # what the action is about, for who hears the page


@dataclass(frozen=True)
class OverviewPart:
    title: str
    lines: Sequence[StateLine]
    links: Sequence[tuple[str, str]] = ()
    without: str = ""


def sections_of(store: Store, request: HttpRequest) -> list[OverviewPart]:
    """Of an archive of test data, which nothing is decided about, what it is and has."""
    if store.archive_of_id is not None:
        return [_status(store, is_allowed=False), _more(store)]
    return [
        _status(store, may(request, staff_roles.SUSPENSION)),
        _cards(store, may(request, staff_roles.DISPATCH)),
        _verification(store, may(request, staff_roles.BUSINESS_VERIFY)),
        _balances(store),
        _payments(store),
        _payouts(store),
        _agents(store, may(request, staff_roles.DISPATCH)),
        _more(store),
    ]


def asking(kind: str, **query: object) -> str:
    """The page on which a change is asked for."""
    page = reverse("admin:stores_staffrequest_ask", args=[kind])
    return f"{page}?{urlencode(query)}"


def _found(list_name: str, store: Store, **query: object) -> str:
    """A list of the store's."""
    page = reverse(f"admin:{list_name}_changelist")
    return f"{page}?{urlencode({'q': store.pk, **query})}"


def _status(store: Store, is_allowed: bool) -> OverviewPart:
    waiting = StaffRequest.objects.filter(
        kind=suspensions.SUSPENSION.name,
        target_id__in=suspensions.targets_of(store),
        state=StaffRequest.State.PENDING,
    )
    pending = {row.target_id: row for row in waiting}
    closed = store.deleted_at
    account = badge("store", "closed" if closed else "open")
    lines = [StateLine("Account", account)]
    origin = store.archive_of
    if origin is not None:
        page = reverse("admin:stores_store_change", args=[origin.pk])
        lines.append(StateLine("Past test data of", origin.name, page, "Open", "the store"))
        return OverviewPart("Status", lines)
    if store.platform is not None:
        page = reverse("admin:stores_store_change", args=[store.platform.pk])
        lines.append(StateLine("Platform", store.platform.name, page, "Open", "the platform"))
    for part in Suspension:
        own = getattr(store, suspensions.column_of(part))
        is_on = suspensions.is_suspended(store, part)
        value = badge("store", "suspended" if is_on else "open")
        row = pending.get(suspensions.target_of(store, part))
        if row is not None:
            page = reverse("admin:stores_staffrequest_decide", args=[row.pk])
            lines.append(StateLine(part.label, value, page, "Review request", part.label))
            continue
        state = "active" if own else "suspended"
        verb = "Resume" if own else "Suspend"
        url = asking("suspension", store=store.pk, part=part.value, state=state, review=1)
        lines.append(StateLine(part.label, value, *_offered(is_allowed, url, verb), part.label))
    return OverviewPart("Status", lines)


def _offered(is_allowed: bool, url: str, verb: str) -> tuple[str, str]:
    return (url, verb) if is_allowed else ("", "")


def _cards(store: Store, is_allowed: bool) -> OverviewPart:
    lines = []
    for mode, column in (("Live mode", "card_funding_live"), ("Test mode", "card_funding_test")):
        is_on = getattr(store, column)
        url = asking("cards", store=store.pk, review=1, **{column: "off" if is_on else "on"})
        verb = "Turn off" if is_on else "Turn on"
        offered = _offered(is_allowed, url, verb)
        lines.append(StateLine(mode, _on_or_off(is_on), *offered, f"cards in {mode.lower()}"))
    links = [("Card payments", _found("onramp_fundingsession", store))]
    return OverviewPart("Card funding", lines, links)


def _on_or_off(is_on: bool) -> str:
    return badge("store", "on" if is_on else "off")


def _verification(store: Store, is_allowed: bool) -> OverviewPart:
    row = latest_verification(store)
    confirmed = store.kyc_confirmed_at
    status = "approved" if confirmed else "not_started" if row is None else row.status
    lines = [StateLine("Business", badge("verification", status))]
    if confirmed is not None:
        lines.append(StateLine("Verified", moment(confirmed)))
    links: list[tuple[str, str]] = []
    if row is not None:
        lines.append(StateLine("Legal name", row.business_legal_name))
        if row.submitted_at is not None:
            lines.append(StateLine("Submitted", moment(row.submitted_at)))
        is_waiting = row.status == Verification.Status.PENDING
        page = "decide" if is_waiting and is_allowed else "change"
        words = "Review" if page == "decide" else "Open verification"
        links.append((words, reverse(f"admin:stores_verification_{page}", args=[row.pk])))
    return OverviewPart("Verification", lines, links)


def _balances(store: Store) -> OverviewPart:
    section = balances_of(store, Mode.LIVE)
    lines = [StateLine(name, value) for name, value in section.facts]
    links = [("Ledger accounts", _found("ledger_account", store))]
    return OverviewPart("Live balances", lines, links, section.without)


def _payments(store: Store) -> OverviewPart:
    rows = Payment.objects.filter(store=store, mode=Mode.LIVE)
    lines = [
        StateLine(
            fiat(row.settlement_amount_cents, row.settlement_currency),
            badge("payment", row.status),
            reverse("admin:payments_payment_change", args=[row.pk]),
            "Open",
            row.reference,
        )
        for row in rows.order_by("-created_at", "-id")[:PAYMENTS_MAX]
    ]
    links = [("All payments", _found("payments_payment", store, days="all"))]
    return OverviewPart("Latest live payments", lines, links, "No live payment yet.")


def _payouts(store: Store) -> OverviewPart:
    section = payouts_of(store, Mode.LIVE)
    lines = [StateLine(name, value) for name, value in section.facts]
    links = [
        ("All payouts", _found("payouts_payout", store, days="all")),
        ("Payout limits", _found("payouts_storepayoutcap", store)),
    ]
    return OverviewPart("Live payouts", lines, links)


def _agents(store: Store, is_allowed: bool) -> OverviewPart:
    chosen = AgentSettings.of(store)
    provider = AuthorizationProvider(chosen.authorization_provider).label
    lines = [
        StateLine("x402 payments on-chain", _on_or_off(chosen.x402_dispatch)),
        StateLine("Authorization", provider),
        StateLine("Signatures at checkout", CheckoutSignatures(chosen.checkout_signatures).label),
    ]
    links = [("Change agents", asking("agents", store=store.pk))] if is_allowed else []
    links.append(("Agent credentials", _found("access_agentcredential", store)))
    return OverviewPart("Agents", lines, links)


def _more(store: Store) -> OverviewPart:
    links = [
        ("Invoices", _found("billing_invoice", store)),
        ("API keys", _found("access_apikey", store)),
        ("Webhook endpoints", _found("webhooks_endpoint", store)),
        ("Audit log", _found("stores_auditentry", store)),
    ]
    return OverviewPart("More", (), links)
