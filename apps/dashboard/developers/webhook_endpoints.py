"""Webhook endpoints: listed, added, one with its deliveries; changed, on, off, a new secret, a
test, sending again, deleting."""

from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_noop as _

from apps.core.messages.fields import Invalid
from apps.core.text.wording import translated
from apps.core.web.forms import Form, typographic
from apps.dashboard.site.views import (
    Answer,
    PageRequest,
    Refusals,
    find,
    go,
    next_url,
    sentences,
    show,
)
from apps.dashboard.tables.failing import last_failure, worst_delivery
from apps.dashboard.tables.files import DELIVERIES
from apps.dashboard.tables.paging import window
from apps.webhooks import selectors
from apps.webhooks.attention import with_worst
from apps.webhooks.catalogue import (
    EVENTS,
    PAYMENT_EVENTS,
    TEST_ONLY,
    open_to,
)
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.requests import EndpointChanges, EndpointRequest, ResendRequest
from apps.webhooks.services import deliveries, endpoints

TOOLS = ("test", "resend")
_LOOPBACK = ("localhost", "127.0.0.1")
_MINUTE = "%Y-%m-%dT%H:%M"  # as an input of date and time has it


def _find(request: PageRequest, id: str) -> Endpoint:
    rows = with_worst(selectors.endpoints(request.access).select_related("store"))
    endpoint: Endpoint = find(rows, id)
    return endpoint


def index(request: PageRequest) -> HttpResponse:
    return show(
        request,
        "dashboard/webhook_endpoints/list.html",
        {"endpoints": selectors.with_success_rates(request.access)},
    )


def export_deliveries(request: PageRequest, id: str) -> Answer:
    """The deliveries of an endpoint as CSV, newest first."""
    rows = selectors.deliveries(_find(request, id)).defer("event__object", "response_body")
    return DELIVERIES.of(request, rows, id)


class EndpointForm(Form):
    names = ("url", "description", "subscribed_events")
    lists = ("subscribed_events",)
    labels = {"url": "URL", "description": _("Description"), "subscribed_events": _("Events")}

    @classmethod
    def of(cls, endpoint: Endpoint) -> Self:
        return cls(
            {"url": endpoint.url, "description": endpoint.description},
            {"subscribed_events": endpoint.subscribed_events},
        )

    def read(self) -> tuple[EndpointRequest, dict[str, Invalid]]:
        """Readable values of the endpoint, and the errors of the others."""
        return EndpointRequest.read_all({**self.values, **self.chosen})

    def read_changes(self) -> tuple[EndpointChanges, dict[str, Invalid]]:
        """Changes of an endpoint, and the rule that each wrong field breaks."""
        return EndpointChanges.read_all({**self.values, **self.chosen})


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, EndpointForm({}, {"subscribed_events": PAYMENT_EVENTS}))
    form = EndpointForm.from_post(request.POST)
    try:
        registration = endpoints.register_endpoint(request.access, *form.read())
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    return show(
        request,
        "dashboard/webhook_endpoints/secret.html",
        {"endpoint": registration.endpoint, "secret": registration.secret},
        status=201,
    )


def edit(request: PageRequest, id: str) -> HttpResponse:
    """Another URL, other events, another description; its secret stays."""
    endpoint = _find(request, id)
    if request.method == "GET":
        return _edit_form(request, endpoint, EndpointForm.of(endpoint))
    form = EndpointForm.from_post(request.POST)
    try:
        endpoints.update_endpoint(request.access, endpoint, *form.read_changes())
    except Refusals as refusal:
        return _edit_form(request, endpoint, form.refuse(refusal))
    messages.success(request, gettext("Endpoint saved."))
    return go("webhook_endpoint", endpoint.pk)


def _edit_form(request: PageRequest, endpoint: Endpoint, form: EndpointForm) -> HttpResponse:
    context = {"endpoint": endpoint, **_fields(request, form)}
    return show(request, "dashboard/webhook_endpoints/edit.html", context, status=form.status)


class ResendForm(Form):
    """A stretch of time in whole minutes, by the reader's clock."""

    names = ("from", "to")

    @classmethod
    def of_the_hour_before(cls, now: datetime) -> Self:
        own = timezone.localtime(now)
        return cls(
            {"from": (own - timedelta(hours=1)).strftime(_MINUTE), "to": own.strftime(_MINUTE)}
        )

    def request(self) -> ResendRequest:
        """Raises Invalid."""
        first, last = (self._moment(name) for name in self.names)
        if last < first:
            raise Invalid("to", "range_order")
        return ResendRequest(first, last.replace(second=59, microsecond=999_999))

    def _moment(self, name: str) -> datetime:
        try:
            return datetime.strptime(self.values[name], _MINUTE).replace(
                tzinfo=timezone.get_current_timezone()
            )
        except ValueError:
            raise Invalid(name, "choose_range") from None


def show_one(request: PageRequest, id: str) -> HttpResponse:
    """The endpoint with its deliveries; `tool` opens the form of one of its tools."""
    tool = request.GET.get("tool", "")
    form = ResendForm.of_the_hour_before(request.access.now())
    return _page(request, _find(request, id), form, tool if tool in TOOLS else "")


