"""Events of a store, and a delivery of one to an endpoint: the body that was sent, its headers, and
what each attempt brought."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_noop

from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import is_uuid
from apps.core.searching import NEWEST_MAX
from apps.core.templatetags.clocks import store_time
from apps.core.templatetags.tillgate import fiat
from apps.core.text.wording import translated
from apps.core.web.forms import typographic
from apps.dashboard.platform.platforms import ACCOUNTS_SHOWN
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, sentences, show
from apps.dashboard.tables import cells
from apps.dashboard.tables.cells import address_of
from apps.dashboard.tables.files import events_file
from apps.dashboard.tables.filters import searched
from apps.dashboard.tables.paging import window
from apps.platforms.selectors import accounts_of
from apps.stores.models import Store
from apps.webhooks import formats, selectors, signing
from apps.webhooks.catalogue import EVENTS
from apps.webhooks.models import Delivery, Endpoint, Event
from apps.webhooks.reasons import failure_words
from apps.webhooks.samples import SAMPLE_ID
from apps.webhooks.services import deliveries
from apps.webhooks.subjects import EventSubject, subjects_of

# Made anew for each attempt with the signing secret, and not kept.
SIGNED = ("Service-Signature", "webhook-id", "webhook-timestamp", "webhook-signature")
_SIGNED_BY_FORMAT: Mapping[str, Sequence[str]] = {
    Endpoint.Format.TILLGATE: SIGNED,
    Endpoint.Format.BTCPAY: (formats.SIGNATURE,),
    Endpoint.Format.BITPAY: (),
}


# The pages of what events are about, of the store's own and of a platform's sub-merchants.
_PAGES = {"payment": "payment", "invoice": "invoice", "subscription": "subscription"}
_PAGES_OF_ACCOUNTS = {"payment": "platform_payment"}
_KINDS = {
    "payment": gettext_noop("payment"),
    "invoice": gettext_noop("invoice"),
    "subscription": gettext_noop("subscription"),
    "store": gettext_noop("store"),
}


@dataclass(frozen=True)
class ShownEvent:
    """An event, and what happened in words; of a platform's sub-merchant with its name."""

    event: Event
    account: str = ""
    subject: EventSubject | None = None

    @cached_property
    def url(self) -> str:
        """The page of the record, where the store has one."""
        subject = self.subject
        if subject is None or not is_uuid(subject.record_id) or subject.record_id == SAMPLE_ID:
            return ""
        page = _PAGES.get(subject.kind)
        if page is None:
            return ""
        if self.event.account_id:
            page = _PAGES_OF_ACCOUNTS.get(subject.kind, "")
        return address_of(page, subject.record_id) if page else ""

    @property
    def row(self) -> SafeString:
        """Its row of the list."""
        subject = self.subject
        below = format_html('<span class="mono">{}</span>', self.event.type)
        if self.account:
            below = format_html("{} · <bdi>{}</bdi>", below, self.account)
        amount = label = ""
        if subject is not None and subject.amount_cents is not None:
            amount = fiat(subject.amount_cents, subject.currency)
            label = format_html(' data-label="{}"', gettext("Amount"))
        return format_html(
            '<tr><th class="wide-cell" scope="row"><a class="row-link" href="{}">{}</a><br>'
            '<span class="small muted">{}</span></th><td data-label="{}">{}</td>'
            '<td class="number"{}>{}</td><td class="nowrap muted">{}</td></tr>',
            address_of("event", self.event.pk),
            self.words,
            below,
            gettext("About"),
            self.about,
            label,
            amount,
            store_time(self.event.created_at, self.event.pk, seconds=True),
        )

    @property
    def about(self) -> SafeString:
        """Subject of the event, as a link where it has a page."""
        subject = self.subject
        if subject is None or not (subject.name or self.url):
            return cells.NONE
        if self.url:
            name = format_html(
                '<a class="mono" href="{}"><bdi>{}</bdi></a>',
                self.url,
                subject.name or gettext("View"),
            )
        else:
            name = format_html("<bdi>{}</bdi>", subject.name)
        if not subject.note:
            return name
        return cells.two_lines(
            name, format_html("<bdi>{}</bdi>", Truncator(subject.note).chars(40))
        )

    @property
    def kind_words(self) -> str:
        return translated(_KINDS.get(self.subject.kind, self.subject.kind)) if self.subject else ""

    @property
    def words(self) -> str:
        """Its type, if a later release recorded one that isn't known here."""
        return typographic(translated(EVENTS.get(self.event.type, self.event.type)))


@dataclass(frozen=True)
class ShownAttempt:
    """An attempt; `number` counts within its series."""

    number: int
    at: datetime | None
    is_arrived: bool
    response_status: int | None
    duration_ms: int | None
    error: str | None
    answer: str | None

    @property
    def failure(self) -> str:
        """The error in words."""
        return failure_words(self.error)


def index(request: PageRequest) -> HttpResponse:
    filters = _filters(request)
    page = window(selectors.filtered_events(request.access, **filters), request.GET, filters)
    context = {
        "window": page,
        "events": _shown(page.rows),
        "filters": filters,
        "export_query": urlencode({name: value for name, value in filters.items() if value}),
        "types": [(type, typographic(translated(words))) for type, words in EVENTS.items()],
        "accounts": _accounts(request),
        "newest_max": NEWEST_MAX,
        "is_filtered": any(filters.values()),
        "is_empty": not page.rows and not any(filters.values()) and "page" not in request.GET,
    }
    return show(request, "dashboard/events/list.html", context)


