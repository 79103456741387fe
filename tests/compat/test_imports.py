"""Open invoices of BTCPay Server and charges of Coinbase Commerce become pending payments, once."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.payments.models import Payment
from tests.cast import Shop

INVOICES = [
    {
        "id": "A1",
        "status": "New",
        "additionalStatus": "None",
        "type": "Standard",
        "amount": "12.50000000",
        "currency": "EUR",
        "metadata": {"orderId": 17, "buyerEmail": "eve@example.com", "posData": {"seat": 3}},
        "checkout": {"redirectURL": "https://shop.example.com/thanks"},
    },
    {"id": "A2", "status": "Settled", "amount": "5", "currency": "EUR"},
    {"id": "A3", "status": "New", "additionalStatus": "PaidPartial", "amount": "5"},
    {"id": "A4", "status": "New", "type": "TopUp", "amount": "0", "currency": "EUR"},
    {"id": "A5", "status": "New", "amount": "0.001", "currency": "BTC"},
]
CHARGES = {
    "data": [
        {
            "id": "c-1",
            "code": "WXYZ1234",
            "name": "Two loaves",
            "description": "Rye",
            "pricing_type": "fixed_price",
            "pricing": {"local": {"amount": "9.00", "currency": "USD"}},
            "metadata": {"order_id": "B-7", "email": "mallory@example.com"},
            "timeline": [{"status": "NEW", "time": "2026-03-01T00:00:00Z"}],
        },
        {
            "id": "c-2",
            "pricing_type": "no_price",
            "timeline": [{"status": "NEW"}],
        },
        {"id": "c-3", "timeline": [{"status": "NEW"}, {"status": "COMPLETED"}]},
    ]
}


def run(shop: Shop, source: str, content: Any, place: Path, *options: str) -> dict[str, Any]:
    path = place / "export.json"
    path.write_text(json.dumps(content))
    printed = StringIO()
    arguments = ("--from", source, "--store", str(shop.store.pk), "--mode", "test", "--json")
    call_command("import_invoices", str(path), *arguments, *options, stdout=printed)
    result: dict[str, Any] = json.loads(printed.getvalue())
    return result


def test_open_invoices_of_btcpay_become_payments_once(bakery: Shop, tmp_path: Path) -> None:
    dry = run(bakery, "btcpay", INVOICES, tmp_path, "--dry-run")
    assert (dry["created"], dry["lines"][0]["became"]) == (0, "would be created")
    assert not Payment.objects.filter(store=bakery.store).exists()
    done = run(bakery, "btcpay", INVOICES, tmp_path)
    assert (done["created"], done["left_out"]) == (1, 4)
    assert all(line["reason"] for line in done["lines"][1:])
    payment = Payment.objects.get(store=bakery.store)
    assert (payment.order_id, payment.settlement_amount_cents) == ("17", 1250)
    assert payment.success_url == "https://shop.example.com/thanks"
    assert payment.metadata["imported_id"] == "A1"
    assert payment.metadata["customer_email"] == "eve@example.com"
    assert done["lines"][0]["url"].endswith(payment.reference)
    again = run(bakery, "btcpay", INVOICES, tmp_path)
    assert (again["created"], again["lines"][0]["became"]) == (0, "present")
    assert Payment.objects.filter(store=bakery.store).count() == 1


def test_open_charges_of_coinbase_commerce_become_payments(bakery: Shop, tmp_path: Path) -> None:
    done = run(bakery, "coinbase-commerce", CHARGES, tmp_path)
    assert (done["created"], done["left_out"]) == (1, 2)
    payment = Payment.objects.get(store=bakery.store)
    assert (payment.order_id, payment.settlement_currency) == ("B-7", "USD")
    assert (payment.title, payment.description) == ("Two loaves", "Rye")
    assert payment.metadata["customer_email"] == "mallory@example.com"


def test_what_is_no_export_is_refused(
    bakery: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for content in ([], ["A1"], {"data": [{"status": "New"}]}):
        with pytest.raises(SystemExit):
            run(bakery, "btcpay", content, tmp_path)
        assert "no list of invoices" in capsys.readouterr().err