def _page(
    request: PageRequest, endpoint: Endpoint, form: ResendForm, tool: str = ""
) -> HttpResponse:
    status = request.GET.get("status", "")
    filters = {"status": status if status in Delivery.Status.values else ""}
    page = window(selectors.filtered_deliveries(endpoint, **filters), request.GET, filters)
    context = {
        "endpoint": endpoint,
        "rate": selectors.success_rate(endpoint),
        "window": page,
        "deliveries": [(row, deliveries.is_retryable(endpoint, row)) for row in page.rows],
        "filters": filters,
        "statuses": Delivery.Status.values,
        "tool": tool,
        "warning": _warning(endpoint),
        "offered_events": open_to(request.access.store.is_platform),
        "form": form,
        "errors": form.common_errors,
    }
    return show(request, "dashboard/webhook_endpoints/detail.html", context, status=form.status)


def _warning(endpoint: Endpoint) -> str:
    """Warning that names the order whose event is about to turn the endpoint off, or did; empty
    without one."""
    if endpoint.status == Endpoint.Status.ERROR:
        return last_failure(endpoint)
    is_failing = endpoint.status == Endpoint.Status.ACTIVE and endpoint.worst  # type: ignore[attr-defined]  # annotated by _find
    return worst_delivery(endpoint) if is_failing else ""


def switch(request: PageRequest, id: str) -> HttpResponse:
    """On or off."""
    endpoint = _find(request, id)
    at = request.access.now()
    if request.POST.get("to") == "active":
        endpoints.enable_endpoint(endpoint, at, by=request.access)
        messages.success(request, gettext("Endpoint enabled. It receives new events."))
    else:
        endpoints.disable_endpoint(endpoint, at, by=request.access)
        messages.success(request, gettext("Endpoint disabled. It receives no events."))
    return (
        HttpResponseRedirect(next_url(request), status=303)
        if request.POST.get("next")
        else go("webhook_endpoint", endpoint.pk)
    )


def rotate(request: PageRequest, id: str) -> HttpResponse:
    endpoint = _find(request, id)
    if request.method == "GET":
        return show(request, "dashboard/webhook_endpoints/rotate.html", {"endpoint": endpoint})
    try:
        secret = endpoints.rotate_secret(endpoint, request.access.now(), by=request.access)
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
        return go("webhook_endpoint", endpoint.pk)
    return show(
        request,
        "dashboard/webhook_endpoints/secret.html",
        {"endpoint": endpoint, "secret": secret, "is_rotated": True},
    )


def delete(request: PageRequest, id: str) -> HttpResponse:
    endpoint = _find(request, id)
    if request.method == "GET":
        return show(request, "dashboard/webhook_endpoints/delete.html", {"endpoint": endpoint})
    endpoints.delete_endpoint(endpoint, request.access.now(), by=request.access)
    messages.success(request, gettext("Endpoint deleted."))
    return go("webhook_endpoints")


def send_test(request: PageRequest, id: str) -> HttpResponse:
    endpoint = _find(request, id)
    try:
        deliveries.send_test(endpoint, request.POST.get("event_type") or None, request.access.now())
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(request, gettext("Test event sent. Reload to see the response."))
    return go("webhook_endpoint", endpoint.pk)


def resend(request: PageRequest, id: str) -> HttpResponse:
    """Everything between two moments again, for a receiver that was down."""
    endpoint = _find(request, id)
    form = ResendForm.from_post(request.POST)
    try:
        count = deliveries.resend_range(endpoint, form.request(), request.access.now())
    except Refusals as refusal:
        return _page(request, endpoint, form.refuse(refusal), "resend")
    messages.success(
        request,
        ngettext("Resending {count} event.", "Resending {count} events.", count).format(count=count)
        if count
        else gettext("There are no events to resend in this period."),
    )
    return go("webhook_endpoint", endpoint.pk)


def missed(request: PageRequest, id: str) -> HttpResponse:
    """Send everything of the last 30 days that hasn't reached the endpoint."""
    endpoint = _find(request, id)
    try:
        sent = deliveries.resend_missed(endpoint, None, request.access.now())
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
        return go("webhook_endpoint", endpoint.pk)
    done = (
        ngettext(
            "Sending {count} event that was missed.",
            "Sending {count} events that were missed.",
            sent.number,
        ).format(count=sent.number)
        if sent.number
        else gettext("No event was missed in the last 30 days.")
    )
    more = gettext("There are more: send what is missed again.") if sent.has_more else ""
    messages.success(request, f"{done} {more}".rstrip())
    return go("webhook_endpoint", endpoint.pk)


def _form(request: PageRequest, form: EndpointForm) -> HttpResponse:
    context = _fields(request, form)
    return show(request, "dashboard/webhook_endpoints/create.html", context, status=form.status)


def _fields(request: PageRequest, form: EndpointForm) -> dict[str, object]:
    return {
        "form": form,
        "errors": form.common_errors,
        "local_hosts": [host for host in settings.WEBHOOK_ALLOW_HOSTS if host in _LOOPBACK],
        "offered_events": [
            (event, typographic(translated(EVENTS[event])))
            for event in open_to(request.access.store.is_platform)
            if event not in TEST_ONLY
        ],
        "test_events": [
            (event, typographic(translated(EVENTS[event]).partition(" (")[0]))
            for event in TEST_ONLY
        ],
    }
