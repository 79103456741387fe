"""Staff reject a bank payout whose off-ramp has the coins, or may have the order: a worker gives
them back, and only once the off-ramp says that it gave the order up."""

import contextlib
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from apps.audit.grants import WEB, WORKER
from apps.chain.models import OutgoingTransaction
from apps.core import clock
from apps.core.db import tenancy
from apps.ledger import movements
from apps.ledger.models import Movement
from apps.ledger.posting import NotPostedByTheWeb
from apps.payouts.models import OfframpOrder, Payout
from apps.payouts.providers.sandbox import MAGIC_MODULUS, SENT_BACK
from apps.payouts.services import moves
from apps.payouts.services.progress import advance_payouts
from apps.payouts.services.rejection import hand_back, reject_payout
from apps.stores.models import WorkerOrder
from apps.stores.staff.worker_orders import AlreadyOrdered
from tests import auditing, make
from tests.cast import Shop
from tests.console.books_of_web import refused
from tests.contract.test_payouts import bank, rich
from tests.payouts.test_offramps import Bank, far, http, through_http
from tests.roles import acting_as

__all__ = ["far", "http", "through_http"]
pytestmark = pytest.mark.django_db
AMOUNT = 2_000_000


@pytest.fixture
def stuck(bakery: Shop, far: Bank, through_http: None, settings: Any) -> Payout:
    """The off-ramp has given it up after the coins had set out, and a person has to look."""
    settings.WORKER_ORDER_MINUTES = 0
    rich(bakery)
    far.deposit_address = "0x" + "d" * 40
    to = bank(bakery)
    make.payout(bakery.live, AMOUNT, asset_id="ETH_USDC", fiat_payout_detail_id=to)
    with acting_as(WORKER):
        advance_payouts()
    assert OfframpOrder.objects.get().failed_at is None
    say(far, "failed")
    Payout.objects.update(asked_at=None)
    with acting_as(WORKER):
        advance_payouts()
    payout = Payout.objects.get()
    assert (payout.status, payout.funds) == ("requires_review", "clearing")
    return payout


def say(far: Bank, status: str, code: str = "destination_invalid") -> None:
    for order in far.orders.values():
        order |= {"status": status, "failure_code": code}


def reject(payout: Payout) -> Any:
    staff = make.clerk()
    with acting_as(WEB), tenancy.everyone("staff"):
        return reject_payout(payout, "It came back", staff)


def work() -> None:
    with acting_as(WORKER):
        hand_back()


def test_the_web_asks_and_a_worker_gives_back(stuck: Payout) -> None:
    order = reject(stuck)
    stuck.refresh_from_db()
    assert isinstance(order, WorkerOrder) and stuck.status == "requires_review"
    with pytest.raises(AlreadyOrdered):
        reject(stuck)
    work()
    work()
    stuck.refresh_from_db()
    order.refresh_from_db()
    assert (stuck.status, stuck.funds, order.status) == ("failed", "returned", "done")
    assert OfframpOrder.objects.get().failed_at is not None
    assert Movement.objects.filter(kind="payout_handed_back").count() == 1
    assert auditing.found_of("movements_serve", "movements_balance") == []


@pytest.mark.parametrize("status", ["pending", "settled"])
def test_nothing_comes_back_while_the_off_ramp_has_the_order(
    stuck: Payout, far: Bank, status: str
) -> None:
    say(far, status)
    for told in far.orders.values():
        told |= {"fiat_amount_cents": 178, "fee_cents": 2, "rate": "0.9", "bank_reference": "R"}
    order = reject(stuck)
    work()
    stuck.refresh_from_db()
    order.refresh_from_db()
    assert (stuck.status, stuck.funds, order.status) == ("requires_review", "clearing", "refused")
    assert not Movement.objects.filter(kind="payout_handed_back").exists()


def test_an_order_that_may_have_been_taken_is_not_given_back_by_the_web(
    bakery: Shop, far: Bank, through_http: None
) -> None:
    """The off-ramp didn't answer, and the payout's row says that it failed."""
    rich(bakery)
    far.status = 503
    to = bank(bakery)
    make.payout(bakery.live, AMOUNT, asset_id="ETH_USDC", fiat_payout_detail_id=to)
    with acting_as(WORKER):
        advance_payouts()
    payout = Payout.objects.get()
    assert (payout.status, payout.is_outcome_unknown) == ("failed", True)
    refused("payouts_post_payout_released", payout.pk, of="it may be on its way")
    at = clock.real_now()
    with acting_as(WEB), tenancy.everyone("an attack"), pytest.raises(NotPostedByTheWeb):
        movements.payout_handed_back(**moves.booking(payout, at), attempt=0)


@pytest.mark.parametrize("forged", ["attempts", "provider"])
def test_an_off_ramp_is_asked_about_the_order_that_it_has(
    bakery: Shop, far: Bank, through_http: None, settings: Any, forged: str
) -> None:
    """It refused the first one and has the second, and the payout's row says the first, or names
    the sandbox, which fails such amounts: the coins would come back beside the bank's money."""
    sandbox = {"BACKEND": "apps.payouts.providers.sandbox.OfframpSandbox", "OPTIONS": {}}
    settings.PROVIDERS["offramp"]["live"].append(sandbox)
    rich(bakery)
    amount = MAGIC_MODULUS * 300 + SENT_BACK
    to = bank(bakery)
    made = make.payout(bakery.live, amount, asset_id="ETH_USDC", fiat_payout_detail_id=to)
    far.orders[f"{made['id']}-0"] = {"id": "po", "status": "failed"}
    say(far, "failed", "temporarily_unavailable")
    payouts = Payout.objects.filter(pk=made["id"])
    with acting_as(WORKER):
        advance_payouts()
        moves.begin_retry(payouts.select_related("asset", "store").get(), clock.real_now())
        advance_payouts()
    payout = payouts.get()
    assert (payout.status, payout.funds, payout.attempts) == ("submitted", "clearing", 1)
    long_ago = clock.real_now() - timedelta(days=1)
    payouts.update(submitted_at=long_ago, submitted_real_at=long_ago, asked_at=None)
    with (
        contextlib.suppress(DatabaseError),
        acting_as(WEB),
        tenancy.everyone("an attack"),
        transaction.atomic(),
    ):
        payouts.update(**{forged: {"attempts": 0, "provider": "sandbox"}[forged]})
    with acting_as(WORKER):
        advance_payouts()
    assert payouts.get().funds == "clearing"
    assert not Movement.objects.filter(kind="payout_handed_back").exists()


def test_no_order_is_placed_for_coins_that_are_not_set_aside(
    bakery: Shop, far: Bank, through_http: None
) -> None:
    """The row of a payout that somebody has written, or has set back after its coins came back."""
    rich(bakery)
    to = bank(bakery)
    make.payout(bakery.live, AMOUNT, asset_id="ETH_USDC", fiat_payout_detail_id=to)
    real = Payout.objects.select_related("store").get()
    forged = Payout.objects.get(pk=real.pk)
    forged.pk = uuid.uuid4()
    forged.idempotency_key = "forged"
    forged._state.adding = True
    forged.save(force_insert=True)
    with acting_as(WORKER):
        advance_payouts()
    forged.refresh_from_db()
    assert forged.status == "requires_review"
    assert list(far.orders) == [f"{real.pk}-0"]
    assert not OutgoingTransaction.objects.filter(reference__startswith=str(forged.pk)).exists()
