"""Records that are due in a town: a few of each kind, as few however much there is beside them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import transaction

from apps.agents.models import Mandate
from apps.billing.models import Invoice, Subscription
from apps.core import clock
from apps.payments.models import Payment
from apps.payments.services.settle import settle_payment
from apps.payouts.models import Schedule
from tests import make
from tests.billing import records as billing
from tests.cast import Shop
from tests.growth import world
from tests.growth.catalog import ask
from tests.growth.seed import forget

EACH = 3
# So little that what `swept` has left isn't worth it, and what was just deposited is.
SWEEP_MINIMUMS = [f"{asset_id}=0.0001" for asset_id in ("ETH", "SETH")]


@contextmanager
def due(shop: Shop) -> Iterator[None]:
    """Something for nearly every job, and nothing of it afterwards but completed sales: seals and
    sums are made of what was committed."""
    forget()
    world.rest()
    ask("VACUUM ANALYZE")
    for _ in range(EACH):
        make.paid(shop.test, amount="30.00")
    with transaction.atomic():
        _deposits(shop)
        _leaving(shop)
        _billing(shop)
        _moments(shop)
        yield
        transaction.set_rollback(True)
    forget()
    world.rest()


def _deposits(shop: Shop) -> None:
    """Coins that nobody has booked, that are to be swept, and whose sweep is to be booked."""
    for _ in range(EACH):
        world.deposited(shop)
        settle_payment(world.deposited(shop).payment_id)
        entry = world.deposited(shop)
        settle_payment(entry.payment_id)
        world.swept(entry, 0)


def _leaving(shop: Shop) -> None:
    world.mined_payout(shop)
    for number in range(EACH):
        make.payout(shop.live, 10**15, asset_id="ETH")
        make.payout(shop.test, 10**15)
        world.sell_coins(shop, key=f"due {number}")
        world.draw(shop, f"due {number}")
        sale = make.paid(shop.test, amount="30.00")
        refund = {"amount": "0.001", "destination_address": make.fresh_address()}
        answer = shop.test.post(
            f"/payments/{sale['id']}/refunds", {"refund": refund}, key=f"due {number}"
        )
        assert answer.status_code == 201, answer.content


def _billing(shop: Shop) -> None:
    """Invoices that were paid and that are to be reminded of, and cycles that have ended."""
    at = clock.now(shop.store, "test")
    for _ in range(EACH):
        started = billing.start_payment(billing.opened(shop.test)["public_token"])
        make.simulated(shop.test, started.json()["payment"]["payment_intent_id"])
        invoice = Invoice.objects.filter(pk=billing.opened(shop.test)["id"])
        assert invoice.update(next_letter_at=at - timedelta(seconds=1)) == 1
        subscription = Subscription.objects.filter(pk=billing.subscribe(shop.test)["id"])
        assert subscription.update(next_step_at=at - timedelta(seconds=1)) == 1


def _moments(shop: Shop) -> None:
    """Records that end or begin at a moment that has come."""
    at = clock.real_now() - timedelta(seconds=1)
    for _ in range(EACH):
        payment = Payment.objects.filter(pk=make.payment(shop.live)["id"])
        assert payment.update(expires_at=at) == 1
    plan = {
        "asset_id": "SETH",
        "frequency": "daily",
        "destination_address": make.fresh_address(),
        "next_payout_at": clock.iso(at + timedelta(days=30)),
    }
    answer = shop.test.post("/payout_schedules", {"payout_schedule": plan})
    assert answer.status_code == 201, answer.content
    assert Schedule.objects.filter(pk=answer.json()["id"]).update(next_payout_at=at) == 1
    mandates = Mandate.objects.filter(store=shop.store).order_by("-created_at")[:EACH]
    Mandate.objects.filter(pk__in=mandates.values("pk")).update(expires_at=at)