def _shown(rows: Sequence[Event]) -> list[ShownEvent]:
    """One question for the names of all, and one for what they are about."""
    subjects = subjects_of(rows)
    ids = {event.account_id for event in rows if event.account_id}
    names = dict(Store.objects.filter(pk__in=ids).values_list("pk", "name")) if ids else {}
    return [
        ShownEvent(
            event,
            names.get(event.account_id, "") if event.account_id else "",
            subjects.get(event.pk),
        )
        for event in rows
    ]


def _filters(request: PageRequest) -> dict[str, str]:
    """Filters in the address. What it can't mean is left out."""
    type = request.GET.get("type", "")
    account_id = request.GET.get("account_id", "")
    return {
        "type": type if type in EVENTS else "",
        "account_id": account_id if is_uuid(account_id) else "",
        "q": searched(request.GET),
    }


def _accounts(request: PageRequest) -> list[tuple[str, str]]:
    """A platform's sub-merchants, to choose one of."""
    if not request.access.store.is_platform:
        return []
    rows = accounts_of(request.access).values_list("pk", "name")
    return [(str(pk), name) for pk, name in rows[:ACCOUNTS_SHOWN]]


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    rows = selectors.filtered_events(request.access, **_filters(request))
    return _FILE.of(request, rows)


_FILE = events_file(lambda event: ShownEvent(event).words)


def show_event(request: PageRequest, id: str) -> HttpResponse:
    event: Event = find(selectors.event_bodies(request.access), id)
    context = {
        "event": event,
        "words": ShownEvent(event).words,
        "about": _shown([event])[0],
        "body": _readable(_body(event, "")),
        "deliveries": selectors.deliveries_of(event),
    }
    return show(request, "dashboard/events/detail.html", context)


def delivery(request: PageRequest, id: str, delivery_id: str) -> HttpResponse:
    """A POST sends it again."""
    endpoint: Endpoint = find(selectors.endpoints(request.access).select_related("store"), id)
    if request.method == "POST":
        return _resend(request, endpoint, delivery_id)
    row: Delivery = find(selectors.deliveries(endpoint), delivery_id)
    event: Event = find(selectors.event_bodies(request.access), str(row.event_id))
    raw = _delivered(row, endpoint, event)
    context = {
        "endpoint": endpoint,
        "delivery": row,
        "words": ShownEvent(event).words,
        "attempts": _attempts(row),
        "is_retryable": deliveries.is_retryable(endpoint, row),
        "headers": signing.plain_headers(
            row.pk, event.pk, event.type, max(row.attempts, 1)
        ).items(),
        "signed": _SIGNED_BY_FORMAT[endpoint.format],
        "body": _readable(raw),
        "raw": raw,
        "is_open": row.status in (Delivery.Status.PENDING, Delivery.Status.ATTEMPTING),
    }
    return show(request, "dashboard/webhook_endpoints/delivery.html", context)


def _delivered(row: Delivery, endpoint: Endpoint, event: Event) -> str:
    """Exactly what the endpoint is sent."""
    if endpoint.format == Endpoint.Format.TILLGATE:
        return _body(event, endpoint.api_version)
    return formats.body(
        endpoint.format,
        delivery_id=row.pk,
        endpoint_id=endpoint.pk,
        store_id=row.store_id,
        type=event.type,
        created=int(event.created_at.timestamp()),
        object_json=str(event.object_json),  # type: ignore[attr-defined]  # annotated by the selector
    ).decode()


def _resend(request: PageRequest, endpoint: Endpoint, delivery_id: str) -> HttpResponse:
    try:
        deliveries.redeliver(endpoint, delivery_id, request.access.now())
    except Refusals as refusal:
        if isinstance(refusal, Failure) and refusal.kind is RefusalKind.NOT_FOUND:
            raise
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(request, gettext("The event is being resent. Reload to see the response."))
    return go("delivery", endpoint.pk, delivery_id)


def _body(event: Event, api_version: str) -> str:
    """Exactly what an endpoint of this version is sent."""
    raw = signing.body(
        event_id=event.pk,
        type=event.type,
        created=int(event.created_at.timestamp()),
        is_live=event.is_live,
        api_version=api_version or signing.newest_version(),
        account_id=event.account_id,
        object_json=str(event.object_json),  # type: ignore[attr-defined]  # annotated by the selector
    )
    return raw.decode()


def _readable(raw: str) -> str:
    return json.dumps(json.loads(raw), indent=2, ensure_ascii=False)


def _attempts(delivery: Delivery) -> list[ShownAttempt]:
    """Newest first: the one that arrived, which the delivery tells, then those that failed."""
    failed = [
        ShownAttempt(
            attempt.number,
            attempt.at,
            False,
            attempt.response_status,
            attempt.duration_ms,
            attempt.error,
            attempt.response_body,
        )
        for attempt in selectors.failed_attempts(delivery)
    ]
    last = ShownAttempt(
        delivery.attempts,
        delivery.delivered_at,
        True,
        delivery.response_status,
        delivery.duration_ms,
        None,
        delivery.response_body,
    )
    if delivery.status == Delivery.Status.DELIVERED:
        return [last, *failed]
    if not failed and delivery.attempts:  # of before attempts were kept one by one
        return [
            ShownAttempt(
                delivery.attempts,
                None,
                False,
                delivery.response_status,
                delivery.duration_ms,
                delivery.error,
                delivery.response_body,
            )
        ]
    return failed
