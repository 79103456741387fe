"""Credit notes: in a series of their own, never more than was billed, and e-invoices too."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.billing.e_invoices.formats import COMMON_FORMATS
from apps.billing.models import CreditNote
from apps.webhooks.models import Event
from tests.billing import records as r
from tests.cast import Api, Cast, Shop
from tests.e_invoices import checking
from tests.e_invoices.generated import TAXED, rates, seller

pytestmark = pytest.mark.django_db
LINES = [r.line(3333, 3, "Rye"), r.line(1999, 1, "Freight")]


def ask(api: Api, invoice: dict[str, Any], **fields: Any) -> Any:
    return api.post(f"/billing/invoices/{invoice['id']}/credit_notes", {"credit_note": fields})


def credited(api: Api, invoice: dict[str, Any], **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = r.ok(ask(api, invoice, **fields), 201)
    return body


def by_hand(api: Api) -> None:
    """No void makes a credit note."""
    wanted = {"document_settings": {"credits_automatically": False}}
    r.ok(api.patch("/billing/document_settings", wanted))


def voided(api: Api, **fields: Any) -> dict[str, Any]:
    owner = r.customer(
        api,
        name="Kunde",
        address={"line1": "Weg 1", "postal_code": "10115", "city": "Berlin", "country": "DE"},
        buyer_reference="04011000-12345-34",
        electronic_address="9930:DE136695976",
    )
    terms = {"line_items": LINES, "tax_rate_bps": 1900, **fields}
    made = r.opened(api, customer_id=owner["id"], **terms)
    r.ok(r.act(api, made["id"], "void"))
    return made


def test_a_whole_credit_note_is_the_invoice_taken_back(bakery: Shop) -> None:
    made = voided(bakery.test)
    note = credited(bakery.test, made, reason="void", memo="Wrong address")
    sums = [note[name] for name in ("net_cents", "tax_cents", "total_cents")]
    assert sums == [made["subtotal_cents"], made["tax_cents"], made["total_cents"]]
    assert (note["formatted_number"], note["invoice_number"]) == ("CN-0001", "INV-0001")
    (event,) = Event.objects.filter(store=bakery.store, type="credit_note.created")
    assert event.object["id"] == note["id"]
    again = ask(bakery.test, made)
    assert again.status_code == 422 and "credited before" in again.json()["error"]


def test_parts_add_up_to_the_whole_to_the_cent(bakery: Shop) -> None:
    made = voided(bakery.test)
    notes = [credited(bakery.test, made, amount_cents=cents) for cents in (1, 777, 3333)]
    notes.append(credited(bakery.test, made))
    for name, of_invoice in (
        ("net_cents", "subtotal_cents"),
        ("tax_cents", "tax_cents"),
        ("total_cents", "total_cents"),
    ):
        assert sum(note[name] for note in notes) == made[of_invoice], name
    assert [note["number"] for note in notes] == [1, 2, 3, 4]
    assert [note["tax_cents"] for note in notes[:3]] == [0, 124, 532]


def test_parts_of_several_rates_and_of_none_add_up_by_each(bakery: Shop) -> None:
    seller(bakery)
    by_hand(bakery.test)
    ids = rates(bakery.test, TAXED[0], TAXED[2], TAXED[5])
    lines = [{**r.line(3333, 3), "tax_rate_id": id} for id in ids]
    for more in ([], [r.line(777)]):
        made = voided(bakery.test, line_items=[*lines, *more], tax_rate_bps=None)
        notes = [credited(bakery.test, made, amount_cents=cents) for cents in (1, 777, 3333)]
        notes.append(credited(bakery.test, made))
        assert sum(note["total_cents"] for note in notes) == made["total_cents"]
        for tax in made["taxes"]:
            key = tax["category"], tax["rate_bps"]
            found = [
                (line["net_cents"], line["tax_cents"])
                for note in notes
                for line in note["line_items"]
                if (line["tax_category"], line["tax_rate_bps"]) == key
            ]
            sums = sum(net for net, _ in found), sum(cents for _, cents in found)
            assert sums == (tax["base_cents"], tax["tax_cents"]), key
        if not more:
            for key in COMMON_FORMATS:
                path = f"/billing/credit_notes/{notes[-1]['id']}/e_invoices/{key}"
                assert not checking.problems(bakery.test.get(path).content, key), key


def test_more_than_was_billed_is_refused_with_its_field(bakery: Shop) -> None:
    made = voided(bakery.test)
    credited(bakery.test, made, amount_cents=1000)
    rest = made["total_cents"] - 1000
    answer = ask(bakery.test, made, amount_cents=rest + 1)
    assert (answer.status_code, answer.json()) == (
        422,
        {"errors": [f"amount_cents must be at most {rest}"]},
    )
    assert CreditNote.objects.count() == 1
    credited(bakery.test, made, amount_cents=rest)


def test_what_is_open_or_a_draft_and_what_wasnt_refunded_is_refused(bakery: Shop) -> None:
    opened = r.opened(bakery.test)
    for row in (opened, r.draft(bakery.test)):
        answer = ask(bakery.test, row)
        assert answer.status_code == 422 and "void an open one first" in answer.json()["error"]
    paid = r.pay(bakery.test, opened)
    for reason, words in (("refund", "Nothing"), ("void", "wasn’t voided")):
        answer = ask(bakery.test, paid, reason=reason)
        assert answer.status_code == 422 and words in answer.json()["error"]
    assert credited(bakery.test, paid)["total_cents"] == paid["total_cents"]


def test_whole_units_stay_whole(bakery: Shop) -> None:
    made = voided(bakery.test, currency="JPY", line_items=[r.line(33300, 3)], tax_rate_bps=1000)
    assert ask(bakery.test, made, amount_cents=150).status_code == 422
    parts = [credited(bakery.test, made, amount_cents=10000), credited(bakery.test, made)]
    assert all(part["tax_cents"] % 100 == 0 for part in parts)
    assert sum(part["tax_cents"] for part in parts) == made["tax_cents"]


def test_they_are_listed_and_read_and_strangers_find_none(cast: Cast) -> None:
    bakery = cast.bakery
    made = voided(bakery.test)
    note = credited(bakery.test, made)
    assert r.ok(bakery.test.get(f"/billing/credit_notes/{note['id']}")) == note
    for query in ("", f"?invoice_id={made['id']}", f"?customer_id={made['customer_id']}"):
        assert r.ok(bakery.test.get(f"/billing/credit_notes{query}"))["data"] == [note]
    assert r.ok(bakery.test.get("/billing/credit_notes?invoice_id=none"))["data"] == []
    answer = cast.strangers.test.get(f"/billing/credit_notes/{note['id']}")
    assert (answer.status_code, answer.json()) == (404, {"error": "Credit note not found"})


def test_it_is_a_document_381_in_every_format_and_refers_to_its_invoice(bakery: Shop) -> None:
    seller(bakery)
    made = voided(bakery.test)
    for note in (
        credited(bakery.test, made, amount_cents=5000, memo="Damaged"),
        credited(bakery.test, made),
    ):
        for key in COMMON_FORMATS:
            answer = bakery.test.get(f"/billing/credit_notes/{note['id']}/e_invoices/{key}")
            assert answer.status_code == 200, answer.content
            assert f"credit-note-{note['formatted_number']}.xml" in answer["Content-Disposition"]
            xml = answer.content
            assert not checking.problems(xml, key), key
            read = checking.read(xml)
            total = f"{note['total_cents'] / 100:.2f}"
            assert (read["BT-3"], read["BT-112"], read["BT-115"]) == ("381", total, total)
            assert [item["BT-25"] for item in read["BG-3"]] == ["INV-0001"]
    unknown = bakery.test.get(f"/billing/credit_notes/{note['id']}/e_invoices/fax")
    assert unknown.status_code == 404


def test_the_database_keeps_them_final_without_gaps_and_within_what_was_billed(
    bakery: Shop,
) -> None:
    made = voided(bakery.test)
    note = credited(bakery.test, made, amount_cents=1000)
    row = CreditNote.objects.get(pk=note["id"])
    for number, cents in ((3, 100), (2, made["total_cents"])):
        with pytest.raises(DatabaseError), transaction.atomic():
            CreditNote.objects.create(
                store=row.store,
                mode=row.mode,
                created_at=row.created_at,
                invoice=row.invoice,
                number=number,
                reason="other",
                currency=row.currency,
                net_cents=cents,
                tax_cents=0,
                total_cents=cents,
                issued_on=row.issued_on,
            )
    for statement in (
        "UPDATE billing_creditnote SET memo = 'x'",
        "DELETE FROM billing_creditnote",
        "UPDATE billing_creditnoteline SET tax_cents = 0",
        "DELETE FROM billing_creditnoteline",
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
