"""Django's and Prometheus' middleware, without what a request of the API pays for in vain."""

from collections.abc import Callable
from typing import Any

from django.contrib.messages.middleware import MessageMiddleware
from django.http import HttpRequest
from django_prometheus.middleware import PrometheusAfterMiddleware

from apps.core.web.middleware import API_PREFIX


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
