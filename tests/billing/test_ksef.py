"""Invoices of Polish sellers that go through KSeF: once each, whatever happens on the way, with the
number and the receipt that it gives; refusals and outages are kept and shown."""

import base64
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from lxml import etree
from pytest_httpserver import HTTPServer

from apps.billing.e_invoices.bills import Bill
from apps.billing.invoices import e_invoice
from apps.billing.invoices.delivering import deliver_due
from apps.billing.models import CreditNote, EInvoiceDelivery, TaxSettings
from apps.billing.providers.base import EInvoiceNetwork, Parcel, ParcelState
from apps.billing.providers.ksef import Ksef
from apps.billing.providers.local_ksef import LocalKsef
from apps.core.clock import real_now
from apps.core.errors import ProviderError
from tests.billing import records as r
from tests.billing.ksef import NIP, TOKEN, KsefSystem, check_sum
from tests.billing.sellers import verify
from tests.cast import Shop
from tests.dashboard.browse import Browser, text
from tests.e_invoices import fa3
from tests.e_invoices.generated import row, seller

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not fa3.is_there(), reason="no schema of FA(3)"),
]
ASKED = {"network": "ksef"}
NUMBER = re.compile(rf"{NIP}-20\d{{6}}-[0-9A-F]{{12}}-[0-9A-F]{{2}}")
BUYER = "PL1234563218"


@pytest.fixture
def ksef(httpserver: HTTPServer) -> Iterator[KsefSystem]:
    entry = {
        "BACKEND": "apps.billing.providers.ksef.Ksef",
        "OPTIONS": {"base_url": httpserver.url_for("")},
    }
    providers = {**settings.PROVIDERS, "ksef": {"live": [entry], "test": [entry]}}
    with override_settings(PROVIDERS=providers):
        yield KsefSystem(httpserver)


def in_poland(shop: Shop, token: str | None = TOKEN) -> None:
    seller(shop, "PL", f"PL{NIP}")
    sent = {"tax_settings": {"ksef_token": token}}
    r.ok(shop.test.patch("/billing/tax_settings", sent))


def billed(shop: Shop, **fields: Any) -> dict[str, Any]:
    owner = r.customer(
        shop.test,
        name="Piekarnia",
        address={"line1": "Długa 1", "postal_code": "00-238", "city": "Warszawa", "country": "PL"},
        country="PL",
        vat_number=BUYER,
    )
    more = {"tax_rate_bps": 2300, **fields}
    return r.opened(shop.test, customer_id=owner["id"], **more)


def send(shop: Shop, made: dict[str, Any], noun: str = "invoices") -> Any:
    return shop.test.post(f"/billing/{noun}/{made['id']}/deliveries", {"delivery": ASKED})


def due_now() -> None:
    rows = EInvoiceDelivery.objects.filter(next_attempt_at__isnull=False)
    rows.update(next_attempt_at=real_now() - timedelta(seconds=1))
    deliver_due()


def told(shop: Shop, made: dict[str, Any]) -> dict[str, Any]:
    listed: list[dict[str, Any]] = r.ok(shop.test.get(f"/billing/invoices/{made['id']}/deliveries"))
    return listed[0]


def page(shop: Shop, made: dict[str, Any]) -> str:
    return text(Browser(shop.owner).get(f"invoices/{made['id']}"))


def test_an_invoice_gets_its_number_and_receipt_once(bakery: Shop, ksef: KsefSystem) -> None:
    in_poland(bakery)
    made = billed(bakery)
    first = r.ok(send(bakery, made), 201)
    assert (first["sender"], first["receiver"], first["network_number"]) == (NIP, BUYER, None)
    due_now()
    again = r.ok(send(bakery, made), 201)
    due_now()
    assert (again["id"], again["status"], again["error"]) == (first["id"], "delivered", None)
    assert NUMBER.fullmatch(again["network_number"]) and list(ksef.accepted) == [
        again["network_number"]
    ]
    assert again["network_number"] in again["receipt"]
    assert sum(path.endswith("/close") for path in ksef.asked) == 1
    shown = page(bakery, made)
    assert again["network_number"] in shown and "Send through KSeF" not in shown
    path = f"invoices/{made['id']}/file?of=network_receipt&delivery={first['id']}"
    assert Browser(bakery.owner).get(path).content.decode() == again["receipt"]


def test_a_receipt_of_another_document_proves_nothing(bakery: Shop, ksef: KsefSystem) -> None:
    in_poland(bakery)
    made = billed(bakery)
    r.ok(send(bakery, made), 201)
    ksef.receipts_of = "5260250274-20260101-0123456789AB-CD"
    due_now()
    row = told(bakery, made)
    assert (row["status"], row["network_number"]) == ("sending", None)
    assert row["error"] == "KSeF’s receipt is of another document"
    ksef.receipts_of = ""
    due_now()
    assert told(bakery, made)["status"] == "delivered" and len(ksef.accepted) == 1


