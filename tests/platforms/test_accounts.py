"""Accounts: opened once per external id, changed, closed only when empty, opened again; and what
strangers see of them."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access.models import AgentCredential, ApiKey
from apps.access.services import create_agent_credential, create_api_key
from apps.assets.models import Asset
from apps.chain import simulated
from apps.core import clock
from apps.ledger.selectors import balances
from apps.payments.models import Payment
from apps.payments.services.settle import settle_deposits
from apps.stores.models import AuditEntry, Store
from apps.webhooks.models import Endpoint, Event
from tests import make
from tests.cast import Api, Cast
from tests.platforms.makers import VERIFICATION, Platform, refusal

UNKNOWN = "00000000-0000-4000-8000-000000000000"
INVALID: list[dict[str, Any]] = [
    {"name": ""},
    {"name": "   "},
    {"name": None},
    {"name": 5},
    {"name": "x" * 101},
    {"external_id": ""},
    {"external_id": "x" * 256},
    {"external_id": 7},
    {"platform_fee_percentage": "1.5"},
    {"platform_fee_percentage": "1"},
    {"platform_fee_percentage": "-0.1"},
    {"platform_fee_percentage": "0.000000000000000000000000000001"},
    {"platform_fee_percentage": 0.01},
    {"platform_fee_percentage": "0,01"},
    {"platform_fee_percentage": "1e-2"},
    {"platform_fee_percentage": "NaN"},
    {"platform_fee_percentage": "0.995"},
    {"country": "Germany"},
    {"country": "de"},
]


def test_an_account_is_made_with_a_trimmed_name_and_the_platforms_fee(platform: Platform) -> None:
    answer = platform.ask(name="  Corner Shop  ", external_id="c-1")
    assert answer.status_code == 201
    made = answer.json()
    assert made == {
        "id": made["id"],
        "name": "Corner Shop",
        "external_id": "c-1",
        "platform_fee_percentage": "0.015",
        "kyc_confirmed_at": None,
        "charges_enabled": False,
        "payouts_enabled": False,
        "verification_status": "not_started",
        "created_at": made["created_at"],
    }
    assert platform.account(made["id"]) == made
    assert (
        AuditEntry.objects.filter(
            action="account.opened", target_id=made["id"], store_id=platform.store.pk
        ).count()
        == 1
    )


def test_an_account_begins_with_every_active_asset(platform: Platform) -> None:
    assert make.payment(platform.sub().test)["payment_addresses"]


def test_what_breaks_a_rule_makes_and_changes_nothing(platform: Platform) -> None:
    for fields in INVALID:
        refusal(platform.ask(**fields), 422, "invalid_account")
    assert not Store.objects.filter(platform=platform.store).exists()
    made = platform.sub(kyc=False)
    for fields in INVALID:
        if "country" not in fields and fields != {"name": None}:
            refusal(
                platform.test.patch(f"/platform/accounts/{made.id}", {"account": fields}),
                422,
                "invalid_account",
            )
    assert platform.account(made.id) == made.account


def test_the_wrapper_is_needed(platform: Platform) -> None:
    for body in ({}, {"account": None}, {"account": []}, {"account": "x"}):
        refusal(platform.test.post("/platform/accounts", body), 422, "invalid_account")


def test_a_known_external_id_answers_with_the_account_it_is_of(platform: Platform) -> None:
    first = platform.ask(external_id="c-1").json()
    again = platform.ask(external_id="c-1", name="Another name")
    assert (again.status_code, again.json()) == (200, first)
    assert platform.ask(external_id=None).status_code == platform.ask().status_code == 201


def test_an_external_id_is_a_platforms_own(platform: Platform, other: Platform) -> None:
    mine = platform.ask(external_id="same")
    theirs = other.ask(external_id="same")
    assert mine.status_code == theirs.status_code == 201
    assert mine.json()["id"] != theirs.json()["id"]


def test_accounts_are_listed_newest_first_and_found_by_external_id(
    platform: Platform, other: Platform
) -> None:
    made = [platform.sub(kyc=False, external_id=f"c-{number}").id for number in range(3)]
    other.sub(external_id="c-1")
    assert [row["id"] for row in platform.test.get("/platform/accounts").json()] == made[::-1]
    assert [
        row["id"] for row in platform.test.get("/platform/accounts?external_id=c-1").json()
    ] == [made[1]]
    assert platform.test.get("/platform/accounts?external_id=%00").json() == []


def test_a_list_of_many_costs_as_few_queries_as_a_list_of_one(platform: Platform) -> None:
    counts = []
    for _ in range(2):
        platform.sub()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert platform.test.get("/platform/accounts").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_an_update_applies_what_was_sent(platform: Platform) -> None:
    made = platform.sub(kyc=False, external_id="old")
    path = f"/platform/accounts/{made.id}"
    for field, value in (
        ("name", "New name"),
        ("external_id", "new"),
        ("platform_fee_percentage", "0.03"),
    ):
        changed = platform.test.patch(path, {"account": {field: value, "country": "nonsense"}})
        assert (changed.status_code, changed.json()[field]) == (200, value)
    assert platform.test.patch(
        path, {"account": {"platform_fee_percentage": None, "external_id": None}}
    ).json() == {
        **made.account,
        "name": "New name",
        "external_id": None,
    }


def test_anothers_external_id_is_refused_and_the_old_one_stays(platform: Platform) -> None:
    platform.sub(external_id="taken")
    made = platform.sub(external_id="mine")
    answer = platform.test.patch(
        f"/platform/accounts/{made.id}", {"account": {"external_id": "taken"}}
    )
    assert (answer.status_code, answer.json()) == (
        422,
        {"errors": ["External has already been taken"]},
    )
    assert platform.account(made.id)["external_id"] == "mine"


CALLS = [
    ("GET", ""),
    ("PATCH", ""),
    ("DELETE", ""),
    ("POST", "/restore"),
    ("POST", "/verification"),
    ("POST", "/onboarding_links"),
    ("GET", "/onboarding_links/" + UNKNOWN),
]


@pytest.mark.parametrize(("method", "tail"), CALLS)
def test_other_platforms_accounts_are_unknown_byte_for_byte(
    platform: Platform, other: Platform, method: str, tail: str
) -> None:
    theirs = other.sub().id
    body = (
        {**VERIFICATION, "account": {"name": "Taken over"}} if method in ("POST", "PATCH") else None
    )
    answers = {
        platform.test(method, f"/platform/accounts/{item}{tail}", body).content
        for item in (theirs, UNKNOWN, "x", UNKNOWN[:-1], "%00")
    }
    assert len(answers) == 1
    refusal(
        platform.test(method, f"/platform/accounts/{theirs}{tail}", body), 404, "account_not_found"
    )
    assert other.account(theirs)["name"] == "Corner Shop"


def test_a_stores_own_id_and_a_platforms_are_no_accounts(platform: Platform, cast: Cast) -> None:
    for item in (platform.store.pk, cast.strangers.store.pk):
        refusal(platform.test.get(f"/platform/accounts/{item}"), 404, "account_not_found")


# --- closing --------------------------------------------------------------------------------------


def close(platform: Platform, account_id: str) -> Any:
    return platform.test.delete(f"/platform/accounts/{account_id}")


def blockers(answer: Any) -> dict[str, int]:
    error = refusal(answer, 409, "account_has_active_funds")
    return {blocker["type"]: blocker["count"] for blocker in error["blockers"]}


def test_a_closed_account_is_gone_with_its_credentials_and_endpoints(platform: Platform) -> None:
    made = platform.sub(external_id="gone")
    store = made.store
    key = create_api_key(store, "test")[1]
    agent = create_agent_credential(store, "live")[1]
    hook = {
        "webhook_endpoint": {
            "url": "https://1.1.1.1/hook",
            "subscribed_events": ["payment_intent.created"],
        }
    }
    assert made.test.post("/webhook_endpoints", hook).status_code == 201
    assert close(platform, made.id).status_code == 204
    refusal(Api(key).get("/payments"), 401, "invalid_api_key")
    assert agent and not AgentCredential.objects.filter(store=store, revoked_at=None).exists()
    assert not ApiKey.objects.filter(store=store, revoked_at=None).exists()
    assert set(Endpoint.objects.filter(store=store).values_list("status", flat=True)) == {
        "disabled"
    }
    assert platform.test.get("/platform/accounts").json() == []
    refusal(made.test.get("/payments"), 403, "account_not_found")
    for method, tail in CALLS:
        if tail != "/restore":
            refusal(
                platform.test(
                    method, f"/platform/accounts/{made.id}{tail}", {} if method != "GET" else None
                ),
                404,
                "account_not_found",
            )
    refusal(platform.ask(external_id="gone"), 409, "account_deleted")


def test_an_account_opened_again_has_its_keys_and_endpoints_off(platform: Platform) -> None:
    made = platform.sub()
    key = create_api_key(made.store, "test")[1]
    assert close(platform, made.id).status_code == 204
    before = made.account | {"charges_enabled": True}
    answer = platform.test.post(f"/platform/accounts/{made.id}/restore")
    assert answer.status_code == 200
    assert answer.json() == before | {
        "kyc_confirmed_at": answer.json()["kyc_confirmed_at"],
        "verification_status": "approved",
    }
    refusal(Api(key).get("/payments"), 401, "invalid_api_key")
    assert make.payment(made.test)["status"] == "pending"


def test_restoring_what_was_never_closed_is_refused(platform: Platform) -> None:
    refusal(
        platform.test.post(f"/platform/accounts/{platform.sub().id}/restore"),
        422,
        "account_not_deleted",
    )


def test_what_is_under_way_or_left_stands_against_closing(platform: Platform) -> None:
    made = platform.sub()
    pending = make.payment(made.test)
    assert blockers(close(platform, made.id)) == {"in_flight_payment_intent": 1}
    make.simulated(made.test, pending["id"])
    assert blockers(close(platform, made.id)) == {"store_balance": 1}
    body = {"refund": {"amount": "0.0001", "destination_address": make.fresh_address()}}
    assert made.test.post(f"/payments/{pending['id']}/refunds", body, key="one").status_code == 201
    assert blockers(close(platform, made.id)) == {"store_balance": 1, "pending_refund": 1}
    assert platform.account(made.id)["name"] == "Corner Shop"


def test_a_payout_that_has_not_ended_stands_against_closing(platform: Platform) -> None:
    made = platform.sub()
    key = Api(create_api_key(made.store, "test")[1])
    amount = make.funded(key)
    make.payout(key, amount // 4)
    assert blockers(close(platform, made.id)) == {"store_balance": 1, "pending_payout": 1}


def test_coins_that_arrive_for_a_closed_account_are_booked_and_kept(platform: Platform) -> None:
    made = platform.sub()
    entry = make.payment(made.test)["payment_addresses"][0]
    make.advance(platform.test, 2 * 86_400)
    Payment.objects.filter(store_id=made.id).update(status="expired")
    assert close(platform, made.id).status_code == 204
    at = clock.real_now()
    simulated.put(
        entry["address"].lower(),
        Asset.objects.get(pk="SETH"),
        "late",
        amount_atomic=5,
        confirmations=99,
        status="confirmed",
        at=at,
    )
    settle_deposits()
    assert balances(made.store.pk, "test")["SETH"].held_atomic == 5
    assert platform.test.post(f"/platform/accounts/{made.id}/restore").status_code == 200
    assert blockers(close(platform, made.id)) == {"store_balance": 1}


def test_live_money_stands_against_closing_with_a_test_key(platform: Platform) -> None:
    made = platform.sub()
    make.store_coins(made.store, "ETH", 5)
    assert blockers(close(platform, made.id)) == {"store_balance": 1}


def test_closing_is_told_to_the_platform_in_both_modes_and_to_nobody_else(
    platform: Platform,
) -> None:
    made = platform.sub(external_id="c-9")
    assert close(platform, made.id).status_code == 204
    told = Event.objects.filter(type="store.deleted", store=platform.store)
    assert {(item.mode, str(item.account_id)) for item in told} == {
        ("live", made.id),
        ("test", made.id),
    }
    object = told[0].object
    assert set(object) == {"id", "name", "external_id", "deleted_at"}
    assert (object["id"], object["external_id"]) == (made.id, "c-9")
    hook = {
        "webhook_endpoint": {"url": "https://1.1.1.1/hook", "subscribed_events": ["store.deleted"]}
    }
    assert platform.test.post("/webhook_endpoints", hook).status_code == 201
    assert platform.sub().test.post("/webhook_endpoints", hook).status_code == 422
