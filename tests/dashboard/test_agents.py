"""Agents in the dashboard: a credential is shown once, caps are enforced as they are typed, a
revoked mandate is dry."""

import re

import pytest

from apps.access.models import AgentCredential
from apps.agents.models import AgentPayoutCap, Mandate
from apps.assets.models import Asset
from apps.stores.models import User
from apps.stores.settings import write_settings
from tests import make
from tests.cast import Api, Cast
from tests.dashboard.browse import Browser, text


@pytest.fixture
def agent(cast: Cast) -> Api:
    write_settings(cast.bakery.store, {"authorization_provider": "policy"})
    answer = Browser(cast.alice).post(
        "agents/new",
        name="Research bot",
        scopes=["payments:read", "payouts:write", "x402:write", "x402:read"],
    )
    assert answer.status_code == 201
    secret = answer.context["secret"]
    assert secret.startswith("svca_test_") and secret not in text(Browser(cast.bob).get("agents"))
    return Api(secret)


def test_a_credential_is_shown_once_works_and_ends_when_revoked(cast: Cast, agent: Api) -> None:
    row = AgentCredential.objects.get(name="Research bot")
    assert agent.get("/agentic/account").json()["agent"]["name"] == "Research bot"
    assert agent.get("/agentic/balances").status_code == 403
    browser = Browser(cast.alice)
    assert "This can’t be undone" in text(browser.get(f"agents/{row.pk}/revoke"))
    browser.post(f"agents/{row.pk}/revoke")
    assert agent.get("/agentic/account").json()["error"]["code"] == "invalid_agent_credential"
    assert f"{row.token_prefix}…" not in text(browser.get("agents"))


def test_caps_are_typed_in_coins_and_hold_for_the_agents_payouts(cast: Cast, agent: Api) -> None:
    make.paid(cast.bakery.test, amount="100.00")
    row = AgentCredential.objects.get(name="Research bot")
    Browser(cast.alice).post(
        f"agents/{row.pk}/caps", **{"SETH.per_tx": "0.001", "SETH.daily": "0.0015"}
    )
    cap = AgentPayoutCap.objects.get()
    assert (cap.per_tx_atomic, cap.daily_atomic) == (10**15, 15 * 10**14)
    body = {"asset_id": "SETH", "destination_address": "0x52908400098527886E0F7030069857D2E4169EE7"}
    refused = agent.post("/agentic/payouts", {**body, "amount_atomic": str(10**15 + 1)}, key="a")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "per_tx_cap_exceeded")
    assert (
        agent.post("/agentic/payouts", {**body, "amount_atomic": str(10**15)}, key="b").status_code
        == 201
    )
    refused = agent.post("/agentic/payouts", {**body, "amount_atomic": str(10**15)}, key="c")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "daily_cap_exceeded")
    assert "0.001" in text(Browser(cast.alice).get(f"agents/{row.pk}/caps"))
    Browser(cast.alice).post(f"agents/{row.pk}/caps", **{"SETH.per_tx": "", "SETH.daily": ""})
    assert not AgentPayoutCap.objects.exists()


def test_caps_can_be_kept_as_the_form_begins_with_them_in_any_region(
    cast: Cast, agent: Api
) -> None:
    row = AgentCredential.objects.get(name="Research bot")
    Browser(cast.alice).post(f"agents/{row.pk}/caps", **{"SETH.daily": "1.2340"})
    User.objects.filter(pk=cast.alice.pk).update(region="de")
    browser = Browser(cast.alice)
    page = browser.get(f"agents/{row.pk}/caps").content.decode()
    found = re.search(r'name="SETH.daily"[^>]*value="([^"]*)"', page)
    assert found is not None
    answer = browser.post(f"agents/{row.pk}/caps", **{"SETH.daily": found[1]})
    assert answer.status_code == 303
    assert AgentPayoutCap.objects.get().daily_atomic == 1234 * 10**15


def test_a_cap_that_is_no_amount_is_refused(cast: Cast, agent: Api) -> None:
    row = AgentCredential.objects.get(name="Research bot")
    browser = Browser(cast.alice)
    for typed in ("-1", "a lot", "1e3", "0.0000000000000000001"):
        answer = browser.post(f"agents/{row.pk}/caps", **{"SETH.per_tx": typed})
        assert answer.status_code == 422, typed
    assert not AgentPayoutCap.objects.exists()


def test_each_wrong_cap_is_told_at_its_input_and_the_first_has_the_focus(
    cast: Cast, agent: Api
) -> None:
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    row = AgentCredential.objects.get(name="Research bot")
    answer = Browser(cast.alice).post(
        f"agents/{row.pk}/caps",
        **{"SETH.per_tx": "1", "SETH.daily": "a lot", "USDC_SETH.daily": "-1"},
    )
    page = answer.content.decode()
    assert (
        answer.status_code == 422
        and page.count('aria-invalid="true"') == 2
        and page.count("autofocus") == 1
    )
    for name in ("SETH.daily", "USDC_SETH.daily"):
        assert f'aria-describedby="{name}-error"' in page and f'id="{name}-error"' in page
    assert page.index("autofocus") < page.index('id="USDC_SETH.daily"')
    assert (
        'value="a lot"' in page
        and "Maximum per day must be a decimal number of coins with at most 18 places."
        in text(answer)
    )


def test_a_credential_without_a_name_is_told_at_its_input(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for name in ("", " ", "x" * 101):
        answer = browser.post("agents/new", name=name, scopes=["payments:read"])
        page = answer.content.decode()
        assert answer.status_code == 422, name
        assert 'aria-describedby="name-error"' in page and 'id="name-error"' in page, name
        assert page.count("autofocus") == 1, name
        assert not AgentCredential.objects.filter(name=name).exists(), name


def test_an_unknown_scope_is_told_at_the_scopes_and_what_was_chosen_stays(cast: Cast) -> None:
    answer = Browser(cast.alice).post(
        "agents/new", name="Bot", scopes=["payments:read", "everything"]
    )
    page = " ".join(answer.content.decode().split())
    assert answer.status_code == 422 and 'id="scopes-error"' in page and "everything" in page
    assert 'value="Bot"' in page and 'value="payments:read" checked' in page


def test_a_revoked_mandate_is_not_drawn_on(cast: Cast, agent: Api) -> None:
    made = agent.post(
        "/agentic/mandates",
        {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": "books"},
    ).json()
    browser = Browser(cast.alice)
    page = text(browser.get(f"agents/mandates/{made['id']}"))
    assert "books" in text(browser.get("agents/mandates")) and "Revoke mandate" in page
    assert "Your store’s rules for agents" in page
    browser.post(f"agents/mandates/{made['id']}/revoke")
    assert Mandate.objects.get().status == "revoked"
    history = text(browser.get(f"agents/mandates/{made['id']}")).partition('id="history"')[2]
    assert 0 < history.index(">Revoked<") < history.index(">Active<")
    drawn = agent.post(
        "/agentic/x402/settlements",
        {"asset_id": "SETH", "mandate_ref": "books", "amount_atomic": "0"},
        key="k",
    )
    assert (drawn.status_code, drawn.json()["error"]["code"]) == (403, "mandate_required")


def test_a_stranger_sees_none_of_it(cast: Cast, agent: Api) -> None:
    made = agent.post(
        "/agentic/mandates",
        {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": "books"},
    ).json()
    assert Browser(cast.charlie).get(f"agents/mandates/{made['id']}").status_code == 404
    assert (
        Browser(cast.charlie)
        .get(f"agents/{AgentCredential.objects.get(name='Research bot').pk}/caps")
        .status_code
        == 404
    )