RECEIPT = (
    "Potwierdzenie, NazwaPodmiotuPrzyjmujacego, NumerReferencyjnySesji, Uwierzytelnienie,"
    " IdKontekstu, Nip, {proof}, NazwaStrukturyLogicznej, KodFormularza, Dokument, NipSprzedawcy,"
    " NumerKSeFDokumentu, NumerFaktury, DataWystawieniaFaktury, DataPrzeslaniaDokumentu,"
    " DataNadaniaNumeruKSeF, SkrotDokumentu, TrybWysylki"
)


@pytest.mark.parametrize(
    ("kind", "proof"),
    [
        ("system", "NumerReferencyjnyTokenaKSeF"),
        ("local", "SkrotDokumentuUwierzytelniajacego"),
    ],
)
def test_receipts_have_the_shape_of_ksefs_own(
    bakery: Shop, httpserver: HTTPServer, kind: str, proof: str
) -> None:
    """UPO 4.3, whose schema is in no package: its elements in their order, and the schema where the
    folder of official rules has it."""
    KsefSystem(httpserver)
    network: EInvoiceNetwork = LocalKsef()
    if kind == "system":
        network = Ksef(httpserver.url_for(""))
    in_poland(bakery)
    xml = written(billed(bakery))
    answer = network.send(_parcel(xml))
    root = etree.fromstring(answer.receipt.encode())
    names = [etree.QName(item).localname for item in root.iter()]
    assert names == RECEIPT.format(proof=proof).split(", ")
    found = {etree.QName(item).localname: item.text for item in root.iter()}
    assert (found["NumerKSeFDokumentu"], found["Nip"]) == (answer.number, NIP)
    assert found["SkrotDokumentu"] == base64.b64encode(hashlib.sha256(xml).digest()).decode()
    rules = os.environ.get("TILLGATE_E_INVOICE_RULES")
    for path in Path(rules).rglob("upo-v4-3.xsd") if rules else ():
        etree.XMLSchema(etree.parse(path)).assertValid(root)


def test_a_credit_note_names_the_number_of_its_invoice(bakery: Shop, ksef: KsefSystem) -> None:
    in_poland(bakery)
    made = billed(bakery)
    r.ok(send(bakery, made), 201)
    ksef.is_slow = True
    due_now()
    assert told(bakery, made)["status"] == "sending"
    r.ok(r.act(bakery.test, made["id"], "mark_uncollectible"))
    path = f"/billing/invoices/{made['id']}/credit_notes"
    r.ok(bakery.test.post(path, {"credit_note": {}}), 201)
    note = CreditNote.objects.get(invoice=made["id"])
    early = send(bakery, {"id": note.pk}, "credit_notes")
    assert early.status_code == 422 and "still on its way" in str(early.json())
    ksef.is_slow = False
    due_now()
    number = told(bakery, made)["network_number"]
    r.ok(send(bakery, {"id": note.pk}, "credit_notes"), 201)
    due_now()
    sent = told(bakery, made)
    assert (sent["status"], sent["credit_note_id"]) == ("delivered", str(note.pk))
    root = etree.fromstring(ksef.accepted[sent["network_number"]])
    space = {"f": fa3.SPACE}
    assert root.findtext(".//f:NrKSeFFaKorygowanej", namespaces=space) == number
    assert root.findtext(".//f:RodzajFaktury", namespaces=space) == "KOR"
    total = root.findtext(".//f:P_15", namespaces=space)
    assert total == f"-{made['total_cents'] / 100:.2f}"


def test_an_answer_that_was_lost_is_found_by_its_number_and_bytes(
    bakery: Shop, ksef: KsefSystem
) -> None:
    in_poland(bakery)
    made = billed(bakery)
    ksef.is_cut = True
    r.ok(send(bakery, made), 201)
    due_now()
    assert (told(bakery, made)["status"], told(bakery, made)["error"]) == ("sending", "HTTP 504")
    ksef.is_cut = False
    due_now()
    found = told(bakery, made)
    assert found["status"] == "delivered" and list(ksef.accepted) == [found["network_number"]]
    assert found["network_number"] in found["receipt"]


