"""Everything that takes from one balance at once: payouts, swaps, refunds, draws of an agent and a
schedule, while the sweeps run.

No more leaves than there was, each answer is yes or a documented no, and ledger and balance
agree afterward.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.access.services import authenticate
from apps.agents.models import Settlement
from apps.agents.requests.mandates import MandateRequest
from apps.agents.services.mandates import create_mandate
from apps.assets.models import Asset
from apps.ledger.selectors import balances
from apps.payments.models import Refund
from apps.payments.services.refund_progress import advance_refunds
from apps.payouts.models import Payout, ScheduleRun
from apps.payouts.services.progress import advance_payouts
from apps.payouts.services.runs import run_schedules
from apps.stores.settings import write_settings
from apps.swaps.models import Swap
from apps.swaps.services.progress import advance_swaps
from tests import make
from tests.cast import Api, Cast
from tests.payouts.test_concurrency import together
from tests.whole import usually

TENTH = 10**17
TIMES = usually(short=3, whole=5)
ROUNDS = usually(short=1, whole=2)
NO = (403, 409, 422)


@pytest.fixture
def world(committed: Cast) -> Iterator[Cast]:
    """A store with a coin to spend in five ways; what it owes to payers is a tenth each."""
    shop = committed.bakery
    write_settings(shop.store, {"authorization_provider": "policy"})
    token = Asset.objects.filter(pk="USDC_SETH")
    before = token.values("contract_address", "is_active").get()
    token.update(contract_address="0x" + "01" * 20, is_active=True)
    access = authenticate(shop.secrets["test_agent"], for_agents=True)
    create_mandate(
        access, MandateRequest(asset_id="SETH", total_cap_atomic=10**24, mandate_ref="books"), None
    )
    schedule = {
        "asset_id": "SETH",
        "frequency": "daily",
        "destination_address": make.fresh_address(),
    }
    assert shop.test.post("/payout_schedules", {"payout_schedule": schedule}).status_code == 201
    yield committed
    token.update(**before)


def drains(cast: Cast, payments: list[str]) -> list[Callable[[], Any]]:
    """A tenth each, several times in every way; and the sweeps."""
    api = cast.bakery.test
    agent = Api(cast.bakery.secrets["test_agent"])
    order = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": str(TENTH),
    }
    draw = {
        "asset_id": "SETH",
        "mandate_ref": "books",
        "amount_atomic": str(TENTH),
        "pay_to": make.fresh_address(),
    }
    body = {"refund": {"amount": "0.1", "destination_address": make.fresh_address()}}
    (schedule,) = api.get("/payout_schedules").json()
    calls: list[Callable[[], Any]] = [
        lambda: api.post(f"/payout_schedules/{schedule['id']}/run")
    ] * 2
    for payment in payments:
        calls += [
            lambda: make.ask_payout(api, str(TENTH)),
            lambda: api.post("/balance_swaps", order, key=uuid.uuid4().hex),
            lambda payment=payment: api.post(
                f"/payments/{payment}/refunds", body, key=uuid.uuid4().hex
            ),  # type: ignore[misc]
            lambda: agent.post("/agentic/x402/settlements", draw, key=uuid.uuid4().hex),
        ]
    return [*calls, advance_payouts, advance_swaps, advance_refunds, run_schedules]


def taken(cast: Cast) -> int:
    """Sum that by the records has left the balance, or is reserved for it."""
    store = cast.bakery.store
    amounts: list[int] = []
    for rows in (
        Payout.objects.exclude(funds="returned"),
        Settlement.objects.exclude(status="failed"),
        Refund.objects.exclude(status="failed"),
    ):
        amounts += rows.filter(store=store, asset_id="SETH").values_list("amount_atomic", flat=True)
    amounts += (
        Swap.objects.filter(store=store, source_asset_id="SETH")
        .exclude(status="failed")
        .values_list("sell_amount_atomic", flat=True)
    )
    return sum(int(amount) for amount in amounts)


def test_everything_that_drains_a_balance_at_once_takes_no_more_than_there_is(
    world: Cast, sound_books: None
) -> None:
    told: Counter[int] = Counter()
    for _ in range(ROUNDS):
        payments = [make.paid(world.bakery.test, amount="1000.00")["id"] for _ in range(TIMES)]
        calls = drains(world, payments)
        before = balances(world.bakery.store.pk, "test")["SETH"].available_atomic + taken(world)
        answers = [item for item in together(calls) if hasattr(item, "status_code")]
        assert len(answers) == len(calls) - 4, "every caller has an answer"
        told.update(answer.status_code for answer in answers)
        left = balances(world.bakery.store.pk, "test")["SETH"].available_atomic
        assert (left >= 0, left + taken(world)) == (True, before)
    assert set(told) <= {200, 201, *NO}, told
    assert not ScheduleRun.objects.exclude(failure="").exists(), (
        "a run takes what is there, whoever takes from it meanwhile"
    )
    make.advance(world.bakery.test, 61)
