"""Invoices, their credit notes and deliveries, as the examples of the reference tell them."""

from tests.cast import Api
from tests.docs.recorder import Recorder


def invoices(tell: Recorder, api: Api, customer: str) -> None:
    path = "/billing/invoices"
    lines = [{"description": "Coffee tasting", "quantity": 2, "unit_amount_cents": 2500}]
    wanted = {"customer_id": customer, "currency": "EUR", "line_items": lines, "tax_rate_bps": 1900}

    def draft() -> str:
        return str(api.post(path, {"invoice": wanted}).json()["id"])

    one = tell(api, "POST", path, {"invoice": wanted})["id"]
    tell(api, "GET", path, query="?per_page=2")
    tell(api, "GET", path + "/{id}", id=one)
    tell(api, "PATCH", path + "/{id}", {"invoice": {"notes": "Thank you!"}}, id=one)
    opened = tell(api, "POST", path + "/{id}/finalize", id=one)
    tell(api, "POST", path + "/{id}/send", id=one)
    token = opened["public_token"]
    tell(Api(), "GET", "/billing/invoice/{token}", token=token)
    tell(Api(), "POST", "/billing/invoice/{token}/payment_intent", token=token)
    tell(api, "GET", path + "/{id}/pdf", id=opened["id"])
    tell(api, "GET", path + "/{id}/e_invoices", id=opened["id"])
    tell(api, "GET", path + "/{id}/e_invoices/{format}", id=opened["id"], format="factur-x")
    for act in ("void", "mark_uncollectible"):
        other = draft()
        assert api.post(f"{path}/{other}/finalize").status_code == 200
        tell(api, "POST", path + "/{id}/" + act, id=other)
    credit = {"credit_note": {"amount_cents": 2975, "reason": "other", "memo": "One cup less"}}
    note = tell(api, "POST", path + "/{id}/credit_notes", credit, id=other)["id"]
    notes = "/billing/credit_notes"
    tell(api, "GET", notes)
    tell(api, "GET", notes + "/{id}", id=note)
    tell(api, "GET", notes + "/{id}/e_invoices/{format}", id=note, format="factur-x")
    tell(api, "GET", notes + "/{id}/pdf", id=note)
    tell(api, "POST", notes + "/{id}/send", id=note)
    tell(api, "GET", "/billing/customers/{id}/credit", id=customer)
    tell(api, "DELETE", path + "/{id}", id=draft())


def deliveries(tell: Recorder, api: Api) -> None:
    buyer = {
        "email": "books@example.com",
        "name": "Boulangerie",
        "address": {"line1": "Rue 1", "postal_code": "75001", "city": "Paris", "country": "FR"},
        "electronic_address": "9957:FR40303265045",
        "buyer_reference": "R-1",
        "e_invoice_format": "peppol",
    }
    customer = api.post("/billing/customers", {"customer": buyer}).json()["id"]
    lines = [{"description": "Coffee tasting", "quantity": 2, "unit_amount_cents": 2500}]
    wanted = {"customer_id": customer, "currency": "EUR", "line_items": lines, "tax_rate_bps": 1900}
    path = "/billing/invoices"
    one = api.post(path, {"invoice": wanted}).json()["id"]
    assert api.post(f"{path}/{one}/finalize").status_code == 200
    assert api.post(f"{path}/{one}/mark_uncollectible").status_code == 200
    sent = {"delivery": {"network": "peppol"}}
    tell(api, "POST", path + "/{id}/deliveries", sent, id=one)
    tell(api, "GET", path + "/{id}/deliveries", id=one)
    note = api.post(f"{path}/{one}/credit_notes", {"credit_note": {}}).json()["id"]
    tell(api, "POST", "/billing/credit_notes/{id}/deliveries", sent, id=note)
