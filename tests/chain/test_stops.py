"""A store's asset that a lost deposit has stopped: what waits for the review goes on when it ends,
and a stop whose deposits have all confirmed again ends by itself."""

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from apps.assets import reviews
from apps.assets.models import AcceptedAsset
from apps.core import clock
from apps.payments.models import Payment
from apps.payments.services.reviewed import settle_reviewed
from apps.payments.services.transaction_lookup import LookupResult, find_transaction
from apps.payouts import states
from apps.payouts.models import Payout
from apps.payouts.services.stops import end_stops
from apps.stores.models import AuditEntry, Notification
from apps.stores.services import change_store
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.test_payment_flow import after, entry, payment, told
from tests.dashboard.browse import Browser

__all__ = ["payment"]
pytestmark = pytest.mark.chain


def accepted(shop: Shop) -> AcceptedAsset:
    return AcceptedAsset.objects.get(store=shop.store, mode="test", asset_id="SETH")


def pay(chain: LocalChain, made: dict[str, Any]) -> str:
    way = entry(made)
    return chain.raw(chain.pay(way["address"], int(way["crypto_amount_atomic"])))


def lose(chain: LocalChain, watcher: Reader, shop: Shop, made: dict[str, Any]) -> str:
    """A payment that completed, and whose deposit a reorg took: what brings it back."""
    chain.mine(3)
    raw = pay(chain, made)
    chain.mine(3)
    assert after(watcher, shop, made)["status"] == "completed"
    chain.reorg(5)
    after(watcher, shop, made)
    assert accepted(shop).suspended_at is not None
    return raw


def find_again(
    chain: LocalChain, watcher: Reader, shop: Shop, made: dict[str, Any], raw: str
) -> None:
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(4)
    after(watcher, shop, made)


def test_the_end_of_a_review_settles_what_waited_for_it(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    waiting = make.payment(bakery.test)
    lose(chain, watcher, bakery, payment)
    pay(chain, waiting)
    chain.mine(4)
    held = after(watcher, bakery, waiting)
    assert (held["status"], held["state_reason"]) == ("processing", "pending_confirmations")
    assert settle_reviewed() == 0  # while it is stopped

    reviews.end_review(accepted(bakery), "Corrected")

    assert settle_reviewed() == 1
    assert make.detail(bakery.test, waiting["id"])["status"] == "completed"
    assert settle_reviewed() == 0


def test_a_stop_ends_by_itself_when_its_deposit_confirms_again(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    make.funded(bakery.test)
    raw = lose(chain, watcher, bakery, payment)
    held = make.payout(bakery.test, 10**15)["id"]
    assert Payout.objects.get(pk=held).review_reason == states.ASSET_STOPPED
    end_stops()
    assert accepted(bakery).suspended_at is not None  # it is still missing

    find_again(chain, watcher, bakery, payment, raw)
    end_stops()

    row = accepted(bakery)
    assert (row.suspended_at, row.lost_deposit_ids) == (None, [])
    line = AuditEntry.objects.get(action="asset.review_ended")
    assert (line.actor_kind, line.reason) == ("system", reviews.FOUND_AGAIN)
    notice = Notification.objects.filter(store=bakery.store, title__contains="is accepted again")
    assert "Payouts that waited for it go on." in notice.get().text
    assert Payout.objects.get(pk=held).status == "pending"
    assert AuditEntry.objects.get(action="payout.released").target_id == held
    assert auditing.breaches(check_chain=True) == []


def test_each_of_the_deposits_has_to_confirm_again(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    other = make.payment(bakery.test)
    chain.mine(3)
    raws = [pay(chain, payment), pay(chain, other)]
    chain.mine(3)
    after(watcher, bakery, payment)
    chain.reorg(6)
    after(watcher, bakery, payment)
    assert len(accepted(bakery).lost_deposit_ids) == 2

    find_again(chain, watcher, bakery, payment, raws[0])
    end_stops()
    assert accepted(bakery).suspended_at is not None
    find_again(chain, watcher, bakery, payment, raws[1])
    end_stops()

    assert accepted(bakery).suspended_at is None


@pytest.mark.parametrize("act", ["keep_stopped", "correct"])
def test_what_a_person_has_decided_or_corrected_stays_with_people(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any], act: str
) -> None:
    raw = lose(chain, watcher, bakery, payment)
    if act == "correct":
        make._correct("SETH", "available", bakery.store.pk, -5, make.clerk())
    else:
        reviews.keep_stopped(accepted(bakery), "The miner is unknown")

    find_again(chain, watcher, bakery, payment, raw)
    end_stops()

    assert accepted(bakery).suspended_at is not None


def test_a_payout_with_another_reason_stays_in_review_for_it(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any]
) -> None:
    make.funded(bakery.test)
    raw = lose(chain, watcher, bakery, payment)
    held = make.payout(bakery.test, 10**15)["id"]
    change_store(bakery.store, payout_review_threshold_cents=0)

    find_again(chain, watcher, bakery, payment, raw)
    end_stops()

    row = Payout.objects.get(pk=held)
    assert (row.status, row.review_reason) == ("requires_review", states.ABOVE_THRESHOLD)


def test_an_operator_decides_about_all_of_them_at_once(bakery: Shop, capsys: Any) -> None:
    make.funded(bakery.test)
    AcceptedAsset.objects.filter(store=bakery.store, mode="test", asset="SETH").update(
        suspended_at=clock.real_now()
    )
    held = [make.payout(bakery.test, 10**14)["id"] for _ in range(3)]
    place = f"{bakery.store.pk}:test:SETH"

    call_command(
        "review", "stopped_asset", place, "approve", "--reason", "Corrected", "--payouts", "--json"
    )

    answer = json.loads(capsys.readouterr().out)
    assert (answer["status"], answer["payouts"]) == ("accepted", {"released": 3})
    assert set(Payout.objects.filter(pk__in=held).values_list("status", flat=True)) == {"pending"}
    assert auditing.breaches() == []


def test_what_says_underpaid_has_received_something(
    chain: LocalChain, watcher: Reader, bakery: Shop, payment: dict[str, Any], client: Client
) -> None:
    way = entry(payment)
    tx_hash = chain.pay(way["address"], int(way["crypto_amount_atomic"]) // 2)
    raw = chain.raw(tx_hash)
    assert after(watcher, bakery, payment)["state_reason"] == "processing_underpaid"

    chain.reorg(1)
    lost = after(watcher, bakery, payment)

    assert (lost["status"], lost["state_reason"]) == ("processing", "pending_confirmations")
    page = client.get(f"/pay/{payment['reference']}").content.decode()
    assert "Partially paid" not in page and "Payment detected" not in page
    assert "It may still go through by itself" in page
    answer = find_transaction(Payment.objects.get(pk=payment["id"]), tx_hash)
    assert answer.result in (LookupResult.NOT_FINAL, LookupResult.NOT_FOUND), "it may come again"
    browser = Browser(bakery.owner)
    assert (
        "Your customer has paid"
        not in browser.get(f"payments/{payment['id']}/link").content.decode()
    )
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(1)
    assert after(watcher, bakery, payment)["state_reason"] == "processing_underpaid"
    assert told(payment).count("payment_intent.underpaid_detected") == 1