def test_another_document_of_the_same_number_is_a_refusal(bakery: Shop, ksef: KsefSystem) -> None:
    in_poland(bakery)
    made = billed(bakery)
    r.ok(send(bakery, made), 201)
    kept = EInvoiceDelivery.objects.get()
    other = kept.content.replace("Piekarnia", "Cukiernia").encode()
    Ksef(ksef.server.url_for("")).send(_parcel(other))
    (number,) = ksef.accepted
    due_now()
    refused = told(bakery, made)
    assert refused["status"] == "refused" and number in refused["error"]
    assert len(ksef.accepted) == 1 and refused["network_number"] is None


def written(made: dict[str, Any]) -> bytes:
    def in_zloty(bill: Bill) -> Bill:
        return replace(bill, zloty_rate=Decimal("4.25"))

    return e_invoice.required_bill(row(made), "fa-3", in_zloty)[1]


def _parcel(content: bytes, **fields: Any) -> Parcel:
    whole = {
        "id": "b0c2c7a0-0000-4000-8000-000000000001",
        "is_credit_note": False,
        "sender": NIP,
        "receiver": BUYER,
        "country": "PL",
        "content": content,
        "token": TOKEN,
    }
    return Parcel(**{**whole, **fields})


def test_an_outage_is_kept_and_the_same_bytes_leave_afterward(
    bakery: Shop, ksef: KsefSystem
) -> None:
    in_poland(bakery)
    ksef.is_away = True
    made = billed(bakery)
    r.ok(send(bakery, made), 201)
    due_now()
    before = EInvoiceDelivery.objects.get()
    assert (before.status, before.error, before.trace) == ("sending", "HTTP 503", "")
    ksef.is_away = False
    ksef.failures = 1
    due_now()
    dropped = EInvoiceDelivery.objects.get()
    assert (dropped.status, dropped.error) == ("sending", "Operacja została anulowana przez system")
    due_now()
    after = EInvoiceDelivery.objects.get()
    assert (after.status, after.error) == ("delivered", "")
    assert [xml.decode() for xml in ksef.accepted.values()] == [before.content]


def test_a_refusal_is_kept_in_its_words_and_may_be_tried_again(
    bakery: Shop, ksef: KsefSystem
) -> None:
    in_poland(bakery, "20261130-EC-0000000000-0000000000-00|nip-5260250274|other")
    made = billed(bakery)
    r.ok(send(bakery, made), 201)
    due_now()
    refused = told(bakery, made)
    assert (refused["status"], refused["error"]) == ("refused", "Błędny token Nieprawidłowy token")
    shown = page(bakery, made)
    assert "Nieprawidłowy token" in shown and "Send through KSeF" in shown
    r.ok(bakery.test.patch("/billing/tax_settings", {"tax_settings": {"ksef_token": TOKEN}}))
    r.ok(send(bakery, made), 201)
    due_now()
    assert told(bakery, made)["status"] == "delivered"


def test_a_token_is_sealed_never_told_and_can_be_removed(bakery: Shop, ksef: KsefSystem) -> None:
    in_poland(bakery)
    kept = TaxSettings.objects.get()
    assert TOKEN not in kept.sealed_ksef_token and kept.ksef_token == TOKEN
    answer = bakery.test.get("/billing/tax_settings")
    assert r.ok(answer)["has_ksef_token"] is True and TOKEN not in answer.text
    browser = Browser(bakery.owner)
    shown = browser.get("settings/taxes")
    assert "KSeF token" in text(shown) and TOKEN not in shown.content.decode()
    browser.post("settings/taxes", supply_type="service")
    assert TaxSettings.objects.get().ksef_token == TOKEN
    browser.post("settings/taxes", forget_ksef_token="1")
    assert r.ok(bakery.test.get("/billing/tax_settings"))["has_ksef_token"] is False


def test_what_ksef_wouldnt_take_is_said_before(bakery: Shop, ksef: KsefSystem) -> None:
    in_poland(bakery)
    made = billed(bakery, tax_rate_bps=1900)
    answer = send(bakery, made)
    assert answer.status_code == 422 and "no such rate" in str(answer.json())
    assert not EInvoiceDelivery.objects.exists() and not ksef.asked
    (lacks,) = (
        one["missing"]
        for one in r.ok(bakery.test.get(f"/billing/invoices/{made['id']}/e_invoices"))
        if one["format"] == "fa-3"
    )
    assert "no such rate" in lacks


