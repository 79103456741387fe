"""The job, the admin and the migrations of the ledger."""

import pytest
from django.db.models import Model

from apps.access.factors import second_factor
from apps.ledger import chart, tasks
from apps.ledger.models import Account, Movement
from apps.stores.services import create_user
from tests.cast import PASSWORD
from tests.dashboard.browse import Browser, code_of, text
from tests.ledger.books import Books


def test_the_job_gives_checkpoints_to_long_tails_only(
    committed: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        committed.deposit(5)
    committed.earn(1)
    monkeypatch.setattr("apps.ledger.checkpoints.fold_long_tails.__defaults__", (2,))

    tasks.checkpoint()

    folded = {
        row.kind: row.checkpoint_atomic
        for row in Account.objects.filter(store_id=committed.store.pk)
    }
    assert folded["held"] in (15, 16)
    assert folded["available"] == 0
    assert committed.balance("held") == 15


@pytest.fixture
def staff(db: None) -> Browser:
    clerk = create_user("clerk@example.com", PASSWORD, is_staff=True)
    factor = second_factor.switch_on(clerk, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browser = Browser()
    browser.post("sign-in", email=clerk.email, password=PASSWORD)
    browser.post("sign-in/code", code=code_of(factor), next="/admin/")
    return browser


@pytest.mark.parametrize("model", [Account, Movement])
def test_staff_read_the_books_with_balances_and_cannot_write_them(
    staff: Browser, books: Books, model: type[Model]
) -> None:
    books.earn(1234)
    page = f"/admin/ledger/{model._meta.model_name}/"
    row = model._default_manager.order_by("-pk").first()
    assert row is not None

    assert "1234" in text(staff.get(page)) or model is Movement
    shown = staff.get(f"{page}{row.pk}/change/")

    assert "1234" in text(shown) and "_save" not in text(shown)
    assert staff.get(f"{page}add/").status_code == 403
    assert staff.client.post(f"{page}{row.pk}/delete/", {"post": "yes"}).status_code == 403


def test_the_chart_says_of_every_kind_whose_it_is_and_guards_what_is_a_stores() -> None:
    assert {row.owner for row in chart.CHART.values()} == {chart.STORE, chart.SERVICE}
    assert all(row.is_guarded == (row.owner == chart.STORE) for row in chart.CHART.values())
    assert all(
        row.meaning and row.normal_side in ("credit", "debit", "either")
        for row in chart.CHART.values()
    )
