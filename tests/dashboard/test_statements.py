"""How many statements the most used pages of the dashboard take, for a person who has signed in
with a code and has opened the page before."""

from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access.factors import second_factor
from apps.payouts.models import Payout
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, hidden_fields, next_code

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
# Six belong to every page: session, person, entry, the frame's figures, the stores to choose from,
# and the first of the page itself.
PAGES = {
    "": 18,
    "payments": 10,
    "payments/{payment}": 22,
    "payments/{payment}/refund": 9,
    "payouts": 14,
    "payouts/{payout}": 8,
    "statement": 12,
    "reports": 6,
    "customers": 6,
    "invoices": 7,
    "webhooks": 7,
    "webhooks/{endpoint}": 8,
    "settings": 6,
}
OPENED, REVIEWED, SENT = 10, 14, 16


@pytest.fixture
def browser(cast: Cast) -> Browser:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    return Browser(cast.alice).prove().known()


def statements(context: CaptureQueriesContext) -> list[str]:
    return [item["sql"] for item in context]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_takes_so_many_statements_and_none_twice(
    cast: Cast, browser: Browser, path: str
) -> None:
    endpoint = register_endpoint(
        cast.bakery.access(),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.completed"]),
    ).endpoint
    page = path.format(
        payment=make.payment(cast.bakery.test)["id"],
        payout=make.payout(cast.bakery.test, 10**16)["id"],
        endpoint=endpoint.pk,
    )
    browser.get(page)
    with CaptureQueriesContext(connection) as asked:
        assert browser.get(page).status_code == 200
        sent = statements(asked)
    assert len(sent) <= PAGES[path], "\n".join(sent)
    assert len(sent) > PAGES[path] - 2, "the table promises less than is kept"
    twice = [sql for sql, times in Counter(sent).items() if times > 1 and "unnest" not in sql]
    assert [sql for sql in twice if "payments_hourlysum" not in sql] == []


def pay_out(browser: Browser, amount: str) -> tuple[list[str], list[str], list[str]]:
    """The statements of opening the form, of its review and of sending it."""
    assert browser.user is not None
    asked: dict[str, Any] = {
        "asset_id": "SETH",
        "amount": amount,
        "destination_address": ADDRESS,
    }
    with CaptureQueriesContext(connection) as opening:
        asked |= hidden_fields(browser.get("payouts/new"))
        opened = statements(opening)
    with CaptureQueriesContext(connection) as reviewing:
        asked |= hidden_fields(browser.post("payouts/new", **asked))
        reviewed = statements(reviewing)
    code = next_code(browser.user)
    with CaptureQueriesContext(connection) as sending:
        answer = browser.post("payouts/new", **asked, code=code)
        sent = statements(sending)
    assert answer.status_code == 303
    return opened, reviewed, sent


def test_a_payout_is_asked_for_once(browser: Browser) -> None:
    pay_out(browser, "0.1")
    opened, reviewed, sent = pay_out(browser, "0.2")
    assert Payout.objects.count() == 2
    assert len(opened) <= OPENED, "\n".join(opened)
    assert len(reviewed) <= REVIEWED, "\n".join(reviewed)
    assert len(sent) <= SENT, "\n".join(sent)
    assert [sql for sql, times in Counter(sent).items() if times > 1] == []


def test_a_code_is_taken_once_although_its_row_is_not_locked(cast: Cast, browser: Browser) -> None:
    """Two requests have read the same row: the second finds that the code has been used."""
    first = second_factor.confirmed(cast.alice)
    second = second_factor.confirmed(cast.alice)
    assert first is not None and second is not None
    code = next_code(cast.alice)
    first.refresh_from_db()
    second.refresh_from_db()
    second_factor.verify(cast.alice, first, code)
    with pytest.raises(second_factor.WrongCode):
        second_factor.verify(cast.alice, second, code)


def test_a_wrong_code_still_makes_the_next_one_wait(cast: Cast, browser: Browser) -> None:
    factor = second_factor.confirmed(cast.alice)
    assert factor is not None
    right = next_code(cast.alice)
    factor.refresh_from_db()
    wrong = f"{(int(right) + 1) % 10**6:06d}"
    for code in (wrong, right):
        with pytest.raises(second_factor.WrongCode):
            second_factor.verify(cast.alice, factor, code)
    factor.refresh_from_db()
    assert factor.throttling_failure_count == 1 and factor.last_step == -1
