"""Odd inputs of billing as one table: each row is asked once in one store, and none is answered
with a 500."""

from django.test import Client

from apps.billing.models import Invoice
from apps.core.models import OutgoingMail
from tests.billing import records as r
from tests.cast import Api, Cast
from tests.contract.billing_inputs import HTML, UPWARD, Row, World
from tests.dashboard.browse import Browser


def misread(api: Api, row: Row) -> str | None:
    """Errors of the answer to a row; None when it is as it should be."""
    answer = api(row.method, row.path, row.body)
    if answer.status_code != row.status:
        return f"{row.name}: {answer.status_code} {answer.content[:200]!r}"
    if isinstance(row.answer, str):
        (text,) = answer.json()["errors"]
        return None if row.answer in text else f"{row.name}: {text}"
    fields = row.answer or {}
    shown = {field: answer.json().get(field) for field in fields}
    return None if shown == fields else f"{row.name}: {shown}"


def test_every_odd_input_has_its_answer(cast: Cast) -> None:
    world = World(cast)
    assert [
        wrong for row in world.rows() if (wrong := misread(cast.bakery.test, row)) is not None
    ] == []


def test_a_number_of_html_or_of_a_path_harms_no_page_email_or_file(cast: Cast) -> None:
    api = cast.bakery.test
    browser = Browser(cast.alice)
    owner = r.customer(api, name=HTML)["id"]
    made = r.opened(api, custom_number=UPWARD + HTML, customer_id=owner)
    assert r.ok(r.act(api, made["id"], "send"))["status"] == "open"
    pages = [
        Client().get(f"/invoice/{made['public_token']}"),
        browser.get(f"invoices/{made['id']}"),
        browser.get("invoices"),
    ]
    assert [page.status_code for page in pages] == [200, 200, 200]
    assert all(HTML.encode() not in page.content for page in pages)
    file = browser.get(f"invoices/{made['id']}/file")
    assert file.content.startswith(b"%PDF")
    assert not {"/", "<"} & set(file.headers["Content-Disposition"])
    cells = b"".join(browser.get("customers.csv").streaming_content).decode()
    assert HTML in cells  # a spreadsheet shows it as text


def test_an_email_that_is_asked_for_again_and_again_leaves_once(cast: Cast) -> None:
    made = r.opened(cast.bakery.test)
    before = OutgoingMail.objects.count()
    for _ in range(6):
        assert r.act(cast.bakery.test, made["id"], "send").status_code in (200, 429)
    assert OutgoingMail.objects.count() - before in (1, 2)  # a new minute may begin on the way
    assert Invoice.objects.get(pk=made["id"]).status == "open"
