"""The request id on every answer and log line, who is taken to act, from where, and what answers
may load.

A request begins with nobody's rows (core.db.tenancy), whatever ran before it.
"""

import ipaddress
import re
import uuid
from collections.abc import Callable
from typing import Any

from csp.middleware import CSPMiddleware
from django.conf import settings
from django.contrib.messages.middleware import MessageMiddleware
from django.http import FileResponse, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django_prometheus.middleware import PrometheusAfterMiddleware

from apps.core.acting import Actor, ActorKind, acting
from apps.core.db import tenancy
from apps.core.process.logs import request_id

_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
API_PREFIX = "/api/"
Handler = Callable[[HttpRequest], HttpResponseBase]


class RequestId:
    """Keeps a sane incoming `X-Request-Id`, else makes one."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        header = request.headers.get("X-Request-Id", "")
        identifier = header if _REQUEST_ID.fullmatch(header) else uuid.uuid4().hex
        mark = request_id.set(identifier)
        try:
            with (
                acting(Actor(ActorKind.VISITOR, address=exact_address(request))),
                tenancy.within(tenancy.NOBODY),
            ):
                response = self.get_response(request)
                if isinstance(response, StreamingHttpResponse) and not isinstance(
                    response, FileResponse
                ):
                    response.streaming_content = tenancy.scoped(response.streaming_content)  # type: ignore[arg-type]  # ours aren't asynchronous
        finally:
            request_id.reset(mark)
        response["X-Request-Id"] = identifier
        return response


class ContentSecurityPolicy(CSPMiddleware):
    """The pages' policy, and one for the API that never changes: its answers are data, from which
    nothing is loaded."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not request.path.startswith(API_PREFIX):
            return super().process_response(request, response)
        response.setdefault("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        return response


class PageMessages(MessageMiddleware):
    """Django's messages, which are shown on pages: the API has none."""

    def process_request(self, request: HttpRequest) -> None:
        if not request.path.startswith(API_PREFIX):
            super().process_request(request)


class RequestFigures(PrometheusAfterMiddleware):  # type: ignore[misc]  # it has no types
    """Keeps the figure of each set of labels, which prometheus_client looks for ten times a
    request. It keeps as many itself."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)
        self._figures: dict[tuple[Any, ...], Any] = {}

    def label_metric(
        self, metric: Any, request: HttpRequest, response: Any = None, **labels: str
    ) -> Any:
        if not labels:
            return metric
        key = (metric, *labels.values())
        figure = self._figures.get(key)
        if figure is None:
            figure = self._figures[key] = metric.labels(**labels)
        return figure


def exact_address(request: HttpRequest) -> str:
    """The client's address; behind known proxies the entry they added. Empty when it is none.

    An IPv4 address that a socket for both kinds tells as `::ffff:a.b.c.d` is that IPv4 address.
    """
    hops: int = settings.TRUSTED_PROXY_HOPS
    text = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = [
        part.strip()
        for part in request.headers.get("X-Forwarded-For", "").split(",")
        if part.strip()
    ]
    if hops and len(forwarded) >= hops:
        text = forwarded[-hops]
    return plain_address(text)


def plain_address(text: str) -> str:
    """An address in its one spelling; empty when it is none."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def client_address(request: HttpRequest) -> str:
    """The address to count by: IPv6 by its /64. What has none (a local socket) is counted
    together."""
    text = exact_address(request)
    return str(ipaddress.ip_network((text, 64), strict=False)) if ":" in text else text
