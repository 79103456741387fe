"""Litecoin on the staff site: one transaction with its orders, fee, coins and replacements."""

from typing import Any

import pytest
from django.utils.html import strip_tags

from apps.chain.models import OutgoingTransaction, SpendCandidate, SpendRecord
from apps.core.money import amount_text
from apps.payouts.models import Payout
from tests import make
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import Reading
from tests.bitcoin.test_sending import paid_in, reading, rounds
from tests.dashboard.browse import Browser, text
from tests.staff.test_roles import signed_in

__all__ = ["reading"]
pytestmark = pytest.mark.litecoin
LIST = "/admin/chain/spendrecord/"


def words(answer: Any) -> str:
    return " ".join(strip_tags(text(answer)).split())


def test_staff_see_what_one_transaction_pays_and_find_it_by_its_hash(
    litecoin: Litecoin, reading: Reading
) -> None:
    paid_in(litecoin, reading)
    for amount in (1_000_000, 2_500_000):
        goal = litecoin.faucet("getnewaddress")
        make.payout(reading.shop.test, amount, asset_id="TLTC", destination_address=goal)
    rounds(litecoin, reading)
    assert set(Payout.objects.values_list("status", flat=True)) == {"confirmed"}
    spend = SpendRecord.objects.get()
    candidate = SpendCandidate.objects.get()
    fee = amount_text(candidate.fee_atomic, 8)
    staff: Browser = signed_in(make.clerk("finance"))
    listed = words(staff.get(LIST))
    assert "0.035 tLTC in 2 orders" in listed and f"{fee} tLTC" in listed
    page = staff.get(f"{LIST}{spend.pk}/change/")
    shown = words(page)
    assert candidate.tx_hash in shown and "0.01 tLTC" in shown and "0.025 tLTC" in shown
    for order in OutgoingTransaction.objects.filter(purpose="payout"):
        assert order.to_address in shown and amount_text(order.network_fee_atomic or 0, 8) in shown
    [coin] = spend.coins.all()
    assert coin.tx_hash in shown and coin.address in shown
    # The order's own page leads to it, and tells its fee with the places of its coin.
    order = OutgoingTransaction.objects.filter(purpose="payout")[0]
    alone = staff.get(f"/admin/chain/outgoingtransaction/{order.pk}/change/")
    assert f"{LIST}{spend.pk}/change/" in text(alone)
    assert f"{amount_text(order.network_fee_atomic or 0, 8)} LTC" in words(alone)
    found = text(staff.get(f"/admin/search/?q={candidate.tx_hash}"))
    assert f"{LIST}{spend.pk}/change/" in found
    assert f"/admin/chain/outgoingtransaction/{order.pk}/change/" in found


def test_staff_see_what_has_replaced_a_transaction(litecoin: Litecoin, reading: Reading) -> None:
    paid_in(litecoin, reading)
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, 1_000_000, asset_id="TLTC", destination_address=goal)
    rounds(litecoin, reading)
    first = SpendCandidate.objects.get()
    SpendRecord.objects.update(mined_as="", ended_at=None)
    second = SpendCandidate.objects.create(
        spend=first.spend,
        tx_hash="ab" * 32,
        raw=first.raw,
        plan=first.plan,
        fee_atomic=first.fee_atomic * 2,
        signed_at=first.signed_at,
    )
    staff: Browser = signed_in(make.clerk("finance"))
    listed = words(staff.get(LIST))
    assert "replaces 1" in listed and amount_text(second.fee_atomic, 8) in listed
    shown = words(staff.get(f"{LIST}{first.spend_id}/change/"))
    assert first.tx_hash in shown and second.tx_hash in shown
