"""A token that its issuer has paused, or that refuses our wallet, is no recipient that refuses:
what was asked for waits, somebody is called, nobody is asked to pay with it, and all goes on by
itself."""

from typing import Any

import pytest

from apps.assets.models import Asset
from apps.chain.models import Obstacle, OutgoingTransaction
from apps.chain.sending import obstacles, sender
from apps.payments.models import PaymentAddress
from apps.payments.services.refund_progress import advance_refunds
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from tests import make
from tests.cast import Shop
from tests.payouts.moody import Issuer, open_moody
from tests.payouts.test_lanes import rounds, status, time_passes
from tests.payouts.test_tokens_that_lie import issuer, pay_out, sent, signed_before
from tests.swaps.conftest import Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_sweeps import paid_in

__all__ = ["bakery", "issuer", "place"]
pytestmark = pytest.mark.chain
ground = ground_of(open_moody)


def stop(issuer: Issuer, how: str, is_stopped: bool = True) -> None:
    if how == "token":
        issuer.pause(is_stopped)
    else:
        issuer.freeze(issuer.place.hot, is_stopped)


def offered(shop: Shop) -> set[str]:
    """The assets that a new payment may be paid with."""
    payment = make.payment(shop.test)
    rows = PaymentAddress.objects.filter(payment_id=payment["id"])
    return set(rows.values_list("asset_id", flat=True))


STOPS = [("token", "token_stopped"), ("wallet", "wallet_frozen")]


@pytest.mark.parametrize(("kind", "reason"), STOPS)
def test_what_waits_for_a_token_says_so_and_goes_on_once_it_moves_again(
    place: Venue, bakery: Shop, issuer: Issuer, kind: str, reason: str
) -> None:
    stop(issuer, kind)
    payout = pay_out(bakery)
    rounds(place, 2)
    row = sent(payout)
    assert (row.status, row.reason_code, row.waits_for) == ("requested", reason, "token")
    detail = make.detail_of_payout(bakery.test, payout["id"])
    assert (detail["status"], detail["pending_reason"]) == ("pending", "token_stopped")

    stop(issuer, kind, False)
    time_passes()
    rounds(place, 1)
    assert status(payout) == "confirmed" and is_exact()


@pytest.mark.parametrize("kind", ["token", "wallet"])
def test_nobody_is_asked_to_pay_with_a_token_that_moves_for_none_of_our_wallets(
    place: Venue, bakery: Shop, issuer: Issuer, kind: str, caplog: Any
) -> None:
    paid_in(place, bakery, "SETH")
    assert "USDC_SETH" in offered(bakery)
    stop(issuer, kind)
    payout = pay_out(bakery)
    rounds(place, 1)
    obstacles.look_at_tokens()
    obstacles.look_at_tokens()
    said = [record.getMessage() for record in caplog.records]
    assert sum("coins_cannot_move" in line and repr(kind) in line for line in said) == 1
    assert Obstacle.objects.get(ended_at=None).kind == kind
    assert offered(bakery) == {"SETH"}

    stop(issuer, kind, False)
    obstacles.look_at_tokens()
    assert not Obstacle.objects.filter(ended_at=None).exists()
    assert "USDC_SETH" in offered(bakery)
    assert sent(payout).not_before is None
    rounds(place, 1)
    assert status(payout) == "confirmed"


def test_a_recipient_that_is_frozen_is_refused_and_the_token_goes_on(
    place: Venue, bakery: Shop, issuer: Issuer
) -> None:
    frozen = pay_out(bakery)
    issuer.freeze(Payout.objects.get(pk=frozen["id"]).destination_address or "")
    other = pay_out(bakery)
    rounds(place, 1)
    assert (status(frozen), status(other)) == ("failed", "confirmed")
    assert Payout.objects.get(pk=frozen["id"]).failure_code == "destination_invalid"
    obstacles.look_at_tokens()
    assert not Obstacle.objects.exists()


@pytest.mark.parametrize(("kind", "reason"), STOPS)
def test_one_that_was_mined_while_it_was_stopped_is_tried_again_by_itself(
    place: Venue, bakery: Shop, issuer: Issuer, kind: str, reason: str
) -> None:
    payout = pay_out(bakery)
    signed_before(place, payout)
    stop(issuer, kind)
    sender.run_due()
    place.arrives()
    stop(issuer, kind, False)
    sender.run_due()
    advance_payouts()
    assert (sent(payout).status, sent(payout).reason_code) == ("failed", reason)
    row = Payout.objects.get(pk=payout["id"])
    assert (row.status, row.failure_code) == ("failed", "temporarily_unavailable")
    assert row.retry_at is not None and is_exact()


def test_a_refund_waits_for_its_token_as_a_payout_does(
    place: Venue, bakery: Shop, issuer: Issuer
) -> None:
    address = paid_in(place, bakery, "USDC_SETH")
    payment_id = PaymentAddress.objects.get(address=address).payment_id
    issuer.pause()
    body = {"refund": {"destination_address": make.fresh_address()}}
    asked = bakery.test.post(f"/payments/{payment_id}/refunds", body, key="refund")
    assert asked.status_code == 201, asked.content
    for _ in range(2):
        advance_refunds()
        place.work()
    told = bakery.test.get(f"/payments/{payment_id}/refunds").json()[0]
    assert told["status"] == "pending"
    row = OutgoingTransaction.objects.get(purpose="refund")
    assert (row.waits_for, row.nonce) == ("token", None)

    issuer.pause(False)
    obstacles.look_at_tokens()
    time_passes()
    place.work()
    advance_refunds()
    told = bakery.test.get(f"/payments/{payment_id}/refunds").json()[0]
    assert told["status"] == "confirmed" and is_exact()
    assert Asset.objects.get(pk="USDC_SETH").stopped_since is None
