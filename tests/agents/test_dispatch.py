"""A draw that leaves on the chain: asked of the sender once, followed to its end, given back when
it fails; and the books say so."""

from typing import Any

import pytest
from django.db import connection

from apps.agents.models import Mandate, Settlement
from apps.agents.services.dispatch import advance_settlements
from apps.chain.models import Address, OutgoingTransaction
from apps.core import clock
from apps.ledger.selectors import account_balance, balances
from apps.stores.settings import write_settings
from tests import make
from tests.auditing import found_of
from tests.cast import Api, Cast, Shop

PAY_TO = "0x52908400098527886E0F7030069857D2E4169EE7"
COINS = 10**18


@pytest.fixture
def bakery(cast: Cast) -> Shop:
    """A store that dispatches, with live coins and an envelope of a thousand."""
    shop = cast.bakery
    write_settings(shop.store, {"authorization_provider": "policy", "x402_dispatch": True})
    make._correct("ETH", "available", shop.store.pk, COINS, make.clerk())
    made = agent(shop).post(
        "/agentic/mandates", {"asset_id": "ETH", "total_cap_atomic": "1000", "mandate_ref": "books"}
    )
    assert made.status_code == 201, made.content
    return shop


def agent(shop: Shop) -> Api:
    return Api(shop.secrets["live_agent"])


def draw(shop: Shop, amount: str = "1000", **fields: Any) -> Settlement:
    body = {
        "asset_id": "ETH",
        "mandate_ref": "books",
        "amount_atomic": amount,
        "pay_to": PAY_TO,
        **fields,
    }
    answer = agent(shop).post("/agentic/x402/settlements", body, key="k")
    assert answer.status_code == 201, answer.content
    return Settlement.objects.get(pk=answer.json()["id"])


def after(settlement: Settlement, **changes: Any) -> Settlement:
    """The record's status after its transaction has got so far."""
    signed = {} if changes["status"] == "review" else {"from_address": "0x" + "ab" * 20, "nonce": 0}
    OutgoingTransaction.objects.filter(reference=str(settlement.pk)).update(**signed, **changes)
    advance_settlements()
    settlement.refresh_from_db()
    return settlement


def test_a_dispatched_draw_is_asked_of_the_sender_once_and_confirmed(bakery: Shop) -> None:
    settlement = draw(bakery)
    assert settlement.status == "pending" and Mandate.objects.get().status == "exhausted"
    advance_settlements()
    advance_settlements()
    sent = OutgoingTransaction.objects.get(purpose="settlement")
    assert (sent.reference, sent.to_address, sent.amount_atomic) == (
        str(settlement.pk),
        PAY_TO.lower(),
        1000,
    )
    assert (
        after(settlement, status="submitted", tx_hash="0xa").status == "submitted"
        and settlement.tx_ref == "0xa"
    )
    assert (
        after(settlement, status="confirmed", tx_hash="0xa", network_fee_atomic=21).status
        == "confirmed"
    )
    assert account_balance(None, "live", "ETH", "x402_clearing") == 0
    assert list(settlement.steps.values_list("to_status", flat=True)) == [
        "pending",
        "submitted",
        "confirmed",
    ]
    assert of_agents() == []


def test_a_failed_one_gives_the_store_its_coins_and_the_envelope_its_room(bakery: Shop) -> None:
    settlement = draw(bakery)
    advance_settlements()
    after(settlement, status="submitted", tx_hash="0xa")
    assert (
        after(settlement, status="failed", reason="reverted", network_fee_atomic=21).failure_reason
        == "reverted"
    )
    row = Mandate.objects.get()
    assert (row.status, row.spent_atomic) == ("active", 0)
    assert balances(bakery.store.pk, "live")["ETH"].available_atomic == COINS
    assert of_agents() == []


def test_what_cannot_be_established_stays_submitted(bakery: Shop) -> None:
    settlement = draw(bakery)
    advance_settlements()
    assert after(settlement, status="review").status == "submitted"
    assert (
        after(settlement, status="review").status == "submitted"
        and Mandate.objects.get().spent_atomic == 1000
    )


@pytest.mark.parametrize(
    ("pay_to", "reason"),
    [
        (None, "missing_pay_to"),
        ("somewhere", "invalid_pay_to"),
        ("0x" + "0" * 40, "invalid_pay_to"),
    ],
)
def test_a_draw_that_can_go_nowhere_fails_and_is_given_back(
    bakery: Shop, pay_to: str | None, reason: str
) -> None:
    settlement = draw(bakery, pay_to=pay_to)
    advance_settlements()
    settlement.refresh_from_db()
    assert (settlement.status, settlement.failure_reason, Mandate.objects.get().spent_atomic) == (
        "failed",
        reason,
        0,
    )
    assert (
        not OutgoingTransaction.objects.filter(purpose="settlement").exists() and of_agents() == []
    )


def test_one_that_was_asked_for_is_followed_whatever_its_address_has_become(bakery: Shop) -> None:
    """Its coins may be on the chain: they aren't given back beside that."""
    settlement = draw(bakery)
    advance_settlements()
    Address.objects.create(
        address=PAY_TO.lower(), mode="live", index=2_000_000_000, created_at=clock.real_now()
    )
    advance_settlements()
    settlement.refresh_from_db()
    assert settlement.status == "pending" and Mandate.objects.get().spent_atomic == 1000
    assert after(settlement, status="submitted", tx_hash="0xa").status == "submitted"
    assert after(settlement, status="confirmed", tx_hash="0xa").status == "confirmed"
    assert of_agents() == []


def test_nothing_is_drawn_by_zero(bakery: Shop) -> None:
    settlement = draw(bakery, "0")
    advance_settlements()
    assert (
        settlement.status == "submitted"
        and not OutgoingTransaction.objects.filter(purpose="settlement").exists()
    )


CORRUPTIONS = {
    "mandates_add_up": "UPDATE agents_mandate SET spent_atomic = 999",
    "draws_are_booked": "UPDATE agents_settlement SET status = 'confirmed'",
    "x402_clearing_is_open": "UPDATE agents_settlement SET amount_atomic = 1, status = 'pending'",
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_the_audit_finds(bakery: Shop, name: str) -> None:
    draw(bakery)
    assert of_agents() == []
    with connection.cursor() as cursor:
        cursor.execute(CORRUPTIONS[name])
    assert name in of_agents()


def of_agents() -> list[str]:
    """The invariants of agents that are broken."""
    return [item.invariant for item in found_of(*CORRUPTIONS)]
