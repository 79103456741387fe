"""Audit log: who did what to this store, in both modes, newest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.assets.audit_details import Coins, all_coins, detail_lines
from apps.core.acting import ActorKind
from apps.core.templatetags.tillgate import email_text
from apps.core.text.wording import translated, translated_pairs
from apps.dashboard.site.views import Answer, PageRequest, show
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.columns import text_column, time_column
from apps.dashboard.tables.lists import Column, Listing, listing
from apps.dashboard.tables.paging import window
from apps.stores.auditing import audit
from apps.stores.models import AuditEntry, User

_NOUNS = {
    "": _("All"),
    "api_key": _("API keys"),
    "agent_credential": _("Agent credentials"),
    "oauth_app": _("Apps"),
    "webhook_endpoint": _("Webhook endpoints"),
    "member": _("Team"),
    "invitation": _("Invitations"),
    "store": _("Settings"),
    "asset": _("Accepted coins"),
    "payment": _("Payments"),
    "refund": _("Refunds"),
    "late_deposit": _("Late deposits"),
    "swap": _("Swaps"),
    "auto_swap": _("Automatic swaps"),
    "payout": _("Payouts"),
    "payout_destination": _("Payout destinations"),
    "customer": _("Customers"),
    "product": _("Products"),
    "price": _("Prices"),
    "subscription": _("Subscriptions"),
    "invoice": _("Invoices"),
    "staff": _("Staff"),
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
        "nouns": translated_pairs(_NOUNS.items()),
        "is_filtered": bool(filters),
    }
    return show(request, "dashboard/audit_log/list.html", context)


def export(request: PageRequest) -> Answer:
    """The filtered log as CSV, newest first."""
    return AUDIT_LOG.csv(request, _rows(request, _filters(request)))


def _filters(request: PageRequest) -> dict[str, str]:
    """Filters in the address. What it can't mean is left out."""
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
        entry.target_name if coin is None else translated(coin.full_name),
        [*detail_lines(entry.details, coins, entry.target_name), *_command(entry)],
        person,
    )


def _command(entry: AuditEntry) -> list[tuple[str, str]]:
    """The operator's command, and the person on the server; the merchant's actor is Tillgate."""
    return [(gettext("Command"), entry.actor_name)] if entry.actor_kind == ActorKind.COMMAND else []


def _event(line: AuditLine) -> SafeString:
    entry = line.entry
    mode = (
        format_html(' <span class="badge plain">{}</span>', translated(entry.mode).capitalize())
        if entry.mode
        else ""
    )
    below = [Truncator(text).chars(length) for text, length in _texts_below(line)]
    return format_html(
        '<span title="{}">{}</span>{}{}{}',
        entry.action,
        translated(entry.title),
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
    return [
        *((translated(name), text) for name, text in line.details),
        *([(gettext("Reason"), reason)] if is_cut else []),
    ]


def _details(details: list[tuple[str, str]]) -> SafeString:
    if not details:
        return SafeString("")
    facts = format_html_join("", "<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>", details)
    return format_html(
        '<details class="more small"><summary>{}</summary><dl class="facts">{}</dl></details>',
        gettext("Details"),
        facts,
    )


def _actor(line: AuditLine) -> SafeString:
    entry = line.entry
    is_command = entry.actor_kind == ActorKind.COMMAND
    kind = ActorKind.SYSTEM if is_command else entry.actor_kind
    name = "" if is_command else entry.actor_name
    badge = (
        format_html(' <span class="badge plain">{}</span>', translated(kind).capitalize())
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
                _("Event"),
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
                _("Actor"),
                _actor,
                {
                    "actor": lambda line: line.entry.actor_name,
                    "actor_kind": lambda line: line.entry.actor_kind,
                },
                on_phone=True,
            ),
            text_column("ip_address", _("IP address"), lambda line: line.entry.address),
            time_column(
                "time",
                _("Time"),
                lambda line: line.entry.at,
                name="at",
                is_default=True,
                on_phone=True,
            ),
            Column(
                "target_id",
                _("Record"),
                lambda line: _code(line.entry.target_id),
                {
                    "target_type": lambda line: line.entry.target_type,
                    "target_id": lambda line: line.entry.target_id,
                },
                is_default=False,
            ),
            text_column(
                "request_id", _("Request ID"), lambda line: line.entry.request_id, is_default=False
            ),
            Column(
                "id",
                _("Number"),
                lambda line: _code(line.entry.pk),
                {"id": lambda line: line.entry.pk},
                is_default=False,
            ),
        ),
        _read,
    )
)
