"""Webhook endpoints: listed, added, one with its deliveries; on, off, a new secret, a test, sending
again, deleting."""

from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils import timezone

from apps.core.messages.fields import Invalid
from apps.core.web.forms import Form, typographic
from apps.dashboard.list_files import DELIVERIES
from apps.dashboard.plumbing import (
    Answer,
    PageRequest,
    Refusals,
    find,
    go,
    next_url,
    sentences,
    show,
)
from apps.webhooks import selectors
from apps.webhooks.catalogue import (
    EVENTS,
    PAYMENT_EVENTS,
    TEST_ONLY,
    TEST_ONLY_NOTE,
    open_to,
)
from apps.webhooks.models import Endpoint
from apps.webhooks.requests import EndpointRequest, ResendRequest
from apps.webhooks.services import deliveries, endpoints

SHOWN = 50
_LOOPBACK = ("localhost", "127.0.0.1")
_MINUTE = "%Y-%m-%dT%H:%M"  # as an input of date and time has it


def _find(request: PageRequest, id: str) -> Endpoint:
    endpoint: Endpoint = find(selectors.endpoints(request.access).select_related("store"), id)
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
    labels = {"url": "URL", "description": "Description", "subscribed_events": "Events"}

    def read(self) -> tuple[EndpointRequest, dict[str, Invalid]]:
        """What is asked for, as far as it can be read, and what is wrong about the rest."""
        return EndpointRequest.read_all({**self.values, **self.chosen})


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
    return _page(request, _find(request, id), ResendForm.of_the_hour_before(request.access.now()))


def _page(request: PageRequest, endpoint: Endpoint, form: ResendForm) -> HttpResponse:
    rows = selectors.recent_deliveries(endpoint, SHOWN)
    context = {
        "endpoint": endpoint,
        "deliveries": [(row, deliveries.is_retryable(endpoint, row)) for row in rows],
        "offered_events": open_to(endpoint.store.is_platform),
        "form": form,
        "errors": form.common_errors,
    }
    return show(request, "dashboard/webhook_endpoints/detail.html", context, status=form.status)


def switch(request: PageRequest, id: str) -> HttpResponse:
    """On or off."""
    endpoint = _find(request, id)
    at = request.access.now()
    if request.POST.get("to") == "active":
        endpoints.enable_endpoint(endpoint, at, by=request.access)
        messages.success(request, "Endpoint enabled. It receives new events.")
    else:
        endpoints.disable_endpoint(endpoint, at, by=request.access)
        messages.success(request, "Endpoint disabled. It receives no events.")
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
    messages.success(request, "Endpoint deleted.")
    return go("webhook_endpoints")


def send_test(request: PageRequest, id: str) -> HttpResponse:
    endpoint = _find(request, id)
    try:
        deliveries.send_test(endpoint, request.POST.get("event_type") or None, request.access.now())
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(request, "Test event sent. Reload to see the response.")
    return go("webhook_endpoint", endpoint.pk)


def resend(request: PageRequest, id: str) -> HttpResponse:
    """Everything between two moments again, for a receiver that was down."""
    endpoint = _find(request, id)
    form = ResendForm.from_post(request.POST)
    try:
        count = deliveries.resend_range(endpoint, form.request(), request.access.now())
    except Refusals as refusal:
        return _page(request, endpoint, form.refuse(refusal))
    messages.success(
        request,
        f"Resending {count} event{'' if count == 1 else 's'}."
        if count
        else "There are no events to resend in this period.",
    )
    return go("webhook_endpoint", endpoint.pk)


def _form(request: PageRequest, form: EndpointForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "local_hosts": [host for host in settings.WEBHOOK_ALLOW_HOSTS if host in _LOOPBACK],
        "offered_events": [
            (event, typographic(EVENTS[event]))
            for event in open_to(request.access.store.is_platform)
            if event not in TEST_ONLY
        ],
        "test_events": [
            (event, typographic(EVENTS[event].removesuffix(TEST_ONLY_NOTE))) for event in TEST_ONLY
        ],
    }
    return show(request, "dashboard/webhook_endpoints/create.html", context, status=form.status)
