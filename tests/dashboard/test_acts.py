"""A code for an act opens that act alone: on every page that moves money or opens a way for it, and
on the API with a session."""

import html
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from apps.access.access import Access
from apps.access.factors import passkeys, stepup
from apps.access.models import AgentCredential, KeyType, WaitingPeriodSettings
from apps.agents.models import AgentPayoutCap
from apps.assets.models import Asset
from apps.chain.models import WalletChoice
from apps.core import clock
from apps.dashboard.site.acts import ACTS
from apps.dashboard.urls import PAGES
from apps.payments.models import LateDeposit, Refund, TransferReturn
from apps.payouts.models import (
    ApprovalRule,
    Destination,
    Payout,
    PayoutApproval,
    PayoutBatch,
    Schedule,
)
from apps.payouts.requests import ScheduleRequest
from apps.payouts.services.batches import open_batch
from apps.payouts.services.destinations import add_wallet
from apps.payouts.services.schedules import create_schedule
from apps.stores.models import Role, Store
from apps.swaps.models import AutoSwap, Swap
from tests import make
from tests.cast import Cast, join, person, shop_of
from tests.chain.own_wallets import xpub
from tests.dashboard import access_acts
from tests.dashboard.browse import Browser, hidden_fields, next_code, text
from tests.dashboard.conftest import with_coins
from tests.stage import standing

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
SCHEDULE = {
    "asset_id": "SETH",
    "frequency": "weekly",
    "minimum": "",
    "minimum_fiat_currency": "EUR",
    "swap_target_asset_id": "",
    "next_day": "",
}
PAYOUT = {"asset_id": "SETH", "amount": "0.1", "destination": "", "destination_address": ADDRESS}
Step = tuple[str, dict[str, Any]]


@dataclass
class Begun:
    """A store with coins, its owner and her session, in which a code was given a moment ago, for
    what needs none of its own."""

    cast: Cast
    alice: Browser


def begin() -> Begun:
    cast = with_coins()
    assert cast.bakery.test, "its key is made once"
    return Begun(cast, Browser(cast.alice).prove())


@pytest.fixture(scope="module")
def begun(django_db_setup: None, django_db_blocker: Any) -> Iterator[Begun]:
    yield from standing(django_db_blocker, begin)


@pytest.fixture
def rich(begun: Begun, db: None) -> Cast:
    return begun.cast.again()


@pytest.fixture
def alice(begun: Begun, rich: Cast) -> Browser:
    browser = begun.alice.again()
    browser.user = rich.alice
    return browser


def reviewed(browser: Browser, path: str, **fields: str) -> Step:
    """The form of the page that shows the figures, as it comes back."""
    return path, hidden_fields(browser.post(path, **fields, form_key=uuid.uuid4().hex))


def dollars() -> None:
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)


def a_refund(world: Cast, browser: Browser) -> Step:
    make.paid(world.bakery.test, amount="50.00")
    return reviewed(browser, f"payments/{make.paid(world.bakery.test)['id']}/refund")


def a_swap(world: Cast, browser: Browser) -> Step:
    dollars()
    return reviewed(
        browser, "swaps/new", source_asset_id="SETH", buy_asset_id="USDC_SETH", amount="0.1"
    )


def a_schedule(world: Cast, browser: Browser) -> Step:
    saved = add_wallet(world.bakery.store, "test", "sepolia", ADDRESS)
    return "payouts/schedules/new", {**SCHEDULE, "destination": f"wallet:{saved.pk}"}


def a_changed_schedule(world: Cast, browser: Browser) -> Step:
    made = scheduled(world)
    other = add_wallet(world.bakery.store, "test", "sepolia", OTHER)
    return f"payouts/schedules/{made.pk}/change", {**SCHEDULE, "destination": f"wallet:{other.pk}"}


def scheduled(world: Cast) -> Schedule:
    asked = ScheduleRequest(asset_id="SETH", frequency="weekly", destination_address=ADDRESS)
    return create_schedule(world.bakery.owner_access(), asked)


def a_run(world: Cast, browser: Browser) -> Step:
    return f"payouts/schedules/{scheduled(world).pk}/run", {}


def caps(world: Cast, browser: Browser) -> Step:
    return f"agents/{world.bakery.agent().pk}/caps", {"SETH.per_tx": "0.5"}


