from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.core import clock
from apps.webhooks.delivery import dispatcher, queue
from apps.webhooks.delivery.sender import WebhookSender
from apps.webhooks.models import Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services import endpoints
from tests.cast import Shop
from tests.webhooks.receivers import Receiver


@pytest.fixture(autouse=True)
def _local_receivers(settings: Any) -> None:
    settings.WEBHOOK_ALLOW_HOSTS = ["127.0.0.1"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    yield one
    one.close()


@pytest.fixture
def register(bakery: Shop) -> Callable[..., tuple[Endpoint, str]]:
    """Make an endpoint of the bakery's test mode; it and its secret."""

    def make(
        url: str, *events: str, shop: Shop = bakery, mode: str = "test", **fields: Any
    ) -> tuple[Endpoint, str]:
        made = endpoints.register_endpoint(
            shop.access(mode), EndpointRequest(url=url, subscribed_events=list(events), **fields)
        )
        return made.endpoint, made.secret

    return make


@pytest.fixture
def deliver() -> Iterator[Callable[[], None]]:
    """Send everything that is due, as the job does, and wait for the outcome."""
    with WebhookSender() as sender:

        def run() -> None:
            queue.tidy(clock.real_now())
            dispatcher.drain(sender)

        yield run
