"""Two members of staff write the secrets of networks; staff read card payments, and nobody reads a
secret back."""

import pytest

from apps.core import clock, crypto
from apps.onramp.models import Credential
from apps.onramp.services import credentials
from apps.onramp.services.credentials import keep_secrets
from apps.onramp.services.networks import key_problem
from apps.staff.decisions.forms import CardNetworkForm
from apps.stores.models import AuditEntry, StaffRequest
from apps.stores.staff import four_eyes
from tests import auditing, make
from tests.cast import Shop
from tests.dashboard.browse import Browser, text
from tests.onramp.cards import SECRET, credential, opened
from tests.onramp.conftest import shop
from tests.staff.test_sign_in import clerk, staff

__all__ = ["clerk", "shop", "staff"]  # fixtures

KEY = "pk_test_0123456789abcdef"


def form(row: Credential | None = None, **fields: str) -> CardNetworkForm:
    told = {
        "provider": "onramper",
        "mode": "test",
        "is_active": "on",
        "reason": "A new contract",
        **fields,
    }
    return CardNetworkForm(told, preset={"credential": str(row.pk)} if row else {})


def test_a_new_row_needs_a_key_and_a_known_one_keeps_its_own(db: None) -> None:
    one = make.clerk("admin")
    other = make.clerk("admin")
    at = clock.real_now()
    assert not form(provider="sandbox", api_key=KEY).is_valid()
    keyless = form()
    assert keyless.is_valid()
    with pytest.raises(credentials.CredentialRefused, match="has an API key"):
        keyless.ask(one, at)
    row = credential(api_key=KEY)
    change = form(row, webhook_secret="whsec-new")
    assert change.is_valid(), change.errors
    asked = change.ask(one, at)
    assert asked is not None and "whsec-new" not in asked.content
    four_eyes.approve(credentials.CARD_NETWORK, asked.pk, other, at, digest=asked.digest)
    row.refresh_from_db()
    assert crypto.decrypt(row.sealed_api_key, row.place("sealed_api_key")) == KEY
    assert (
        crypto.decrypt(row.sealed_webhook_secret, row.place("sealed_webhook_secret")) == "whsec-new"
    )


def test_a_stored_secret_is_in_no_form(db: None) -> None:
    html = str(form(credential(api_key=KEY)))
    assert KEY not in html and SECRET not in html


def test_switching_a_network_off_takes_one(db: None) -> None:
    row = credential(api_key=KEY)
    change = form(row, is_active="")
    assert change.is_valid() and change.ask(make.clerk("admin"), clock.real_now()) is None
    row.refresh_from_db()
    assert not row.is_active and row.sealed_api_key


def test_an_empty_secret_leaves_the_one_that_is_stored(db: None) -> None:
    row = keep_secrets(credential(api_key=KEY), webhook_secret="another")
    assert crypto.decrypt(row.sealed_api_key, row.place("sealed_api_key")) == KEY
    assert (
        crypto.decrypt(row.sealed_webhook_secret, row.place("sealed_webhook_secret")) == "another"
    )
    log = list(
        AuditEntry.objects.filter(action__startswith="card_credential.")
        .order_by("id")
        .values_list("action", "details")
    )
    assert [action for action, _ in log] == ["card_credential.created", "card_credential.changed"]
    assert (
        log[1][1]["changed"] == ["webhook_secret"]
        and KEY not in str(log)
        and "another" not in str(log)
    )


@pytest.mark.parametrize(
    ("provider", "mode", "key", "problem"),
    [
        ("onramper", "test", "pk_prod_1", "live_credentials_in_test"),
        ("onramper", "live", "pk_test_1", "live_credentials_in_live"),
        ("onramper", "live", "pk_prod_1", ""),
        ("nobody", "live", "x", "provider_unconfigured"),
    ],
)
def test_a_key_of_the_other_mode_is_noticed(
    provider: str, mode: str, key: str, problem: str
) -> None:
    assert key_problem(provider, mode, key) == problem


@pytest.mark.parametrize("page", ["fundingsession", "callback", "credential"])
def test_the_staff_pages_open_and_hold_no_secret(shop: Shop, staff: Browser, page: str) -> None:
    session = opened(make.payment(shop.test, amount="50.00"))
    row = credential(api_key=KEY)
    paths = {
        "fundingsession": [f"{session['id']}/change/"],
        "credential": [f"{row.pk}/change/"],
    }.get(page, [])
    for path in ("", *paths):
        answer = staff.get(f"/admin/onramp/{page}/{path}")
        shown = answer.content.decode()
        assert (
            answer.status_code == 200
            and KEY not in shown
            and SECRET not in shown
            and row.sealed_api_key not in shown
        )


def test_two_members_of_staff_write_a_credential(db: None, staff: Browser) -> None:
    wanted = {
        "provider": "onramper",
        "mode": "test",
        "api_key": KEY,
        "webhook_secret": SECRET,
        "is_active": "on",
        "reason": "New",
    }
    page = "/admin/stores/staffrequest/ask/card_network/"
    assert "live_credentials_in_live" not in text(staff.get(page))
    refused = staff.post(page, **wanted | {"mode": "live"})
    assert refused.status_code == 422 and "live_credentials_in_live" in text(refused)
    assert staff.post(page, **wanted).status_code == 302
    asked = StaffRequest.objects.get()
    assert not Credential.objects.exists() and KEY not in asked.content + asked.sealed
    shown = text(staff.get(f"/admin/stores/staffrequest/{asked.pk}/decide/"))
    assert (
        "New key: pk_test_…" in shown
        and KEY not in shown
        and SECRET not in shown
        and "you requested this" in shown.lower()
    )

    four_eyes.approve(
        credentials.CARD_NETWORK,
        asked.pk,
        make.clerk("admin"),
        clock.real_now(),
        digest=asked.digest,
    )
    row = Credential.objects.get()
    assert crypto.decrypt(row.sealed_api_key, row.place("sealed_api_key")) == KEY
    assert crypto.decrypt(row.sealed_webhook_secret, row.place("sealed_webhook_secret")) == SECRET
    assert StaffRequest.objects.get().sealed == ""
    assert auditing.breaches() == []
