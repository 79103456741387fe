"""A reservation for a record ends for that record alone: one without a reservation gives nothing
back and spends nothing, whatever its row says."""

import uuid
from typing import Any

import pytest
from django.db import transaction

from apps.agents.models import Mandate, Settlement
from apps.agents.services.dispatch import advance_settlements
from apps.assets.models import Asset
from apps.audit.grants import WORKER
from apps.core import clock
from apps.core.db import tenancy
from apps.core.ids import new_id
from apps.ledger import movements
from apps.ledger.chart import AVAILABLE, RESERVED
from apps.ledger.posting import InsufficientBalance
from apps.ledger.selectors import account_balance
from tests import make
from tests.cast import Shop
from tests.roles import acting_as

COIN = 10**18


def of(shop: Shop, amount_atomic: int = COIN) -> dict[str, Any]:
    return {
        "store_id": shop.store.pk,
        "mode": "live",
        "asset_id": "ETH",
        "amount_atomic": amount_atomic,
        "at": clock.real_now(),
    }


def available(shop: Shop) -> int:
    return account_balance(shop.store.pk, "live", "ETH", AVAILABLE)


@pytest.fixture
def rich(bakery: Shop) -> Shop:
    """With ten ether, of which two are set aside for a payout."""
    make.store_coins(bakery.store, "ETH", 10 * COIN)
    movements.payout_created(**of(bakery, 2 * COIN), payout_id=new_id())
    return bakery


GAS = {"gas_asset_id": "ETH", "gas_atomic": 0}
ENDS = {
    "payout_released": lambda of, id: movements.payout_released(**of, payout_id=id),
    "payout_handed_over": lambda of, id: movements.payout_handed_over(
        **of, payout_id=id, attempt=0
    ),
    "payout_handed_back": lambda of, id: movements.payout_handed_back(
        **of, payout_id=id, attempt=0
    ),
    "payout_confirmed": lambda of, id: movements.payout_confirmed(
        [movements.Confirmed(**of, **GAS, payout_id=id, withheld_atomic=0, is_simulated=False)]
    ),
    "refund_released": lambda of, id: movements.refund_released(
        **of, payment_id=uuid.uuid4(), refund_id=id, is_to_held=False
    ),
    "refund_confirmed": lambda of, id: movements.refund_confirmed(
        **of, **GAS, payment_id=uuid.uuid4(), refund_id=id, is_simulated=False
    ),
    "swap_released": lambda of, id: movements.swap_released(
        **{key: value for key, value in of.items() if key != "amount_atomic"},
        swap_id=id,
        sell_atomic=of["amount_atomic"],
    ),
    "x402_reversed": lambda of, id: movements.x402_reversed(**of, **GAS, settlement_id=id),
}


@pytest.mark.parametrize("kind", ENDS)
def test_what_was_not_set_aside_does_not_end(rich: Shop, kind: str) -> None:
    """Not even out of what the store has set aside for something else."""
    before = available(rich)
    with acting_as(WORKER), pytest.raises(InsufficientBalance), transaction.atomic():
        ENDS[kind](of(rich), new_id())
    assert available(rich) == before
    assert account_balance(rich.store.pk, "live", "ETH", RESERVED) == 2 * COIN


def test_a_second_refund_of_a_payment_gives_back_nothing_of_the_first(rich: Shop) -> None:
    payment, first, second = new_id(), new_id(), new_id()
    movements.refund_created(**of(rich), payment_id=payment, refund_id=first, is_from_held=False)
    before = available(rich)
    with pytest.raises(InsufficientBalance), transaction.atomic():
        movements.refund_released(
            **of(rich), payment_id=payment, refund_id=second, is_to_held=False
        )
    with pytest.raises(InsufficientBalance), transaction.atomic():
        movements.refund_released(
            **of(rich, 2 * COIN), payment_id=payment, refund_id=first, is_to_held=False
        )
    movements.refund_released(**of(rich), payment_id=payment, refund_id=first, is_to_held=False)
    assert available(rich) == before + COIN


def test_a_draw_that_nothing_was_taken_for_gives_nothing_back(rich: Shop) -> None:
    """A row that says so, as somebody with the web's role can write it, and no recipient, so that
    the worker gives up on it immediately."""
    settlement = make_settlement(rich)
    before = available(rich)
    with acting_as(WORKER), tenancy.everyone("a worker"):
        advance_settlements()
    assert available(rich) == before
    settlement.refresh_from_db()
    assert settlement.status == Settlement.Status.PENDING


def make_settlement(shop: Shop) -> Settlement:
    now = clock.real_now()
    credential = shop.agent("live")
    mandate = Mandate.objects.create(
        store=shop.store,
        mode="live",
        created_at=now,
        updated_at=now,
        credential=credential,
        asset=Asset.objects.get(pk="ETH"),
        mandate_ref=f"m-{uuid.uuid4()}",
        scope="",
        authorization_provider="embedded",
        total_cap_atomic=400 * COIN,
        expires_at=now.replace(year=now.year + 1),
    )
    settlement: Settlement = Settlement.objects.create(
        store=shop.store,
        mode="live",
        created_at=now,
        updated_at=now,
        mandate=mandate,
        credential=credential,
        asset_id="ETH",
        amount_atomic=400 * COIN,
        nonce="1",
        is_dispatched=True,
        idempotency_key="1",
    )
    return settlement
