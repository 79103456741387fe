from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from apps.core import clock
from apps.stores.services import change_store
from apps.webhooks.delivery import dispatcher, queue
from apps.webhooks.delivery.sender import WebhookSender
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
def deliver() -> Iterator[Callable[[], None]]:
    with WebhookSender() as sender:

        def run() -> None:
            queue.tidy(clock.real_now())
            dispatcher.drain(sender)

        yield run


@dataclass
class Greenfield:
    """Calls of a store's own paths, as BTCPay's clients make them."""

    shop: Shop
    credential: str

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        content = {} if body is None else {"data": body, "content_type": "application/json"}
        sent = {"Authorization": f"token {self.credential}", **headers}
        address = f"/compat/btcpay/api/v1{path.replace('{}', str(self.shop.store.pk))}"
        return getattr(Client(), method)(address, headers=sent, **content)

    def get(self, path: str, **headers: str) -> Any:
        return self("get", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self("post", path, {} if body is None else body, **headers)

    def invoice(self, **fields: Any) -> dict[str, Any]:
        body = {"amount": "12.50", "currency": "EUR", **fields}
        answer = self.post("/stores/{}/invoices", body)
        assert answer.status_code == 200, answer.content
        made: dict[str, Any] = answer.json()
        return made

    def pay(self, invoice: dict[str, Any], **body: Any) -> None:
        path = f"/payments/{invoice['id']}/simulated_payments"
        answer = self.shop.test.post(path, {"confirmations": 100, **body})
        assert answer.status_code == 201, answer.content


@pytest.fixture
def greenfield(bakery: Shop) -> Greenfield:
    change_store(bakery.store, has_compatible_apis=True)
    return Greenfield(bakery, bakery.secrets["test"])
