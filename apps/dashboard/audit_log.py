"""Audit log: who did what to this store, in both modes, newest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from apps.assets.audit_details import Coins, all_coins, detail_lines
from apps.core.acting import ActorKind
from apps.core.templatetags.tillgate import email_text
from apps.dashboard import list_cells
from apps.dashboard.columns import text_column, time_column
from apps.dashboard.lists import Column, Listing, listing
from apps.dashboard.paging import window
from apps.dashboard.plumbing import Answer, PageRequest, show
from apps.stores import audit
from apps.stores.models import AuditEntry, User

_NOUNS = {
    "": "All",
    "api_key": "API keys",
    "agent_credential": "Agent credentials",
    "oauth_app": "Apps",
    "webhook_endpoint": "Webhook endpoints",
    "member": "Team",
    "invitation": "Invitations",
    "store": "Settings",
    "asset": "Accepted coins",
    "payment": "Payments",
    "refund": "Refunds",
    "late_deposit": "Late deposits",
    "swap": "Swaps",
    "auto_swap": "Automatic swaps",
    "payout": "Payouts",
    "payout_destination": "Payout destinations",
    "customer": "Customers",
    "product": "Products",
    "price": "Prices",
    "subscription": "Subscriptions",
    "invoice": "Invoices",
    "staff": "Staff",
}
_TEXT_MAX = 100
_TARGET_SHOWN = 80
_REASON_SHOWN = 160
_ACTOR_SHOWN = 60
_NAME_SHOWN = 40


def index(request: PageRequest) -> HttpResponse:
    filters = _filters(request)
    page = window(_rows(request, filters), request.GET, filters)
    context = {
        "table": AUDIT_LOG.table(request, page.rows, filters),
        "window": page,
        "filters": filters,
        "nouns": _NOUNS.items(),
        "is_filtered": bool(filters),
    }
    return show(request, "dashboard/audit_log/list.html", context)


def export(request: PageRequest) -> Answer:
    """The filtered log as CSV, newest first."""
    return AUDIT_LOG.csv(request, _rows(request, _filters(request)))


def _filters(request: PageRequest) -> dict[str, str]:
    """What the address asks for. What it can't mean is left out."""
    action = request.GET.get("action", "")
    actor = request.GET.get("actor", "").strip()[:_TEXT_MAX].replace("\x00", "")
    values = {"action": action if action in _NOUNS else "", "actor": actor}
    return {name: value for name, value in values.items() if value}


def _rows(request: PageRequest, filters: Mapping[str, str]) -> "QuerySet[AuditEntry]":
    return audit.entries(request.access.store_id, **filters)


@dataclass(frozen=True)
class AuditLine:
    """An entry, what it was about in words, what it says beside, and what the person calls
    themselves now."""

    entry: AuditEntry
    target: str
    details: list[tuple[str, str]]
    person: str = ""


def _read(
    request: PageRequest, entries: Sequence[AuditEntry], columns: frozenset[str]
) -> list[AuditLine]:
    coins = all_coins()
    people = _people(entries)
    return [_line(entry, coins, people.get(entry.actor_id, "")) for entry in entries]


def _people(entries: Sequence[AuditEntry]) -> dict[str, str]:
    ids = {entry.actor_id for entry in entries if entry.actor_kind == ActorKind.PERSON}
    names = User.objects.filter(pk__in=ids - {""}).values_list("pk", "name")
    return {str(pk): name for pk, name in names}


def _line(entry: AuditEntry, coins: Coins, person: str) -> AuditLine:
    coin = coins.get(entry.target_name)
    return AuditLine(
        entry,
        entry.target_name if coin is None else coin.full_name,
        [*detail_lines(entry.details, coins, entry.target_name), *_command(entry)],
        person,
    )


def _command(entry: AuditEntry) -> list[tuple[str, str]]:
    """What the operator ran, and who on the server; the merchant's actor is Tillgate."""
    return [("Command", entry.actor_name)] if entry.actor_kind == ActorKind.COMMAND else []


