"""Series of numbers: a prefix of the store's own, a yearly restart in its zone, no number twice."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.billing.models import CreditNote, Invoice
from apps.stores.services import change_store
from tests import auditing, make
from tests.billing import records as r
from tests.cast import Api, Shop
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.django_db
PATH = "/billing/document_settings"


def choose(api: Api, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = r.ok(api.patch(PATH, {"document_settings": fields}))
    return body


def numbered(api: Api, **fields: Any) -> tuple[Any, Any]:
    made = r.opened(api, **fields)
    return made["number"], made["formatted_number"]


def credited(api: Api) -> Any:
    return r.credit_note(api)["formatted_number"]


def test_a_series_that_nobody_changed_goes_on_and_one_that_comes_back_where_it_ended(
    bakery: Shop,
) -> None:
    api = bakery.test
    assert r.ok(api.get(PATH)) == {
        "invoice_prefix": "INV-",
        "credit_note_prefix": "CN-",
        "restarts_yearly": False,
        "credits_automatically": None,
        "livemode": False,
    }
    assert numbered(api) == (1, "INV-0001")
    choose(api, credits_automatically=False)
    assert (numbered(api), credited(api)) == ((2, "INV-0002"), "CN-0001")
    choose(api, invoice_prefix="RE-", credit_note_prefix="GS/")
    assert (numbered(api), credited(api)) == ((4, "RE-0001"), "GS/0001")
    assert numbered(api, custom_number="Mine") == (6, "Mine")
    assert numbered(api) == (7, "RE-0003")  # the credit note's invoice had the second
    choose(api, invoice_prefix="INV-", credit_note_prefix="CN-")
    assert (numbered(api), credited(api)) == ((8, "INV-0004"), "CN-0002")
    choose(api, invoice_prefix="RE-")
    assert numbered(api) == (10, "RE-0004")
    assert auditing.breaches() == []


def test_a_year_begins_with_one_in_the_zone_of_the_store(bakery: Shop) -> None:
    api = bakery.test
    change_store(bakery.store, time_zone="Pacific/Auckland")
    choose(api, invoice_prefix="RE-", restarts_yearly=True)
    now = bakery.access().now()
    # An hour before the year ends in UTC it is the next one in Auckland.
    turn = now.replace(month=12, day=31, hour=23, minute=0, second=0, microsecond=0)
    here = now.astimezone(Invoice(time_zone="Pacific/Auckland").zone).year
    assert numbered(api)[1] == f"RE-{here}-0001"
    make.advance(api, int((turn - now).total_seconds()) + 60)
    assert numbered(api)[1] == f"RE-{turn.year + 1}-0001"
    assert numbered(api)[1] == f"RE-{turn.year + 1}-0002"
    assert auditing.breaches() == []


def test_what_would_be_a_number_twice_is_refused_with_its_field(bakery: Shop) -> None:
    api = bakery.test
    numbered(api, custom_number="AB-0007")
    choose(api, invoice_prefix="RE-", credit_note_prefix="GS-")
    numbered(api)
    credited(api)
    for field, value, words in (
        ("invoice_prefix", "GS-", "other documents"),
        ("credit_note_prefix", "RE-", "other documents"),
        ("credit_note_prefix", "RE-2030-", "other documents"),
        ("invoice_prefix", "AB-", "entered by hand"),
        ("invoice_prefix", "2026", "end with no digit"),
        ("invoice_prefix", "RE 1-", "letters, digits"),
        ("invoice_prefix", "", "blank"),
        ("invoice_prefix", "x" * 21, "too long"),
        ("restarts_yearly", "yes", "true or false"),
    ):
        answer = api.patch(PATH, {"document_settings": {field: value}})
        assert answer.status_code == 422, (field, value)
        [sentence] = answer.json()["errors"]
        assert sentence.startswith(field) and words in sentence, sentence
    for number in ("RE-0001", "RE-0300", "RE-2027-0001"):
        answer = r.ask_invoice(api, customer_id=r.customer(api)["id"], custom_number=number)
        assert answer.status_code == 422 and "own series" in answer.json()["errors"][0]
    choose(api, invoice_prefix="XY-")
    answer = r.ask_invoice(api, customer_id=r.customer(api)["id"], custom_number="RE-0001")
    assert answer.status_code == 422  # given before


def test_the_database_refuses_a_number_twice_and_a_gap(bakery: Shop) -> None:
    api = bakery.test
    choose(api, invoice_prefix="RE-", credit_note_prefix="GS-")
    numbered(api)
    credited(api)
    draft = r.draft(api)["id"]
    for number in (1, 2, 4):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "UPDATE billing_invoice SET status = 'open', number = 3, series = 'RE-',"
                " series_number = %s, public_token = 'x', finalized_at = created_at WHERE id = %s",
                [number, draft],
            )
    with pytest.raises(DatabaseError), transaction.atomic():
        Invoice.objects.filter(series_number=1).update(series_number=9)
    note = CreditNote.objects.get()
    for series_number in (1, 3):
        with pytest.raises(DatabaseError), transaction.atomic():
            CreditNote.objects.create(
                store=note.store,
                mode=note.mode,
                created_at=note.created_at,
                invoice_id=r.opened(api)["id"],
                number=2,
                series="GS-",
                series_number=series_number,
                reason="other",
                currency=note.currency,
                net_cents=1,
                tax_cents=0,
                total_cents=1,
                issued_on=note.issued_on,
            )


def test_an_owner_sets_it_in_the_dashboard_and_finds_invoices_by_it(bakery: Shop) -> None:
    browser = Browser(bakery.owner)
    page = text(browser.get("settings/documents"))
    assert 'value="INV-"' in page and 'value="CN-"' in page
    form = {"invoice_prefix": "RE-", "credit_note_prefix": "GS-", "credits_automatically": "yes"}
    assert browser.post("settings/documents", **form).status_code == 303
    row = r.ok(bakery.test.get(PATH))
    assert (row["invoice_prefix"], row["credits_automatically"]) == ("RE-", True)
    made = r.opened(bakery.test)
    assert made["formatted_number"] == "RE-0001"
    assert "RE-0001" in text(browser.get("invoices?q=RE-0001"))
    r.ok(r.act(bakery.test, made["id"], "void"))
    assert "GS-0001" in text(browser.get(f"invoices/{made['id']}"))
