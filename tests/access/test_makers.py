"""Keys and agents lose permissions with the person who made them, and the store's owners can take
them over."""

from typing import Any

import pytest
from django.core import mail as django_mail

from apps.access.models import AgentCredential, ApiKey
from apps.access.services import create_agent_credential, create_api_key
from apps.core import mail
from apps.stores.models import Member, Role
from tests.cast import Api, Cast, signed_in
from tests.dashboard.browse import Browser, text

PAYOUT: dict[str, Any] = {}


@pytest.fixture
def bob(cast: Cast) -> Member:
    """He may move money, and has made a key and an agent that do."""
    member = Member.objects.get(store=cast.bakery.store, user=cast.bob)
    Member.objects.filter(pk=member.pk).update(role=Role.ADMIN)
    return member


@pytest.fixture
def made(cast: Cast, bob: Member) -> dict[str, Api]:
    by = signed_in(cast.bob, cast.bakery.store, "test", Role.ADMIN)
    wanted = ["payouts:write", "payments:write", "payments:read"]
    key = create_api_key(cast.bakery.store, "test", name="Till", scope_names=wanted, by=by)[1]
    agent = create_agent_credential(
        cast.bakery.store, "test", name="Bot", scope_names=wanted, by=by
    )[1]
    return {"key": Api(key), "agent": Api(agent)}


@pytest.fixture
def alice(cast: Cast, made: dict[str, Api]) -> Browser:
    return Browser(cast.alice).prove()


def code_of_payout(api: Api, path: str = "/payouts") -> str | None:
    error = api.post(path, PAYOUT, key="one").json()["error"]
    code: str | None = error["code"] if isinstance(error, dict) else None
    return code


def emails() -> list[Any]:
    mail.send_due()
    return [item for item in django_mail.outbox if "has been reduced" in item.subject]


def demote(alice: Browser, bob: Member) -> None:
    path = f"team/{bob.user_id}/role"
    asked = alice.post(path, role="developer")
    assert alice.confirm(asked, path, role="developer").status_code == 303


def take_over(alice: Browser, path: str) -> Any:
    return alice.confirm(alice.post(path), path)


def test_a_demotion_takes_the_money_from_what_somebody_made(
    cast: Cast, bob: Member, made: dict[str, Api], alice: Browser
) -> None:
    assert code_of_payout(made["key"]) is None
    assert code_of_payout(made["agent"], "/agentic/payouts") != "insufficient_scope"
    demote(alice, bob)
    assert code_of_payout(made["key"]) == "insufficient_scope"
    assert code_of_payout(made["agent"], "/agentic/payouts") == "insufficient_scope"
    assert made["key"].get("/payments").status_code == 200, "the shop still takes money"
    assert "payouts:write" not in made["agent"].get("/agentic/account").json()["agent"]["scopes"]


def test_owners_read_which_keys_lost_what(cast: Cast, bob: Member, alice: Browser) -> None:
    demote(alice, bob)
    (email,) = emails()
    assert email.to == [cast.alice.email]
    assert "Bob’s role at Alice's Bakery is now developer" in email.body
    assert (
        "API key Till (test): payouts:write" in email.body
        and "Agent Bot (test): payouts:write" in email.body
    )
    assert "payments:write" not in email.body


@pytest.mark.parametrize("how", ["removed", "deactivated"])
def test_what_a_person_who_is_gone_made_moves_no_money(
    cast: Cast, bob: Member, made: dict[str, Api], alice: Browser, how: str
) -> None:
    if how == "removed":
        assert alice.post(f"team/{bob.user_id}/remove").status_code == 303
        assert "Bob is no longer on the team" in emails()[0].body
    else:
        type(cast.bob).objects.filter(pk=cast.bob.pk).update(is_active=False)
    assert code_of_payout(made["key"]) == "insufficient_scope"
    assert code_of_payout(made["agent"], "/agentic/payouts") == "insufficient_scope"
    assert made["key"].get("/payments").status_code == 200


def test_nobody_is_written_to_when_nothing_was_lost(
    cast: Cast, alice: Browser, bob: Member
) -> None:
    ApiKey.objects.update(scopes=["payments:write"])
    AgentCredential.objects.update(scopes=["payments:write"])
    demote(alice, bob)
    assert emails() == []


def test_an_owner_takes_a_key_and_an_agent_over(
    cast: Cast, bob: Member, made: dict[str, Api], alice: Browser
) -> None:
    demote(alice, bob)
    for room, model in (("api-keys", ApiKey), ("agents", AgentCredential)):
        row = model.objects.get(user=cast.bob)
        shown = text(alice.get(room))
        assert (
            "Without payouts:write: its creator no longer has these permissions" in shown
            and "Take over" in shown
        )
        assert "payouts:write" in text(alice.get(f"{room}/{row.pk}/take-over"))
        answer = take_over(alice, f"{room}/{row.pk}/take-over")
        assert answer.status_code == 201
        row.refresh_from_db()
        assert row.user == cast.alice
        assert "Take over" not in text(alice.get(room))
        made[row.name] = Api(answer.context["secret"])
    assert code_of_payout(made["Till"]) is None
    assert code_of_payout(made["Bot"], "/agentic/payouts") != "insufficient_scope"


def test_only_an_owner_takes_over_and_only_what_has_lost_something(
    cast: Cast, bob: Member, alice: Browser
) -> None:
    key = ApiKey.objects.get(user=cast.bob)
    assert alice.post(f"api-keys/{key.pk}/take-over").status_code == 303
    key.refresh_from_db()
    assert key.user == cast.bob
    demote(alice, bob)
    assert Browser(cast.bob).prove().post(f"api-keys/{key.pk}/take-over").status_code == 403
    assert alice.post(f"api-keys/{key.pk}/take-over").context["asks_code"]
    key.refresh_from_db()
    assert key.user == cast.bob


def test_the_operators_keys_are_nobodys(cast: Cast, alice: Browser, bob: Member) -> None:
    secret = create_api_key(cast.bakery.store, "test")[1]
    demote(alice, bob)
    assert code_of_payout(Api(secret)) is None


def test_a_credential_is_read_with_its_maker_in_one_statement(
    cast: Cast, made: dict[str, Api], django_assert_num_queries: Any
) -> None:
    from apps.access.services import authenticate

    credential = made["key"].headers["Authorization"].removeprefix("Bearer ")
    authenticate(credential)
    with django_assert_num_queries(1):
        assert "payouts:write" in authenticate(credential).scopes
