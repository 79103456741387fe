"""Search results of records that are mostly found by their IDs (apps.dashboard.searching.results
has the others)."""

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.access.models import AgentCredential, RequestEntry
from apps.agents.models import Mandate
from apps.billing.models import Price
from apps.chain.models import UnmatchedTransfer
from apps.core.searching import SearchTerm
from apps.core.templatetags.tillgate import crypto, fiat
from apps.core.text.wording import translated
from apps.dashboard.developers.events import ShownEvent
from apps.dashboard.searching.results import SearchHit
from apps.dashboard.tables.cells import ends_of
from apps.payouts.models import Destination, PayoutBatch, Schedule
from apps.payouts.services.destinations import title
from apps.reports.models import Report
from apps.stores.models import Store
from apps.webhooks.models import Event

_FREQUENCIES: dict[str, str] = {
    Schedule.Frequency.DAILY: gettext_noop("daily"),
    Schedule.Frequency.WEEKLY: gettext_noop("weekly"),
    Schedule.Frequency.MONTHLY: gettext_noop("monthly"),
}


def _url(name: str, id: object) -> str:
    return reverse(f"dashboard:{name}", args=[str(id)])


def of_transfer(transfer: UnmatchedTransfer, term: SearchTerm) -> SearchHit:
    asset = transfer.asset
    return SearchHit(
        gettext("Transfer on {network}").format(network=transfer.chain.name),
        _url("transfer", transfer.pk),
        gettext("from {address}").format(address=ends_of(transfer.from_address)),
        crypto(transfer.amount_atomic, asset.atomic_decimals, asset.coin_symbol) if asset else "",
        at=transfer.detected_at,
        is_exact=True,
    )


def of_destination(destination: Destination, term: SearchTerm) -> SearchHit:
    """In the list."""
    name = title(destination)
    return SearchHit(
        destination.label or name,
        reverse("dashboard:payout_destinations"),
        name if destination.label else "",
    )


def of_schedule(schedule: Schedule, term: SearchTerm) -> SearchHit:
    return SearchHit(
        f"{translated(schedule.asset.full_name)}, {gettext(_FREQUENCIES[schedule.frequency])}",
        _url("payout_schedule", schedule.pk),
        gettext("Active") if schedule.is_active else gettext("Paused"),
        is_exact=True,
    )


def of_batch(batch: PayoutBatch, term: SearchTerm) -> SearchHit:
    return SearchHit(
        batch.filename,
        _url("payout_batch", batch.pk),
        noun="payout_batch",
        status=batch.status,
        at=batch.created_at,
        is_exact=True,
    )


def of_agent(agent: AgentCredential, term: SearchTerm) -> SearchHit:
    """In the list."""
    return SearchHit(
        agent.name or gettext("Agent"), reverse("dashboard:agents"), f"{agent.token_prefix}…"
    )


def of_mandate(mandate: Mandate, term: SearchTerm) -> SearchHit:
    asset = mandate.asset
    return SearchHit(
        mandate.mandate_ref,
        _url("mandate", mandate.pk),
        mandate.credential.name or mandate.credential.token_prefix,
        crypto(mandate.total_cap_atomic, asset.atomic_decimals, asset.coin_symbol),
        "mandate",
        mandate.status,
        mandate.created_at,
        is_exact=True,
    )


def of_account(account: Store, term: SearchTerm) -> SearchHit:
    return SearchHit(
        account.name,
        _url("platform_account", account.pk),
        account.external_id or "",
        is_exact=term.is_exact,
    )


def of_report(report: Report, term: SearchTerm) -> SearchHit:
    """In the list."""
    return SearchHit(
        report.get_report_type_display(),
        reverse("dashboard:reports"),
        f"{report.period_from} – {report.period_to}",
        noun="report",
        status=report.status,
        at=report.created_at,
    )


def of_price(price: Price, term: SearchTerm) -> SearchHit:
    """On the page of its product."""
    return SearchHit(
        price.product.name,
        _url("product", price.product_id),
        price.get_interval_display() if price.interval else "",
        fiat(price.unit_amount_cents, price.currency),
        is_exact=True,
    )


def of_event(event: Event, term: SearchTerm) -> SearchHit:
    return SearchHit(
        ShownEvent(event).words,
        _url("event", event.pk),
        event.type,
        at=event.created_at,
        is_exact=True,
    )


def of_request(entry: RequestEntry, term: SearchTerm) -> SearchHit:
    return SearchHit(
        f"{entry.method} {entry.path}",
        _url("request_entry", entry.pk),
        f"{entry.status} · {entry.credential_name or entry.credential_kind}",
        at=entry.created_at,
        is_exact=True,
    )
