"""Invoices from the draft to the file, and their list."""

from apps.billing.models import Invoice
from apps.core.models import Mode
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.billing.forms import EMAIL, acts_of, draft_form, new, rows_of
from tests.dashboard.browse import Browser, text


def test_a_draft_is_written_recalculated_saved_finalized_sent_and_paid(
    cast: Cast, browser: Browser
) -> None:
    api = cast.bakery.test
    billing.customer(api, email=EMAIL)
    counted = new(browser, "invoices/new", **draft_form(recalculate="1"))
    assert counted.status_code == 200 and "€24.72" in text(counted) and not Invoice.objects.exists()
    part = new(browser, "invoices/new", **draft_form(), headers={"HX-Request": "true"})
    assert text(part).startswith('<div id="totals"') and "€24.72" in text(part)
    assert (
        text(new(browser, "invoices/new", **draft_form(more="1"))).count('name="line_amount"') == 5
    )
    assert "Cake" not in text(new(browser, "invoices/new", **draft_form(less="1")))

    new(browser, "invoices/new", **draft_form(save="1", notes="Thanks", po_number="PO 1"))
    row = Invoice.objects.get()
    assert (row.total_cents, row.discount_value, row.tax_rate_bps, row.notes, row.po_number) == (
        2472,
        10,
        770,
        "Thanks",
        "PO 1",
    )
    assert row.due_at is not None and row.due_at.isoformat() == "2027-01-31T23:59:59+00:00"
    page = browser.get(f"invoices/{row.pk}/edit")
    assert (
        'value="7.7"' in text(page)
        and 'value="5.50"' in text(page)
        and 'value="2027-01-31"' in text(page)
    )
    browser.post(
        f"invoices/{row.pk}/edit",
        **draft_form(save="1", discount_type="amount", discount="1", tax="", due=""),
    )
    row.refresh_from_db()
    assert [row.total_cents, row.discount_value, row.tax_rate_bps, row.due_at, row.notes] == [
        2450,
        100,
        None,
        None,
        None,
    ]
    assert browser.get(f"invoices/{row.pk}/file").status_code == 404

    browser.post(f"invoices/{row.pk}/finalize", send="on")
    row.refresh_from_db()
    page = text(browser.get(f"invoices/{row.pk}"))
    assert (
        row.status == "open" and f"/invoice/{row.public_token}" in page and "Sent by email" in page
    )
    assert "can now be paid. The email is on its way." in page and "Resend" in page
    assert browser.get(f"invoices/{row.pk}/edit").status_code == 303
    assert browser.get(f"invoices/{row.pk}/file").content.startswith(b"%PDF")
    billing.pay(api, {"public_token": row.public_token, "id": str(row.pk)})
    (link,) = row.payments.all()
    assert f"/dashboard/invoices/{row.pk}" in text(browser.get(f"payments/{link.payment_id}"))
    page = text(browser.get(f"invoices/{row.pk}"))
    assert 'badge good">Paid' in page and "Void</a>" not in page and "of=receipt" in page
    refused = browser.post(f"invoices/{row.pk}/void")
    assert refused.status_code == 422 and "Cannot void a paid invoice." in text(refused)
    assert acts_of(cast) == [
        "invoice.drafted",
        "invoice.changed",
        "invoice.finalized",
        "invoice.sent",
    ]


def test_invoices_are_voided_written_off_and_drafts_deleted(cast: Cast, browser: Browser) -> None:
    api = cast.bakery.test
    void = billing.opened(api)
    lost = billing.opened(api)
    draft = billing.draft(api)
    for id, act, sentence in (
        (void["id"], "void", "its number isn’t reused"),
        (lost["id"], "write-off", "Its page takes no more payments. If one"),
    ):
        assert sentence in text(browser.get(f"invoices/{id}/{act}"))
        browser.post(f"invoices/{id}/{act}")
    assert "permanently deleted" in text(browser.get(f"invoices/{draft['id']}/delete"))
    assert (
        browser.post(f"invoices/{draft['id']}/delete").headers["Location"] == "/dashboard/invoices"
    )
    assert sorted(Invoice.objects.values_list("status", flat=True)) == ["uncollectible", "void"]
    assert acts_of(cast) == ["invoice.voided", "invoice.written_off", "invoice.deleted"]


