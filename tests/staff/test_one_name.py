"""One thing has one name on the staff site, and what records share is at one place."""

from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from apps.assets.models import Chain, Rate
from apps.ledger.models import Account, Movement
from apps.payouts.models import Destination, WalletNetwork
from apps.staff.decisions.store_forms import FORMS
from apps.staff.labels import in_one_order
from apps.staff.plumbing.values import shown
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.staff.pages import HOME, words
from tests.staff.test_roles import signed_in


def test_a_form_is_called_on_the_home_as_its_own_page_calls_it(cast: Cast) -> None:
    clerks = {role: signed_in(make.clerk(role)) for role in ("finance", "admin")}
    home = unescape(text(clerks["admin"].get(HOME)))
    for kind, form in FORMS.items():
        page = reverse("admin:stores_staffrequest_ask", args=[kind])
        assert f'<a href="{page}">{form.title}</a>' in home
        asked_by = clerks["finance" if kind == "correction" else "admin"]
        assert f"<h1>{form.title}</h1>" in unescape(text(asked_by.get(page)))
        about = {"store": cast.bakery.store.pk, "email": cast.alice.email}
        shown_page = unescape(text(asked_by.get(page, data=about)))
        assert f"<h1>{form.title}</h1>" in shown_page and form.what_follows in shown_page
        assert ">Cancel</a>" in shown_page


def test_sending_is_resumed_from_the_home_only_while_it_is_on_hold(
    finance: Browser,
) -> None:
    assert "Resume sending" not in text(finance.get(HOME))
    form = {"act": "hold", "what": "all", "reason": "A doubt"}
    assert finance.post("/admin/sending/", **form).status_code == 302
    assert "Resume sending" in text(finance.get(HOME))


@pytest.mark.parametrize(
    ("row", "name"), [(Rate(currency="CHF"), "Swiss franc"), (Destination(currency="EUR"), "Euro")]
)
def test_a_currency_is_called_by_its_name_where_a_column_has_its_code(row: Any, name: str) -> None:
    assert shown(row, "currency") == name


def test_a_wallets_network_is_called_as_its_chain(db: None) -> None:
    names = dict(Chain.objects.values_list("pk", "name"))
    assert names["sepolia"] == "Ethereum Sepolia"
    for network in WalletNetwork:
        assert network.full_name == names.get(network.value, network.full_name)


def test_a_wallet_may_be_saved_on_every_network_of_the_catalog(db: None) -> None:
    modes = {network.value: "test" if network.is_test else "live" for network in WalletNetwork}
    assert dict(Chain.objects.values_list("pk", "mode")).items() <= modes.items()


def test_whose_a_record_is_comes_first_and_what_belongs_to_nobody_stays() -> None:
    assert in_one_order(["id", "mode", "created_at", "url", "store"]) == [
        "id",
        "store",
        "mode",
        "created_at",
        "url",
    ]
    assert in_one_order(["at", "mode", "created_at"]) == ["at", "mode", "created_at"]


def test_accounts_are_listed_by_owner_the_services_own_first(cast: Cast, finance: Browser) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    page = words(finance.get("/admin/ledger/account/"))
    assert page.index("The service") < page.index("Available Alice")


def test_only_what_staff_change_on_the_site_has_a_history(cast: Cast, finance: Browser) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    account = Account.objects.get(store=cast.bakery.store, kind="available", asset="SETH")
    movement = Movement.objects.latest("id")
    for path in (f"ledger/account/{account.pk}", f"ledger/movement/{movement.pk}"):
        assert ">History</a>" not in text(finance.get(f"/admin/{path}/change/"))
    assert ">History</a>" in text(finance.get("/admin/assets/asset/SETH/change/"))
