"""A request that meets a refund under way has that one for an answer, and can't be taken for
another refund."""

from typing import Any

import pytest

from apps.access import request_log
from apps.access.models import RequestEntry
from apps.payments.models import Refund
from apps.stores.auditing.audit import AuditEntry
from tests import make
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser, hidden_fields, text

FIRST = "0x" + "10" * 20
SECOND = "0x" + "11" * 20


@pytest.fixture
def payment(bakery: Shop) -> str:
    make.paid(bakery.test, amount="50.00")
    return str(make.paid(bakery.test, amount="20.00")["id"])


def ask(shop: Shop, payment: str, key: str, **fields: Any) -> Any:
    return shop.test.post(f"/payments/{payment}/refunds", fields, key=key)


def test_the_first_is_new_and_says_nothing_of_another(bakery: Shop, payment: str) -> None:
    first = ask(bakery, payment, "a", amount="0.004", destination_address=FIRST)
    assert (first.status_code, first.headers.get("Idempotent-Replayed")) == (201, None)
    assert "refund_in_progress" not in first.json()[0]


@pytest.mark.parametrize(
    "other",
    [
        {"amount": "0.003", "destination_address": FIRST},
        {"amount": "0.004", "destination_address": SECOND},
        {"amount": "0.004"},
        {"destination_address": FIRST},
        {},
    ],
)
def test_who_asks_for_something_else_is_told(
    bakery: Shop, payment: str, other: dict[str, str]
) -> None:
    first = ask(bakery, payment, "a", amount="0.004", destination_address=FIRST).json()[0]
    second = ask(bakery, payment, "b", **other)
    assert (second.status_code, second.headers["Idempotent-Replayed"]) == (201, "true")
    told = second.json()[0]
    assert told.pop("refund_in_progress") is True
    assert told["id"] == first["id"] and told["amount"] == "0.004"
    assert Refund.objects.count() == 1
    assert AuditEntry.objects.filter(action="refund.requested").count() == 1
    request_log.flush()
    entry = RequestEntry.objects.order_by("-created_at").first()
    assert entry is not None and entry.is_replay and entry.error_code == "refund_in_progress"


@pytest.mark.parametrize("asset", [{}, {"asset_id": "SETH"}])
def test_who_asks_for_the_same_has_it(bakery: Shop, payment: str, asset: dict[str, str]) -> None:
    same = {"amount": "0.004", "destination_address": FIRST}
    first = ask(bakery, payment, "a", **same).json()
    for key in ("a", "b"):
        again = ask(bakery, payment, key, **same, **asset)
        assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
        assert [item["id"] for item in again.json()] == [item["id"] for item in first]
        assert "refund_in_progress" not in again.json()[0]


def test_a_whole_refund_is_the_same_again(bakery: Shop, payment: str) -> None:
    first = ask(bakery, payment, "a").json()
    again = ask(bakery, payment, "b")
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == first


def test_the_list_of_refunds_has_no_such_word(bakery: Shop, payment: str) -> None:
    ask(bakery, payment, "a", amount="0.004")
    ask(bakery, payment, "b", amount="0.003")
    (row,) = bakery.test.get(f"/payments/{payment}/refunds").json()
    assert "refund_in_progress" not in row


def test_a_page_says_what_is_under_way(cast: Cast, payment: str) -> None:
    browser = Browser(cast.alice)
    path = f"payments/{payment}/refund"
    form = hidden_fields(browser.get(path))
    ask(cast.bakery, payment, "a", amount="0.004", destination_address=FIRST)
    answer = browser.post(path, amount="0.003", form_key=form["form_key"])
    assert answer.status_code == 303
    shown = text(browser.get(f"payments/{payment}"))
    assert "already in progress (0.004 ETH to 0x1010" in shown
    assert "Nothing more was sent." in shown