def test_the_list_of_invoices_is_searched_filtered_exported_and_the_first_page_says_what_is_owed(
    cast: Cast, browser: Browser
) -> None:
    api = cast.bakery.test
    ann = billing.customer(api, email=EMAIL, name="@Ann")
    ben = billing.customer(api, name="x" * 61)
    late = billing.opened(
        api, customer_id=ann["id"], due_at="2020-01-01T00:00:00Z", custom_number="=A1"
    )
    later = billing.opened(api, customer_id=ben["id"])
    draft = billing.draft(api, customer_id=ann["id"])
    for query, expected in (
        ("", [late, later, draft]),
        ("status=open", [late, later]),
        ("status=past_due", [late]),
        ("status=nonsense", [late, later, draft]),
        ("q=%3Da1", [late]),
        ("q=2", [later]),
        ("q=INV-0002", [later]),
        ("q=ann@", [late, draft]),
        ("q=%00", []),
        (f"customer={ben['id']}", [later]),
        ("customer=nobody", []),
        ("subscription=a%2Fb", []),
        (f"customer={ann['id']}&status=draft", [draft]),
    ):
        told = {row[-1] for row in rows_of(browser.get(f"invoices.csv?{query}&columns=all"))[1:]}
        assert told == {invoice["id"] for invoice in expected}, query
        assert {
            str(row.pk) for row in browser.get(f"invoices?{query}").context["window"].rows
        } == told
    names, *lines = rows_of(browser.get("invoices.csv?columns=all"))
    line = dict(zip(names, next(row for row in lines if row[-1] == late["id"]), strict=True))
    assert (line["number"], line["customer_name"], line["total"]) == ("'=A1", "'@Ann", "10.00")
    assert text(browser.get("invoices")).count(f"<bdi>{'x' * 59}…</bdi>") == 2, "and on a phone"
    home = browser.get()
    (owed,) = home.context["owed"]
    assert (owed.currency, owed.count, owed.left_cents, owed.late_count, owed.late_cents) == (
        "EUR",
        2,
        2000,
        1,
        1000,
    )
    assert "€10.00 past due (1)" in text(home)
    browser.switch(Mode.LIVE)
    assert browser.get().context["owed"] == [] and browser.get("invoices").context["is_empty"]


def test_what_an_e_invoice_lacks_is_added_where_its_page_says(cast: Cast) -> None:
    """And for an invoice that keeps what it was finalized with, nobody is asked again."""
    owner = Browser(cast.alice)
    berlin = {"line1": "Street 1", "postal_code": "10115", "city": "Berlin", "country": "DE"}
    buyer = billing.customer(cast.bakery.test, address=berlin)["id"]
    made = billing.opened(cast.bakery.test, customer_id=buyer, tax_rate_bps=1900)
    asked = "Your legal name, country, and VAT or registration number are missing."
    keeps = "What you add now is in later invoices."
    page = text(owner.get(f"invoices/{made['id']}"))
    assert f"{asked} Add them under Settings." in page and keeps in page
    details = {"legal_name": "Alice GmbH", "country": "DE", "vat_number": "DE136695976"}
    settings = {"name": "Bakery", "customer_language": "en", **details}
    assert owner.post("settings/store", **settings).status_code == 303
    assert keeps in text(owner.get(f"invoices/{made['id']}"))
    later = billing.opened(cast.bakery.test, customer_id=buyer, tax_rate_bps=1900)
    page = text(owner.get(f"invoices/{later['id']}"))
    assert asked not in page and "In the PDF (Factur-X) and as XML" in page
