"""A session of a moment ago, in other hands: what opens a way for money takes a code of its own,
and a key that is taken over has a new secret."""

from typing import Any

import pytest

from apps.access.access import ACT, RECENT
from apps.access.factors import own_factor, second_factor
from apps.access.factors.stepup import StepUpRequired
from apps.access.models import ApiKey, SecondFactor
from apps.core import mail
from apps.core.models import OutgoingMail
from apps.stores.models import Member, Role
from tests.access.test_makers import alice, bob, code_of_payout, demote, made
from tests.cast import PASSWORD, Api, Cast, person
from tests.dashboard.browse import Browser, next_code, text

__all__ = ["alice", "bob", "made"]
MONEY_KEY = {"api_key": {"name": "Out", "mode": "live", "scopes": ["payouts:write"]}}


@pytest.fixture
def thief(cast: Cast) -> Browser:
    """A thief with the session's cookie, a moment after its owner entered a code, and nothing
    else."""
    browser = Browser(cast.alice).prove()
    browser.switch("live")
    return browser


def ask(browser: Browser, **headers: str) -> Any:
    return browser.client.post(
        "/api/v2/api_keys", MONEY_KEY, content_type="application/json", headers=headers
    )


def test_a_session_alone_makes_no_key_that_moves_money(cast: Cast, thief: Browser) -> None:
    before = ApiKey.objects.count()
    refused = ask(thief)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "otp_required")
    form = {"name": "Out", "key_type": "secret", "scopes": "payouts:write"}
    assert thief.post("api-keys/new", **form).context["asks_code"]
    assert ApiKey.objects.count() == before
    asked = thief.post("api-keys/new", **form)
    assert thief.confirm(asked, "api-keys/new", **form).status_code == 201


def test_a_code_makes_one_key_and_opens_nothing_else(cast: Cast, thief: Browser) -> None:
    assert ask(thief, **{"X-OTP-Code": next_code(cast.alice)}).status_code == 201
    assert ask(thief).status_code == 403


PERSONAL = (
    "security/authenticator/remove",
    "security/backup-codes",
    "security/passkeys/new",
    "security/email",
)


@pytest.mark.parametrize("path", PERSONAL)
@pytest.mark.parametrize("has_store", [True, False])
def test_what_opens_an_account_is_not_changed_with_the_session_alone(
    cast: Cast, path: str, has_store: bool
) -> None:
    user = cast.alice if has_store else person("nora")
    browser = Browser(user).prove()
    factor = SecondFactor.objects.get(user=user)
    answer = browser.post(path, email="thief@example.com", password=PASSWORD, passkey="{}")
    assert answer.context["asks_code"], answer.status_code
    assert "Verify it’s you" in text(answer) and user.email in text(answer)
    after = SecondFactor.objects.get(user=user)
    assert after.pk == factor.pk and after.backup_codes == factor.backup_codes
    assert not OutgoingMail.objects.filter(template="email_change").exists()
    wrong = browser.client.post(
        f"/dashboard/{path}", {"code": "000000", "act": answer.context["act"]}
    )
    assert wrong.status_code == 422 and wrong.context["asks_code"]


def test_with_a_code_of_its_own_the_address_is_changed_once(cast: Cast) -> None:
    browser = Browser(cast.alice).prove()
    assert browser.confirm(browser.get("security/email"), "security/email").status_code == 303
    form = {"email": "new@example.com", "password": PASSWORD}
    assert browser.post("security/email", **form).status_code == 303
    assert OutgoingMail.objects.filter(to="new@example.com", template="email_change").exists()
    assert browser.post("security/email", **form).context["asks_code"], "the code was for one"


def test_a_code_for_one_act_of_the_account_opens_no_other(cast: Cast) -> None:
    browser = Browser(cast.alice).prove()
    asked = browser.get("security/email")
    sent = {"act": asked.context["act"], "code": next_code(cast.alice)}
    answer = browser.client.post("/dashboard/security/authenticator/remove", sent)
    assert answer.status_code == 422
    assert second_factor.confirmed(cast.alice) is not None


@pytest.mark.parametrize("proof", ["", RECENT])
def test_the_services_of_an_account_ask_for_the_act_themselves(cast: Cast, proof: str) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    with pytest.raises(StepUpRequired):
        own_factor.renew_codes(cast.alice, proof)
    with pytest.raises(StepUpRequired):
        own_factor.remove(cast.alice, proof)
    with pytest.raises(StepUpRequired):
        own_factor.remove_passkey(cast.alice, None, proof)
    assert len(own_factor.renew_codes(cast.alice, ACT)) == 10
    mail.send_due()
    assert OutgoingMail.objects.filter(to=cast.alice.email, template="account_changed").exists()


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("team/invite", {"email": "accomplice@example.com", "role": "admin"}),
        ("team/{bob}/role", {"role": "admin"}),
        ("team/{bob}/owner", {}),
    ],
)
def test_nobody_is_let_in_or_raised_with_the_session_alone(
    cast: Cast, thief: Browser, path: str, form: dict[str, str]
) -> None:
    answer = thief.post(path.format(bob=cast.bob.pk), **form)
    assert answer.context["asks_code"]
    members = dict(Member.objects.filter(store=cast.bakery.store).values_list("user_id", "role"))
    assert members[cast.bob.pk] == Role.DEVELOPER and members[cast.alice.pk] == Role.OWNER


def test_who_left_has_nothing_of_a_key_that_is_taken_over(
    cast: Cast, bob: Member, made: dict[str, Api], alice: Browser
) -> None:
    demote(alice, bob)
    for path, name, outcome in (
        ("api-keys", "key", "invalid_api_key"),
        ("agents", "agent", "invalid_agent_credential"),
    ):
        row = alice.get(path).context["keys" if name == "key" else "credentials"]
        taken = next(item for item, lost in row if lost)
        old = made[name]
        asked = alice.post(f"{path}/{taken.pk}/take-over")
        answer = alice.confirm(asked, f"{path}/{taken.pk}/take-over")
        assert answer.status_code == 201 and "won’t be shown again" in text(answer)
        new = Api(answer.context["secret"])
        where = "/payouts" if name == "key" else "/agentic/payouts"
        assert code_of_payout(old, where) == outcome
        assert code_of_payout(new, where) != "insufficient_scope"
        assert new.get("/payments" if name == "key" else "/agentic/account").status_code == 200
