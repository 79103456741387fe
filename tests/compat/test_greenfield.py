"""BTCPay Server's Greenfield API: what its callers send and read, over the same payments."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access.services import create_api_key
from apps.payments.models import Payment
from apps.stores.services import change_store
from tests.cast import Cast, Shop, shop_of
from tests.compat.conftest import Greenfield

INVOICES = "/stores/{}/invoices"


def test_a_store_answers_only_once_its_owner_has_turned_the_api_on(bakery: Shop) -> None:
    answer = Greenfield(bakery, bakery.secrets["test"]).get(INVOICES)
    assert answer.status_code == 403
    assert answer.json()["code"] == "compatible-apis-off"
    change_store(bakery.store, has_compatible_apis=True)
    assert Greenfield(bakery, bakery.secrets["test"]).get(INVOICES).json() == []


def test_an_invoice_is_a_payment_with_its_metadata_as_it_was_sent(greenfield: Greenfield) -> None:
    metadata = {
        "orderId": "A-17",
        "itemDesc": "Two loaves",
        "buyerEmail": "eve@example.com",
        "posData": {"cart": [{"id": "bread", "price": 6.25}]},
        "taxIncluded": 0.5,
    }
    checkout = {"expirationMinutes": 30, "redirectURL": "https://shop.example.com/thanks"}
    made = greenfield.invoice(metadata=metadata, checkout=checkout)
    payment = Payment.objects.get(reference=made["id"])
    assert (payment.order_id, payment.title) == ("A-17", "Two loaves")
    assert payment.success_url == "https://shop.example.com/thanks"
    assert payment.metadata["customer_email"] == "eve@example.com"
    read = greenfield.get(f"{INVOICES}/{made['id']}").json()
    assert read == made
    assert read["metadata"] == metadata
    assert (read["amount"], read["currency"], read["status"]) == ("12.50", "EUR", "New")
    assert read["expirationTime"] - read["createdTime"] == 1800
    assert read["checkoutLink"].endswith(made["id"])
    assert read["storeId"] == str(greenfield.shop.store.pk)


def test_amounts_are_text_or_numbers_and_currencies_the_stores_by_default(
    greenfield: Greenfield,
) -> None:
    for amount in ("12.5", 12.5, "12.50000000", 12):
        made = greenfield.post(INVOICES, {"amount": amount}).json()
        assert made["currency"] == greenfield.shop.store.settlement_currency, amount
    assert made["amount"] == "12.00"


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "amount"),
    ({"amount": "0"}, "amount"),
    ({"amount": "-1"}, "amount"),
    ({"amount": "1.234"}, "amount"),
    ({"amount": "1e99"}, "amount"),
    ({"amount": True}, "amount"),
    ({"amount": "much"}, "amount"),
    ({"amount": "5", "currency": "BTC"}, "currency"),
    ({"amount": "5", "metadata": []}, "metadata"),
    ({"amount": "5", "checkout": {"expirationMinutes": 1}}, "checkout.expirationMinutes"),
    ({"amount": "5", "checkout": {"redirectURL": "javascript:1"}}, "checkout.redirectURL"),
]


@pytest.mark.parametrize(("body", "path"), BAD)
def test_what_breaks_a_rule_is_told_by_its_path(
    greenfield: Greenfield, body: dict[str, Any], path: str
) -> None:
    answer = greenfield.post(INVOICES, body)
    assert answer.status_code == 422, answer.content
    (problem,) = answer.json()
    assert (problem["path"], bool(problem["message"])) == (path, True)
    assert not Payment.objects.filter(store=greenfield.shop.store).exists()


def test_an_idempotency_key_makes_one_invoice(greenfield: Greenfield) -> None:
    body = {"amount": "5"}
    headers = {"Idempotency-Key": "once"}
    first, second = [greenfield.post(INVOICES, body, **headers).json() for _ in range(2)]
    assert first["id"] == second["id"]


def test_strangers_other_stores_and_missing_scopes_are_refused_in_btcpays_words(
    greenfield: Greenfield, cast: Cast
) -> None:
    made = greenfield.invoice()
    path = f"{INVOICES}/{made['id']}"
    answer = Greenfield(greenfield.shop, "svc_sk_test_nothing").get(path)
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid-api-key")
    nobody = greenfield.get(path, Authorization="")
    assert (nobody.status_code, nobody.json()["code"]) == (401, "authentication-required")
    other = shop_of(cast.charlie, "Other")
    change_store(other.store, has_compatible_apis=True)
    stranger = Greenfield(other, other.secrets["test"])
    named = f"/stores/{greenfield.shop.store.pk}/invoices/{made['id']}"
    for asked in (named, path):
        hidden = stranger.get(asked)
        assert hidden.status_code == 404
        assert hidden.json()["code"] in ("store-not-found", "invoice-not-found")
    live = Greenfield(greenfield.shop, greenfield.shop.secrets["live"]).get(path)
    assert live.status_code == 404
    reader = create_api_key(greenfield.shop.store, "test", scope_names=["payments:read"])[1]
    forbidden = Greenfield(greenfield.shop, reader).post(INVOICES, {"amount": "5"})
    assert forbidden.status_code == 403
    assert forbidden.json() == {
        "code": "missing-permission",
        "message": "Insufficient scope: payments:write required",
        "missingPermission": "btcpay.store.cancreateinvoice",
    }


def test_statuses_are_btcpays(greenfield: Greenfield) -> None:
    made = greenfield.invoice()
    path = f"{INVOICES}/{made['id']}"
    greenfield.pay(made, scenario="underpaid")
    read = greenfield.get(path).json()
    assert (read["status"], read["additionalStatus"]) == ("New", "PaidPartial")
    greenfield.pay(made)
    read = greenfield.get(path).json()
    assert (read["status"], read["additionalStatus"]) == ("Settled", "None")
    assert read["paidAmount"] == "12.50"
    greenfield.pay(over := greenfield.invoice(), scenario="overpaid")
    read = greenfield.get(f"{INVOICES}/{over['id']}").json()
    assert (read["status"], read["additionalStatus"]) == ("Settled", "PaidOver")
    settled = greenfield.get(f"{INVOICES}?status=Settled").json()
    assert {row["id"] for row in settled} == {made["id"], over["id"]}
    greenfield.invoice(metadata={"orderId": "Z"})
    assert len(greenfield.get(f"{INVOICES}?orderId=Z&orderId=Y&take=1").json()) == 1
    assert len(greenfield.get(f"{INVOICES}?skip=1&take=1").json()) == 1


def test_methods_say_what_is_due_and_what_has_come(greenfield: Greenfield) -> None:
    made = greenfield.invoice()
    path = f"{INVOICES}/{made['id']}/payment-methods"
    due = greenfield.get(path).json()
    assert {method["paymentMethodId"] for method in due} >= {"SETH"}
    assert all(method["due"] == method["amount"] for method in due)
    greenfield.pay(made)
    paid = next(m for m in greenfield.get(path).json() if m["payments"])
    assert (paid["due"], paid["totalPaid"]) == ("0", paid["amount"])
    assert paid["payments"][0]["status"] == "Settled"


def test_an_unpaid_invoice_is_marked_invalid_and_another_is_not(greenfield: Greenfield) -> None:
    made = greenfield.invoice()
    path = f"{INVOICES}/{made['id']}/status"
    marked = greenfield.post(path, {"status": "invalid"})
    assert (marked.json()["status"], marked.json()["additionalStatus"]) == ("Invalid", "Marked")
    again = greenfield.post(path, {"status": "Invalid"})
    assert (again.status_code, again.json()["code"]) == (400, "not-cancelable")
    wrong = greenfield.post(path, {"status": "New"})
    assert (wrong.status_code, wrong.json()[0]["path"]) == (422, "status")


def test_an_underpaid_invoice_is_marked_settled(greenfield: Greenfield) -> None:
    greenfield.pay(made := greenfield.invoice(), scenario="underpaid")
    marked = greenfield.post(f"{INVOICES}/{made['id']}/status", {"status": "Settled"})
    assert marked.status_code == 200, marked.content
    assert marked.json()["status"] == "Settled"


def test_a_refund_has_the_form_of_a_pull_payment_and_goes_to_who_paid(
    greenfield: Greenfield,
) -> None:
    greenfield.pay(made := greenfield.invoice())
    path = f"{INVOICES}/{made['id']}/refund"
    body = {"refundVariant": "Custom", "customAmount": 5, "customCurrency": "EUR", "name": "Back"}
    refund = greenfield.post(path, body)
    assert refund.status_code == 200, refund.content
    pull = refund.json()
    assert (pull["name"], pull["autoApproveClaims"], pull["archived"]) == ("Back", True, False)
    (row,) = greenfield.shop.test.get(f"/payments/{made['id']}/refunds").json()
    assert (row["id"], row["amount"]) == (pull["id"], pull["amount"])


WRONG_REFUNDS: list[tuple[dict[str, Any], int, str]] = [
    ({"refundVariant": "CurrentRate"}, 422, "refundVariant"),
    ({"refundVariant": "OverpaidAmount"}, 422, "refundVariant"),
    ({"refundVariant": "Nothing"}, 422, "refundVariant"),
    ({"refundVariant": "Custom"}, 422, "customAmount"),
    ({"refundVariant": "Custom", "customAmount": "99"}, 422, "customAmount"),
    (
        {"refundVariant": "Custom", "customAmount": "1", "customCurrency": "XMR"},
        422,
        "customCurrency",
    ),
    ({"subtractPercentage": "100"}, 422, "subtractPercentage"),
    ({"payoutMethodId": "DOGE"}, 422, "payoutMethodId"),
    ({"amount": "1"}, 422, "amount"),
]


@pytest.mark.parametrize(("body", "status", "path"), WRONG_REFUNDS)
def test_a_refund_that_is_not_understood_sends_nothing(
    greenfield: Greenfield, body: dict[str, Any], status: int, path: str
) -> None:
    greenfield.pay(made := greenfield.invoice())
    answer = greenfield.post(f"{INVOICES}/{made['id']}/refund", body)
    assert (answer.status_code, answer.json()[0]["path"]) == (status, path), answer.content
    assert greenfield.shop.test.get(f"/payments/{made['id']}/refunds").json() == []


def test_a_percentage_is_kept_back(greenfield: Greenfield) -> None:
    greenfield.pay(made := greenfield.invoice())
    body = {"refundVariant": "RateThen", "subtractPercentage": "10"}
    whole = greenfield.get(f"{INVOICES}/{made['id']}/payment-methods").json()
    paid = next(method for method in whole if method["payments"])
    pull = greenfield.post(f"{INVOICES}/{made['id']}/refund", body).json()
    assert float(pull["amount"]) == pytest.approx(float(paid["amount"]) * 0.9, rel=1e-4)


def test_an_unpaid_invoice_cannot_be_refunded(greenfield: Greenfield) -> None:
    made = greenfield.invoice()
    answer = greenfield.post(f"{INVOICES}/{made['id']}/refund", {"refundVariant": "RateThen"})
    assert (answer.status_code, answer.json()["code"]) == (400, "generic-error")


def test_plugins_find_the_server_the_store_and_the_rights_of_the_key(
    greenfield: Greenfield,
) -> None:
    info = greenfield.get("/server/info").json()
    assert (info["fullySynched"], "SETH" in info["supportedPaymentMethods"]) == (True, True)
    assert greenfield.get("/health").json() == {"synchronized": True}
    (listed,) = greenfield.get("/stores").json()
    assert greenfield.get("/stores/{}").json() == listed
    rights = greenfield.get("/api-keys/current").json()["permissions"]
    assert f"btcpay.store.cancreateinvoice:{greenfield.shop.store.pk}" in rights
    assert greenfield.get("/stores/{}/payment-methods").json()[0]["enabled"] is True
    assert greenfield.get("/nothing").status_code == 404


def test_a_list_reads_three_invoices_with_as_many_statements_as_one(
    greenfield: Greenfield,
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            rows = greenfield.get("/stores/{}/invoices").json()
            count = len(asked)
        for row in rows:
            assert row == greenfield.get(f"/stores/{{}}/invoices/{row['id']}").json()
        return count

    greenfield.pay(greenfield.invoice())
    first = statements()
    greenfield.invoice()
    greenfield.pay(greenfield.invoice(amount="7.00"))
    assert statements() == first > 0