def automatic_swaps(world: Cast, browser: Browser) -> Step:
    dollars()
    return "settings/auto-swap", {"target_asset_id": "USDC_SETH"}


def a_batch(world: Cast, browser: Browser) -> Step:
    raw = f"asset_id,amount,destination\nSETH,0.1,{ADDRESS}\n".encode()
    viewer = Access.for_session(world.alice, world.bakery.store, "test")
    batch = open_batch(
        viewer, world.bakery.store, world.alice, filename="a.csv", raw=raw, form_key="a" * 32
    )
    return f"payouts/batches/{batch.pk}", {"agreed": batch.digest}


def a_paused_schedule(world: Cast, browser: Browser) -> Step:
    a_run(world, browser)
    Schedule.objects.update(is_active=False)
    return f"payouts/schedules/{Schedule.objects.get().pk}/switch", {"to": "active"}


def a_failed_payout(world: Cast, browser: Browser) -> Step:
    asked = {"asset_id": "SETH", "amount_atomic": str(10**16), "destination_address": ADDRESS}
    made = world.bakery.test.post("/payouts", asked, key="one").json()
    Payout.objects.update(status="failed")
    return f"payouts/{made['id']}/retry", {}


def a_stray_transfer(act: str) -> Callable[[Cast, Browser], Step]:
    """Coins at an address for another coin."""

    def ask(world: Cast, browser: Browser) -> Step:
        payment = make.payment(world.bakery.test)
        return f"transfers/{make.stray_transfer(payment['id'])}/{act}", {
            "reference": payment["reference"]
        }

    return ask


def a_waiting_payout(world: Cast, browser: Browser) -> Step:
    """Of a key whose maker nobody knows."""
    a_second_person(world, browser)
    at = clock.real_now()
    rule = {
        "store": world.bakery.store,
        "mode": "test",
        "created_at": at,
        "changed_at": at,
        "currency": "EUR",
    }
    ApprovalRule.objects.create(**rule, above_cents=0)
    make.payout(world.bakery.test, 10**16)
    page = f"approvals/{PayoutApproval.objects.get().pk}"
    return f"{page}/approve", hidden_fields(browser.get(page))


def a_second_person(world: Cast, browser: Browser) -> Step:
    join(world.bakery.store, person("adam"), Role.ADMIN)
    return "settings/approvals", {"above": "100"}


BANK = {"currency": "EUR", "holder": "Alice", "account": "DE89370400440532013000", "label": ""}
# page: how the act is asked for, and what there is more of once it is done
TABLE: dict[str, tuple[Callable[[Cast, Browser], Step], Callable[[], object]]] = {
    "payout_create": (
        lambda world, browser: reviewed(browser, "payouts/new", **PAYOUT),
        Payout.objects.count,
    ),
    "payout_batch": (a_batch, PayoutBatch.objects.exclude(released_at=None).count),
    "refund": (a_refund, Refund.objects.count),
    "swap_create": (a_swap, Swap.objects.count),
    "payout_wallet_add": (
        lambda *_: ("payouts/destinations/wallet", {"network": "sepolia", "address": ADDRESS}),
        Destination.objects.count,
    ),
    "payout_bank_add": (lambda *_: ("payouts/destinations/bank", BANK), Destination.objects.count),
    "payout_schedule_create": (a_schedule, Schedule.objects.count),
    "payout_schedule_change": (a_changed_schedule, lambda: Schedule.objects.get().destination_id),
    "payout_schedule_switch": (a_paused_schedule, Schedule.objects.filter(is_active=True).count),
    "payout_retry": (a_failed_payout, Payout.objects.filter(status="retrying").count),
    "transfer_accept": (a_stray_transfer("accept"), LateDeposit.objects.count),
    "transfer_return": (a_stray_transfer("return"), TransferReturn.objects.count),
    "approval_approve": (a_waiting_payout, Payout.objects.filter(status="pending").count),
    "settings_approvals": (a_second_person, ApprovalRule.objects.count),
    "payout_schedule_run": (a_run, Payout.objects.count),
    "agent_create": (
        lambda *_: ("agents/new", {"name": "Bot", "scopes": ["payouts:write"]}),
        AgentCredential.objects.count,
    ),
    "agent_caps": (caps, AgentPayoutCap.objects.count),
    "settings_waiting": (
        lambda *_: ("settings/waiting", {"hours": "48"}),
        lambda: WaitingPeriodSettings.of(Store.objects.get(name="Alice's Bakery")).cooling_hours,
    ),
    "settings_auto_swap": (
        automatic_swaps,
        lambda: AutoSwap.objects.exclude(target_asset=None).count(),
    ),
    "settings_wallet": (
        lambda *_: ("settings/wallets/change?asset=SETH", {"kind": "key", "content": xpub()}),
        WalletChoice.objects.count,
    ),
    **access_acts.TABLE,
}


