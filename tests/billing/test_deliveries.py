"""E-invoices that go to buyers through Peppol: once each, whatever happens on the way; refusals and
outages are kept and shown."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from pytest_httpserver import HTTPServer

from apps.billing.invoices.delivering import deliver_due
from apps.billing.models import CreditNote, EInvoiceDelivery
from apps.billing.providers.access_point import AccessPoint
from apps.billing.providers.base import EInvoiceNetwork, Parcel, ParcelState
from apps.billing.providers.local_network import LocalNetwork
from apps.core.clock import real_now
from apps.core.errors import ProviderError
from tests.billing import records as r
from tests.billing.access_point import TOKEN, Peppol
from tests.cast import Shop
from tests.dashboard.browse import Browser, text
from tests.e_invoices.generated import seller

pytestmark = pytest.mark.django_db
FRENCH = "9957:FR40303265045"


@pytest.fixture
def peppol(httpserver: HTTPServer) -> Iterator[Peppol]:
    entry = {
        "BACKEND": "apps.billing.providers.access_point.AccessPoint",
        "OPTIONS": {"base_url": httpserver.url_for(""), "token": TOKEN},
    }
    providers = {**settings.PROVIDERS, "e_invoices": {"live": [entry], "test": [entry]}}
    with override_settings(PROVIDERS=providers):
        yield Peppol(httpserver, registered={FRENCH})


def billed(shop: Shop, endpoint: str = FRENCH, **fields: Any) -> dict[str, Any]:
    seller(shop)
    owner = r.customer(
        shop.test,
        name="Boulangerie",
        address={"line1": "Rue 1", "postal_code": "75001", "city": "Paris", "country": "FR"},
        electronic_address=endpoint,
        buyer_reference="R-1",
    )
    return r.opened(shop.test, customer_id=owner["id"], **{"tax_rate_bps": 1900, **fields})


def send(shop: Shop, made: dict[str, Any], noun: str = "invoices") -> Any:
    return shop.test.post(f"/billing/{noun}/{made['id']}/deliveries", {"delivery": {}})


def due_now() -> None:
    rows = EInvoiceDelivery.objects.filter(next_attempt_at__isnull=False)
    rows.update(next_attempt_at=real_now() - timedelta(seconds=1))
    deliver_due()


def told(shop: Shop, made: dict[str, Any]) -> dict[str, Any]:
    listed: list[dict[str, Any]] = r.ok(shop.test.get(f"/billing/invoices/{made['id']}/deliveries"))
    return listed[0]


def test_an_invoice_arrives_once_however_often_it_is_sent(bakery: Shop, peppol: Peppol) -> None:
    made = billed(bakery)
    first = r.ok(send(bakery, made), 201)
    assert (first["status"], first["sender"], first["receiver"]) == (
        "queued",
        "9930:DE136695976",
        FRENCH,
    )
    due_now()
    again = r.ok(send(bakery, made), 201)
    due_now()
    assert (again["id"], again["status"], again["error"]) == (first["id"], "delivered", None)
    assert peppol.delivered == [first["id"]] and peppol.asked.count("submit") == 1


def test_a_credit_note_goes_the_same_way(bakery: Shop, peppol: Peppol) -> None:
    made = billed(bakery)
    r.ok(r.act(bakery.test, made["id"], "void"))
    path = f"/billing/invoices/{made['id']}/credit_notes"
    if not CreditNote.objects.filter(invoice=made["id"]).exists():
        r.ok(bakery.test.post(path, {"credit_note": {}}), 201)
    note = CreditNote.objects.get(invoice=made["id"])
    sent = r.ok(send(bakery, {"id": note.pk}, "credit_notes"), 201)
    due_now()
    assert peppol.delivered == [sent["id"]]
    assert told(bakery, made)["credit_note_id"] == str(note.pk)


def test_an_answer_that_was_lost_is_looked_up_and_nothing_is_sent_twice(
    bakery: Shop, peppol: Peppol
) -> None:
    peppol.is_cut = True
    made = billed(bakery)
    r.ok(send(bakery, made), 201)
    due_now()
    waiting = told(bakery, made)
    assert (waiting["status"], waiting["error"]) == ("sending", "HTTP 504")
    due_now()
    assert told(bakery, made)["status"] == "delivered"
    assert len(peppol.delivered) == 1 and peppol.asked.count("submit") == 1


def test_an_outage_is_kept_and_the_same_bytes_leave_afterward(bakery: Shop, peppol: Peppol) -> None:
    peppol.is_away = True
    made = billed(bakery)
    r.ok(send(bakery, made), 201)
    due_now()
    before = EInvoiceDelivery.objects.get()
    assert (before.status, before.error, before.attempts) == ("sending", "HTTP 503", 1)
    assert before.next_attempt_at is not None and before.next_attempt_at > real_now()
    peppol.is_away = False
    due_now()
    after = EInvoiceDelivery.objects.get()
    assert (after.status, after.content) == ("delivered", before.content)
    assert peppol.delivered == [str(before.pk)]


def test_a_refusal_is_kept_and_shown_and_another_attempt_is_another_delivery(
    bakery: Shop, peppol: Peppol
) -> None:
    peppol.registered.clear()
    made = billed(bakery)
    first = r.ok(send(bakery, made), 201)
    due_now()
    refused = told(bakery, made)
    assert refused["status"] == "refused" and "not registered in the SML" in refused["error"]
    shown = page(bakery, made)
    assert "not registered in the SML" in shown and "Send through Peppol" in shown
    peppol.registered.add(FRENCH)
    second = r.ok(send(bakery, made), 201)
    due_now()
    assert second["id"] != first["id"] and peppol.delivered == [second["id"]]
    assert "Send through Peppol" not in page(bakery, made)


def test_what_lacks_something_isnt_sent(bakery: Shop, peppol: Peppol) -> None:
    seller(bakery)
    made = r.opened(bakery.test, tax_rate_bps=1900)
    answer = send(bakery, made)
    assert answer.status_code == 422 and "country" in str(answer.json())
    assert not EInvoiceDelivery.objects.exists() and not peppol.asked


def test_without_an_access_point_nothing_is_offered_or_sent(bakery: Shop) -> None:
    made = billed(bakery)
    nowhere = {**settings.PROVIDERS, "e_invoices": {"live": [], "test": []}}
    with override_settings(PROVIDERS=nowhere):
        assert send(bakery, made).status_code == 422
        assert "Send through Peppol" not in page(bakery, made)


def page(shop: Shop, made: dict[str, Any]) -> str:
    return text(Browser(shop.owner).get(f"invoices/{made['id']}"))


def parcel(receiver: str = FRENCH, **fields: Any) -> Parcel:
    sender = "9930:DE136695976"
    named = "".join(
        f'<a:EndpointID schemeID="{item.partition(":")[0]}">{item.partition(":")[2]}</a:EndpointID>'
        for item in (sender, receiver)
    )
    space = "urn:oasis:names:specification:ubl:schema:xsd"
    xml = f'<i:Invoice xmlns:i="{space}:Invoice-2" xmlns:a="{space}:CommonBasicComponents-2">'
    whole = {
        "id": "b0c2c7a0-0000-4000-8000-000000000001",
        "is_credit_note": False,
        "sender": sender,
        "receiver": receiver,
        "country": "DE",
        "content": f"{xml}{named}</i:Invoice>".encode(),
        **fields,
    }
    return Parcel(**whole)


@pytest.mark.parametrize("kind", ["access point", "local"])
def test_both_networks_refuse_what_the_real_one_refuses(httpserver: HTTPServer, kind: str) -> None:
    stand_in = Peppol(httpserver, registered={FRENCH})
    network: EInvoiceNetwork = LocalNetwork()
    if kind == "access point":
        network = AccessPoint(httpserver.url_for(""), TOKEN)
    stranger = parcel("9957:FR00303265045", id="b0c2c7a0-0000-4000-8000-000000000002")
    wrong = parcel(content=b"<note/>", id="b0c2c7a0-0000-4000-8000-000000000003")
    for one in (stranger, wrong):
        answer = network.send(one)
        assert answer.state is ParcelState.REFUSED and answer.message
    assert not stand_in.delivered


def test_a_token_that_the_access_point_doesnt_know_is_a_refusal(httpserver: HTTPServer) -> None:
    Peppol(httpserver)
    answer = AccessPoint(httpserver.url_for(""), "another").send(parcel())
    assert answer.state is ParcelState.REFUSED and "HTTP 403" in answer.message


@pytest.mark.parametrize("answer", [[], {"status": "sent"}, {"sbdhInstanceID": "x", "status": "y"}])
def test_an_answer_that_is_none_says_nothing(httpserver: HTTPServer, answer: Any) -> None:
    httpserver.expect_request(f"/api/outbound/status/{parcel().id}").respond_with_json(answer)
    with pytest.raises(ProviderError):
        AccessPoint(httpserver.url_for(""), TOKEN).look(parcel())