def _event(line: AuditLine) -> SafeString:
    entry = line.entry
    mode = (
        format_html(' <span class="badge plain">{}</span>', entry.mode.capitalize())
        if entry.mode
        else ""
    )
    below = [Truncator(text).chars(length) for text, length in _texts_below(line)]
    return format_html(
        '<span title="{}">{}</span>{}{}{}',
        entry.action,
        entry.title,
        mode,
        format_html_join(
            "",
            '<br><span class="small muted"><bdi>{}</bdi></span>',
            ((email_text(text),) for text in below),
        ),
        _details(_shown_details(line)),
    )


def _texts_below(line: AuditLine) -> list[tuple[str, int]]:
    texts = ((line.target, _TARGET_SHOWN), (line.entry.reason, _REASON_SHOWN))
    return [(text, length) for text, length in texts if text]


def _shown_details(line: AuditLine) -> list[tuple[str, str]]:
    """A reason that is cut above is whole here."""
    reason = line.entry.reason
    is_cut = len(reason) > _REASON_SHOWN
    return [*line.details, *([("Reason", reason)] if is_cut else [])]


def _details(details: list[tuple[str, str]]) -> SafeString:
    if not details:
        return SafeString("")
    facts = format_html_join("", "<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>", details)
    return format_html(
        '<details class="more small"><summary>Details</summary><dl class="facts">{}</dl></details>',
        facts,
    )


def _actor(line: AuditLine) -> SafeString:
    entry = line.entry
    is_command = entry.actor_kind == ActorKind.COMMAND
    kind = ActorKind.SYSTEM if is_command else entry.actor_kind
    name = "" if is_command else entry.actor_name
    badge = (
        format_html(' <span class="badge plain">{}</span>', kind.capitalize())
        if kind != ActorKind.PERSON
        else ""
    )
    known_by = email_text(Truncator(name or "Tillgate").chars(_ACTOR_SHOWN))
    if line.person:
        person = Truncator(line.person).chars(_NAME_SHOWN)
        markup = '<span class="person"><bdi>{}</bdi><br><bdi class="small muted">{}</bdi></span>'
        return format_html(markup, person, known_by)
    return format_html('<bdi class="person">{}</bdi>{}', known_by, badge)


def _code(text: object) -> SafeString:
    return format_html('<span class="mono small">{}</span>', text) if text else list_cells.NONE


AUDIT_LOG = listing(
    Listing(
        "audit_log",
        (
            Column(
                "event",
                "Event",
                _event,
                {
                    "action": lambda line: line.entry.action,
                    "event": lambda line: line.entry.title,
                    "target": lambda line: line.target,
                    "reason": lambda line: line.entry.reason,
                    "details": lambda line: "; ".join(
                        f"{name}: {value}" for name, value in line.details
                    ),
                    "mode": lambda line: line.entry.mode,
                },
                is_wide=True,
            ),
            Column(
                "actor",
                "Actor",
                _actor,
                {
                    "actor": lambda line: line.entry.actor_name,
                    "actor_kind": lambda line: line.entry.actor_kind,
                },
                on_phone=True,
            ),
            text_column("ip_address", "IP address", lambda line: line.entry.address),
            time_column(
                "time",
                "Time",
                lambda line: line.entry.at,
                name="at",
                is_default=True,
                on_phone=True,
            ),
            Column(
                "target_id",
                "Record",
                lambda line: _code(line.entry.target_id),
                {
                    "target_type": lambda line: line.entry.target_type,
                    "target_id": lambda line: line.entry.target_id,
                },
                is_default=False,
            ),
            text_column(
                "request_id", "Request ID", lambda line: line.entry.request_id, is_default=False
            ),
            Column(
                "id",
                "Number",
                lambda line: _code(line.entry.pk),
                {"id": lambda line: line.entry.pk},
                is_default=False,
            ),
        ),
        _read,
    )
)