def test_every_act_is_in_the_table_and_has_a_name() -> None:
    pages = {page.name for page in PAGES if page.is_act}
    assert pages == set(TABLE) | access_acts.CODE_FIRST and pages <= set(ACTS)
    assert not any(page.is_act and page.stepup for page in PAGES)


@pytest.mark.parametrize("page", TABLE)
def test_an_act_takes_a_code_of_its_own(rich: Cast, alice: Browser, page: str) -> None:
    ask, count = TABLE[page]
    path, fields = ask(rich, alice)
    before = count()
    asked = alice.post(path, **fields)
    assert (
        asked.status_code == 200
        and "Code from your authenticator app" in text(asked)
        and count() == before
    )
    shown = asked.content.decode()
    for cancel in re.findall(r'href="([^"]+)">Cancel</a>', shown):
        assert alice.client.get(html.unescape(cancel)).status_code in (200, 302, 303), cancel
    codes = {*Role.values, *KeyType.values, *Asset.objects.values_list("pk", flat=True)}
    facts = set(re.findall(r"<dd><bdi>(.*?)</bdi>", shown))
    assert not facts & (codes - {"ETH"}), "a person reads words"
    fields = (
        {**fields, **hidden_fields(asked)}
        if "scopes" not in fields
        else {**fields, "act": asked.context["act"]}
    )
    moved = alice.post(path, **{**fields, "act": "0" * 64}, code=next_code(rich.alice))
    assert (
        moved.status_code == 422
        and "This has changed since you reviewed it" in text(moved)
        and count() == before
    )
    assert {**hidden_fields(moved), "act": ""} == {**hidden_fields(asked), "act": ""}, (
        "what was typed is kept"
    )
    assert alice.post(path, **fields, code=next_code(rich.alice)).status_code in (200, 201, 303)
    assert count() != before
    assert stepup.is_fresh(alice.client.session, rich.alice, clock.real_now()), (
        "the code of before still opens what needs none of its own"
    )


@pytest.mark.parametrize("page", ["payout_create", "payout_wallet_add"])
def test_a_wrong_code_opens_nothing(rich: Cast, alice: Browser, page: str) -> None:
    """On a page with its figures, and on the one between a form and its act."""
    ask, count = TABLE[page]
    path, fields = ask(rich, alice)
    before = count()
    asked = alice.post(path, **fields)
    wrong = alice.post(path, **{**fields, **hidden_fields(asked)}, code="000000")
    assert wrong.status_code == 422 and "That code is not right." in text(wrong)
    assert count() == before
    assert {**hidden_fields(wrong), "act": ""} == {**hidden_fields(asked), "act": ""}, (
        "what was typed is kept"
    )


def test_a_code_for_one_payout_sends_no_other(rich: Cast, alice: Browser) -> None:
    path, fields = reviewed(alice, "payouts/new", **PAYOUT)
    assert alice.post(path, **fields, code=next_code(rich.alice)).status_code == 303
    assert alice.post(path, **fields).status_code == 303, "pressing twice"
    assert Payout.objects.count() == 1
    for sent, changed in enumerate(({"amount": "0.2"}, {"destination_address": OTHER}, {}), 1):
        asked = alice.post(
            path, **{**fields, **changed, "agreed": "", "form_key": uuid.uuid4().hex}
        )
        other = hidden_fields(asked)
        assert "Code from your authenticator app" in text(asked)
        code = next_code(rich.alice)
        refused = alice.post(path, **{**other, "act": fields["act"]}, code=code)
        assert refused.status_code == 422 and Payout.objects.count() == sent, changed
        assert alice.post(path, **other, code=code).status_code == 303, (
            "the code was not taken for what the page had not shown"
        )
        assert Payout.objects.count() == sent + 1, changed


