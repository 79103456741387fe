"""Records on the staff site: fields by the words of people, values in their units, every link
leads somewhere."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType

from apps.access.models import Application
from apps.payments.models import Payment
from apps.stores.models import Store
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.staff.test_roles import signed_in

NAMES_OF_COLUMNS = re.compile(
    r"^Is |_|\b(atomic|bps|cents|fraction|id|tx|url|kyc|ms|uri)$|\bKyc|\bTx\b|\bUris\b|\bCimd"
)


@pytest.fixture
def clerk(cast: Cast) -> Browser:
    return signed_in(make.clerk("admin"))


def words(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text(answer)).split())


@pytest.mark.parametrize(
    "model", sorted(admin.site._registry, key=lambda one: one._meta.label), ids=str
)
def test_no_field_is_called_like_its_column(model: Any) -> None:
    page: Any = admin.site._registry[model]
    labels = [
        text for name, text in page.column_labels().items() if name not in (page.exclude or ())
    ]
    assert [label for label in labels if NAMES_OF_COLUMNS.search(label)] == []


def test_a_payment_shows_money_and_leaves_out_what_is_empty(clerk: Browser, cast: Cast) -> None:
    payment = Payment.objects.get(pk=make.payment(cast.bakery.test, amount="18.50")["id"])
    page = words(clerk.get(f"/admin/payments/payment/{payment.pk}/change/"))
    assert "Amount €18.50" in page
    assert "Settlement amount cents" not in page
    assert re.search(r"\d+ empty fields", page)


def test_a_store_is_edited_in_units_that_the_page_names(clerk: Browser, cast: Cast) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(country="DE")
    page = words(clerk.get(f"/admin/stores/store/{cast.bakery.store.pk}/change/"))
    assert "Business verified" in page
    assert "Payouts are reviewed above (EUR)" in page
    assert "Country Germany" in page


def test_no_record_leads_to_a_page_of_a_library(clerk: Browser, cast: Cast) -> None:
    app = Application.objects.create(
        name="Till",
        store=cast.bakery.store,
        user=cast.alice,
        redirect_uris="https://till.example/back",
    )
    assert (
        "/admin/r/" not in clerk.get(f"/admin/access/application/{app.pk}/change/").content.decode()
    )
    kind = ContentType.objects.get_for_model(Application).pk
    assert clerk.get(f"/admin/r/{kind}/{app.pk}/").status_code == 404


def test_parts_of_a_record_are_not_taken_for_new_ones(clerk: Browser, cast: Cast) -> None:
    """The site's script gives a row that it takes for a new one a button that removes it."""
    payment = make.payment(cast.bakery.test)["id"]
    page = text(clerk.get(f"/admin/payments/payment/{payment}/change/"))
    assert 'class="form-row has_original"' in page
    assert 'class="form-row"' not in page.partition('id="events-group"')[2]
    assert "object (" not in page


def test_network_fees_are_in_the_coin_that_people_know(clerk: Browser, cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    row = make.payout(cast.bakery.test, 10**16)
    page = words(clerk.get(f"/admin/payouts/payout/{row['id']}/change/"))
    assert "Network fees of failed attempts 0 ETH" in page
