"""Staff write the secrets of networks and read card payments; nobody reads a secret back."""

import pytest

from apps.core import crypto
from apps.onramp.admin import CredentialForm
from apps.onramp.models import Credential
from apps.onramp.services.credentials import keep_secrets
from apps.onramp.services.networks import key_problem
from apps.stores.models import AuditEntry
from tests import make
from tests.cast import Shop
from tests.dashboard.browse import Browser
from tests.dashboard.test_staff import clerk, staff
from tests.onramp.cards import SECRET, credential, opened

__all__ = ["clerk", "staff"]  # fixtures

KEY = "pk_test_0123456789abcdef"


def form(row: Credential | None = None, **fields: str) -> CredentialForm:
    return CredentialForm({"provider": "onramper", "mode": "test", "is_active": "on", **fields}, instance=row)


def test_a_new_row_needs_a_key_and_a_known_one_keeps_its_own(db: None) -> None:
    assert "api_key" in form().errors
    assert form(api_key=KEY).is_valid()
    assert form(credential()).is_valid()
    assert not form(provider="sandbox", api_key=KEY).is_valid()


def test_a_stored_secret_is_in_no_form(db: None) -> None:
    html = str(form(credential(api_key=KEY)))
    assert KEY not in html and SECRET not in html and "pk_test_…" in html


def test_an_empty_secret_leaves_the_one_that_is_stored(db: None) -> None:
    row = keep_secrets(credential(api_key=KEY), webhook_secret="another")
    assert crypto.decrypt(row.sealed_api_key, row.place("sealed_api_key")) == KEY
    assert crypto.decrypt(row.sealed_webhook_secret, row.place("sealed_webhook_secret")) == "another"
    log = list(AuditEntry.objects.filter(action__startswith="card_credential.").order_by("id").values_list("action", "details"))
    assert [action for action, _ in log] == ["card_credential.created", "card_credential.changed"]
    assert log[1][1]["changed"] == ["webhook_secret"] and KEY not in str(log) and "another" not in str(log)


@pytest.mark.parametrize(
    ("provider", "mode", "key", "problem"),
    [
        ("onramper", "test", "pk_prod_1", "live_credentials_in_test"),
        ("onramper", "live", "pk_test_1", "live_credentials_in_live"),
        ("onramper", "live", "pk_prod_1", ""),
        ("nobody", "live", "x", "provider_unconfigured"),
    ],
)
def test_a_key_of_the_other_mode_is_noticed(provider: str, mode: str, key: str, problem: str) -> None:
    assert key_problem(provider, mode, key) == problem


@pytest.mark.parametrize("page", ["fundingsession", "callback", "credential"])
def test_the_staff_pages_open_and_hold_no_secret(shop: Shop, staff: Browser, page: str) -> None:
    session, row = opened(make.payment(shop.test, amount="50.00")), credential(api_key=KEY)
    paths = {"fundingsession": [f"{session['id']}/change/"], "credential": [f"{row.pk}/change/", "add/"]}.get(page, [])
    for path in ("", *paths):
        answer = staff.get(f"/admin/onramp/{page}/{path}")
        shown = answer.content.decode()
        assert answer.status_code == 200 and KEY not in shown and SECRET not in shown and row.sealed_api_key not in shown


def test_staff_write_a_credential(db: None, staff: Browser) -> None:
    wanted = {"provider": "onramper", "mode": "live", "api_key": KEY, "webhook_secret": SECRET, "is_active": "on", "store": ""}
    answer = staff.post("/admin/onramp/credential/add/", **wanted)
    assert answer.status_code == 302
    row = Credential.objects.get()
    assert crypto.decrypt(row.sealed_api_key, row.place("sealed_api_key")) == KEY
    assert "live_credentials_in_live" in staff.get("/admin/onramp/credential/").content.decode(), "a test key in live mode is told"