def test_the_code_of_an_act_opens_nothing_else_nowhere_else(rich: Cast) -> None:
    here = Browser(rich.alice)
    elsewhere = Browser(rich.alice)
    path, fields = reviewed(here, "payouts/new", **PAYOUT)
    code = next_code(rich.alice)
    assert here.post(path, **fields, code=code).status_code == 303
    assert here.get("webhooks/new").headers["Location"].startswith("/dashboard/confirm")
    assert (
        "asks_code" in elsewhere.post(path, **fields).context
        and elsewhere.post(path, **fields, code=code).status_code == 422
    )
    other = shop_of(rich.alice, "Second shop")
    here.post("store", store_id=other.store.pk)
    assert "Code from your authenticator app" in text(here.post(path, **fields))
    here.post("store", store_id=rich.bakery.store.pk)
    assert here.post(path, **fields).status_code == 303
    assert Payout.objects.count() == 1


def test_without_a_second_factor_nothing_is_asked(rich: Cast) -> None:
    made = Browser(rich.charlie).post(
        "payouts/destinations/wallet", network="sepolia", address=ADDRESS
    )
    assert made.status_code == 303 and Destination.objects.count() == 1


def test_what_would_be_refused_costs_no_code(rich: Cast, alice: Browser) -> None:
    refused = alice.post(
        "payouts/destinations/wallet", network="sepolia", address="0x12", label="Cold"
    )
    assert (
        refused.status_code == 422
        and "not valid" in text(refused)
        and 'value="Cold"' in refused.content.decode()
    )
    alice.post("payouts/destinations/wallet", network="sepolia", address=ADDRESS)
    assert not Destination.objects.exists(), "the rehearsal leaves nothing"


def test_a_passkey_is_asked_for_one_act(rich: Cast) -> None:
    session: dict[str, Any] = {}
    at = clock.real_now()
    act = stepup.act_digest("payout", 1)
    for wanted, shown in (("", act), (act, ""), (stepup.act_digest("payout", 2), act)):
        passkeys.begin_asking(session, rich.alice, at, shown)
        with pytest.raises(passkeys.NotTaken):
            passkeys.take(session, rich.alice, answer="{}", address="1.2.3.4", at=at, act=wanted)
        assert not session, "a challenge is asked once"


def ask_api(
    browser: Browser, key: str, *, amount: int = 10**16, **headers: str
) -> tuple[int, str | None]:
    body = {"asset_id": "SETH", "amount_atomic": str(amount), "destination_address": ADDRESS}
    sent = {"Idempotency-Key": key, **headers}
    answer = browser.client.post(
        "/api/v2/payouts", body, content_type="application/json", headers=sent
    )
    return answer.status_code, answer.json()["error"]["code"] if "error" in answer.json() else None


def test_on_the_api_a_code_opens_one_call(rich: Cast, alice: Browser) -> None:
    assert ask_api(alice, "one") == (403, "otp_required"), (
        "the code of before is for what needs none of its own"
    )
    assert ask_api(alice, "one", **{"X-OTP-Code": next_code(rich.alice)}) == (201, None)
    assert ask_api(alice, "one") == (201, None), "the same call again"
    assert ask_api(alice, "one", amount=2) == ask_api(alice, "two") == (403, "otp_required")
    assert Payout.objects.count() == 1


def test_on_the_api_a_schedule_is_changed_and_run_with_a_code_each(
    rich: Cast, alice: Browser
) -> None:
    base = f"/api/v2/payout_schedules/{scheduled(rich).pk}"
    change = {"payout_schedule": {"frequency": "daily"}}

    def patch(**headers: str) -> int:
        return int(
            alice.client.patch(
                base, change, content_type="application/json", headers=headers
            ).status_code
        )

    assert (patch(), patch(**{"X-OTP-Code": next_code(rich.alice)}), patch()) == (403, 200, 403)
    code = {"X-OTP-Code": next_code(rich.alice)}
    ran = [
        alice.client.post(f"{base}/run", content_type="application/json", headers=given).status_code
        for given in (code, {})
    ]
    assert ran == [200, 403]
