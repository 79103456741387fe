"""Reads of payments: lists and filters, history, summary, reconciliation, catalogs and the public
checkout."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.payments.services.reconcile import reconcile_due
from tests import make
from tests.cast import Api, Shop

CHECKOUT_FIELDS = {
    "token",
    "payment_intent_id",
    "store_id",
    "store_name",
    "status",
    "state_reason",
    "settlement_amount_cents",
    "settlement_currency",
    "expires_at",
    "expired",
    "terminal",
    "success_url",
    "failed_url",
    "customer_pays_fee",
    "fee_percentage",
    "payment_addresses",
    "order_summary",
    "onramp",
    "transactions",
    "branding",
    "title",
    "description",
    "support_email",
    "seconds_left",
    "livemode",
}


def ids(answer: object) -> list[str]:
    return [row["id"] for row in answer.json()["data"]]  # type: ignore[attr-defined]


def test_the_list_is_newest_first_without_addresses(bakery: Shop) -> None:
    made = [make.payment(bakery.test, order_id=order)["id"] for order in "ABC"]
    answer = bakery.test.get("/payments")
    assert ids(answer) == made[::-1]
    assert all("payment_addresses" not in row for row in answer.json()["data"])
    assert answer.json()["meta"] == {"page": 1, "per_page": 10, "total": 3, "total_pages": 1}


def test_filters_find_by_status_reference_order_and_day(bakery: Shop) -> None:
    first = make.payment(bakery.test, order_id="A")
    second = make.paid(bakery.test, order_id="B")
    day = first["created_at"][:10]
    for query, found in (
        ("status=completed", [second["id"]]),
        ("status=overpaid", [second["id"], first["id"]]),
        ("order_id=A", [first["id"]]),
        ("order_id=a", []),
        (f"reference={first['reference'][2:12].lower()}", [first["id"]]),
        (f"q={second['reference']}", [second["id"]]),
        ("reference=_", []),
        (f"from={day}&to={day}", [second["id"], first["id"]]),
        ("to=2020-01-01", []),
        ("from=soon", [second["id"], first["id"]]),
    ):
        assert ids(bakery.test.get(f"/payments?{query}")) == found, query


def test_events_are_the_history_that_the_detail_view_shows(bakery: Shop) -> None:
    paid = make.paid(bakery.test)
    events = bakery.test.get(f"/payments/{paid['id']}/events").json()
    assert events == paid["payment_events"]
    assert [item["type"] for item in paid["timeline"]] == [event["event_type"] for event in events]


def test_the_summary_is_zero_filled_and_never_converts(bakery: Shop) -> None:
    make.paid(bakery.test, amount="10.00")
    make.paid(bakery.test, amount="20.00", currency="USD")
    make.payment(bakery.test, amount="5.00")
    body = bakery.test.get("/payments/summary").json()
    assert body["totals"]["volume_cents"] == {"USD": 2000, "EUR": 1000}
    assert body["currencies"] == ["USD", "EUR"]
    assert (body["totals"]["order_count"], body["totals"]["success_rate"]) == (3, 0.6667)
    assert body["totals"]["success_rate_by_currency"] == {"EUR": 0.5, "USD": 1.0}
    assert body["totals"]["avg_order_value_cents"] == {"EUR": 1000, "USD": 2000}
    assert set(body["totals"]["status_counts"]) == {
        "pending",
        "processing",
        "completed",
        "expired",
        "failed",
        "refunded",
    }
    assert len(body["timeseries"]) == 30
    assert body["timeseries"][-1]["order_count"] == 3


@pytest.mark.parametrize(
    ("query", "first", "last", "days"),
    [
        ("from=2024-02-27&to=2024-03-01", "2024-02-27", "2024-03-01", 4),
        ("from=2024-05-09&to=2024-05-01", "2024-05-01", "2024-05-01", 1),
        ("from=soon&to=2024-05-30", "2024-05-01", "2024-05-30", 30),
        ("from=2020-01-01&to=2024-05-30", "2023-05-31", "2024-05-30", 366),
        ("from=0001-01-01&to=0001-01-02", "0001-01-01", "0001-01-02", 2),
    ],
)
def test_the_range_of_a_summary_is_clamped(
    bakery: Shop, query: str, first: str, last: str, days: int
) -> None:
    body = bakery.test.get(f"/payments/summary?{query}").json()
    assert (body["range"]["from"], body["range"]["to"], len(body["timeseries"])) == (
        first,
        last,
        days,
    )


def test_reconciliation_says_whether_chain_intent_and_ledger_agree(bakery: Shop) -> None:
    paid = make.paid(bakery.test)
    path = f"/payment_intents/{paid['id']}/reconciliation"
    before = bakery.test.get(path).json()
    assert (
        before["status"],
        before["expected_amount"],
        before["expected_amount_atomic"],
        before["last_checked_at"],
    ) == (
        "under_investigation",
        None,
        "0",
        None,
    )
    reconcile_due()
    after = bakery.test.get(path).json()
    assert (after["status"], after["balanced"], after["currency"], after["swap_delta"]) == (
        "final",
        True,
        "ETH",
        "0",
    )
    assert (
        after["expected_amount"]
        == after["received_amount"]
        == paid["payment_addresses"][0]["crypto_amount"]
    )
    assert make.detail(bakery.test, paid["id"])["reconciliation_status"] == "final"


def test_catalogues_tell_currencies_and_assets(bakery: Shop) -> None:
    currencies = {row["code"]: row for row in bakery.test.get("/payment_currencies").json()}
    assert set(currencies) == {"USD", "EUR", "GBP", "HKD", "SGD", "JPY", "DKK", "CHF", "SEK", "NOK"}
    assert (
        currencies["JPY"]["decimals"],
        currencies["EUR"]["label"],
        currencies["EUR"]["symbol"],
    ) == (0, "Euro", "€")
    assert [row["asset_id"] for row in bakery.test.get("/supported_assets").json()] == ["SETH"]
    assert [row["asset_id"] for row in bakery.live.get("/supported_assets").json()] == [
        "ETH",
        "ETH_USDC",
        "ETH_USDT",
    ]


def test_the_public_checkout_tells_what_a_payer_needs_and_nothing_of_the_merchants(
    bakery: Shop,
) -> None:
    item = {"description": "Bread", "quantity": 2, "unit_amount_cents": 500}
    paid = make.paid(
        bakery.test,
        order_id="secret-17",
        metadata={"margin": "secret-23"},
        line_items=[item],
        title="Bread",
    )
    answer = Api().get(f"/checkout/{paid['reference']}")
    body = answer.json()
    assert set(body) == CHECKOUT_FIELDS
    assert "secret" not in answer.content.decode()
    assert body["order_summary"] == {
        "image_url": None,
        "line_items": [item],
        "total_cents": 1000,
        "currency": "EUR",
    }
    assert (body["fee_percentage"], body["branding"], body["onramp"]) == (
        None,
        None,
        {"available": False, "providers": []},
    )
    (transaction,) = body["transactions"]
    assert (transaction["status"], transaction["amount_atomic"]) == (
        "confirmed",
        paid["payment_addresses"][0]["crypto_amount_atomic"],
    )


@pytest.mark.parametrize(
    "reference", ["Z" * 16, "not-a-reference", "ABC", "%00", "x" * 5000, "ＡＢＣ"]
)
def test_an_unknown_checkout_is_told_flat(db: None, reference: str) -> None:
    answer = Api().get(f"/checkout/{reference}")
    assert (answer.status_code, answer.json()) == (404, {"error": "Checkout not found"})


def test_a_credential_is_ignored_on_a_public_path(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    assert Api("nonsense").get(f"/checkout/{payment['reference']}").status_code == 200


@pytest.mark.parametrize(
    ("path", "questions"),
    [("/payments/{pending}", 7), ("/payments/{paid}", 9), ("/payments", 3), ("/balances", 3)],
)
def test_a_read_asks_the_database_a_few_questions_however_much_there_is(
    bakery: Shop, path: str, questions: int
) -> None:
    ids = {"pending": make.payment(bakery.test)["id"], "paid": make.paid(bakery.test)["id"]}
    make.payment(bakery.test)
    bakery.test.get("/payments")  # notes that the key is in use
    with CaptureQueriesContext(connection) as asked:
        assert bakery.test.get(path.format(**ids)).status_code == 200
    assert len(asked) <= questions, [query["sql"] for query in asked]