def test_vat_is_told_in_zloty_at_the_rate_of_the_working_day_before(
    bakery: Shop, ksef: KsefSystem
) -> None:
    entry = {
        "BACKEND": "apps.billing.providers.nbp.Nbp",
        "OPTIONS": {"base_url": ksef.server.url_for("/nbp")},
    }
    providers = {**settings.PROVIDERS, "zloty_rates": {"live": [entry], "test": [entry]}}
    with override_settings(PROVIDERS=providers):
        in_poland(bakery)
        made = billed(bakery, line_items=[r.line(1005), r.line(333)])
        silent = send(bakery, made)
        assert silent.status_code == 422 and "National Bank of Poland" in str(silent.json())
        day = date.fromisoformat(made["issued_on"])
        first, last = day - timedelta(days=10), day - timedelta(days=1)
        rows = [
            {"no": "230/A/NBP/2026", "effectiveDate": str(first), "mid": 4.9999},
            {"no": "231/A/NBP/2026", "effectiveDate": str(last), "mid": 4.2537},
        ]
        path = f"/nbp/exchangerates/rates/a/eur/{first}/{last}/"
        body = {"table": "A", "currency": "euro", "code": "EUR", "rates": rows}
        ksef.server.expect_request(path, query_string="format=json").respond_with_json(body)
        r.ok(send(bakery, made), 201)
    due_now()
    assert told(bakery, made)["status"] == "delivered"
    (xml,) = ksef.accepted.values()
    root = etree.fromstring(xml)
    found = {
        name: root.findtext(f".//f:{name}", namespaces={"f": fa3.SPACE})
        for name in ("P_13_1", "P_14_1", "P_14_1W", "P_15", "KursWaluty")
    }
    # 23% of 13.38 is 3.0774; 3.08 times 4.2537 is 13.101396.
    assert found == {
        "P_13_1": "13.38",
        "P_14_1": "3.08",
        "P_14_1W": "13.10",
        "P_15": "16.46",
        "KursWaluty": "4.2537",
    }


def test_sellers_elsewhere_are_offered_no_ksef(bakery: Shop, ksef: KsefSystem) -> None:
    seller(bakery)
    made = billed(bakery)
    assert send(bakery, made).status_code == 422
    assert "KSeF" not in page(bakery, made)
    assert "KSeF" not in text(Browser(bakery.owner).get("settings/taxes"))


@pytest.mark.parametrize("kind", ["system", "local"])
def test_both_refuse_what_the_real_one_refuses(
    bakery: Shop, httpserver: HTTPServer, kind: str
) -> None:
    system = KsefSystem(httpserver)
    network: EInvoiceNetwork = LocalKsef()
    if kind == "system":
        network = Ksef(httpserver.url_for(""))
    in_poland(bakery)
    made = billed(bakery)
    xml = written(made)
    for wrong in (
        xml.replace(b"1234563218", b"1234563219"),
        xml.replace(b">5260250274<", b">1234563218<"),
        b"<note/>",
        xml[:-20],
    ):
        answer = network.send(_parcel(wrong))
        assert answer.state is ParcelState.REFUSED and answer.message, wrong
    assert not system.accepted
    answer = network.send(_parcel(xml))
    assert answer.state is ParcelState.DELIVERED
    body, _, rest = answer.number.rpartition("-")
    assert NUMBER.fullmatch(answer.number) and f"{check_sum(body):02X}" == rest


def test_the_check_sum_is_that_of_the_public_example() -> None:
    assert f"{check_sum('5265877635-20250826-0100001AF629'):02X}" == "AF"


@pytest.mark.parametrize("day", ["2099-01-01"])
def test_a_day_to_come_and_a_seller_without_rights_are_refused(
    bakery: Shop, ksef: KsefSystem, day: str
) -> None:
    in_poland(bakery)
    xml = written(billed(bakery))
    network = Ksef(ksef.server.url_for(""))
    late = re.sub(rb"<P_1>[0-9-]+<", f"<P_1>{day}<".encode(), xml)
    assert network.send(_parcel(late)).state is ParcelState.REFUSED
    stranger = network.send(_parcel(xml, sender="1234563218"))
    assert (stranger.state, stranger.message) == (
        ParcelState.REFUSED,
        "Uwierzytelnianie nieudane Brak przypisanych uprawnień",
    )
    without = network.send(_parcel(xml, token=""))
    assert without.state is ParcelState.REFUSED and "token" in without.message


@pytest.mark.parametrize("answer", [[], {"status": "sent"}, {"status": {"code": "200"}}, 7])
def test_an_answer_that_is_none_says_nothing(ksef: KsefSystem, answer: Any) -> None:
    path = "/sessions/S/invoices/I"
    ksef.server.expect_oneshot_request(path).respond_with_json(answer)
    with pytest.raises(ProviderError):
        Ksef(ksef.server.url_for("")).look(_parcel(b"", trace="S/I"))


def test_a_seller_without_a_token_is_offered_nothing_in_live_mode(bakery: Shop) -> None:
    verify(bakery.store, country="PL", tax_id=f"PL{NIP}")
    shown = text(Browser(bakery.owner).get("settings/taxes"))
    assert "KSeF token" in shown
