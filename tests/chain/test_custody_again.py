"""The audit of what our addresses hold: it waits for receipts that nobody has read yet, and counts
nothing twice."""

import uuid
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.audit import custody
from apps.audit.custody import Book, Checked
from apps.chain.models import Deposit, Head, OutgoingTransaction, UnmatchedTransfer
from apps.chain.watching import unmatched
from apps.core import clock
from tests import make
from tests.cast import Cast


@pytest.fixture
def book(db: None) -> Book:
    asset = Asset.objects.select_related("chain").get(pk="SETH")
    at = clock.real_now()
    Head.objects.update_or_create(
        chain=asset.chain,
        defaults={"number": 120, "hash": "0x" + "0" * 64, "block_time": at, "synced_at": at},
    )
    return Book(asset, 117, 10)


def answers(monkeypatch: pytest.MonkeyPatch, *details: str) -> list[Any]:
    """Results of the comparisons, one after the other; the pauses between them are counted."""
    left = list(details)
    pauses = []
    monkeypatch.setattr(custody, "_compare", lambda book: Checked("SETH", left.pop(0)))
    monkeypatch.setattr("apps.audit.custody.time.sleep", pauses.append)
    return pauses


def under_way(book: Book) -> None:
    OutgoingTransaction.objects.create(
        mode=book.asset.mode,
        chain=book.asset.chain,
        asset=book.asset,
        purpose="payout",
        reference=str(uuid.uuid4()),
        to_address="0x" + "1" * 40,
        amount_atomic=5,
        status="submitted",
        nonce=0,
        requested_at=clock.real_now(),
    )


def test_what_fits_after_the_receipt_was_read_is_no_finding(
    monkeypatch: pytest.MonkeyPatch, book: Book
) -> None:
    under_way(book)
    pauses = answers(monkeypatch, "-83 too few", "")
    assert [item.detail for item in custody.compare([book])] == [""] and len(pauses) == 1


def test_what_stays_apart_is_one(monkeypatch: pytest.MonkeyPatch, book: Book) -> None:
    under_way(book)
    pauses = answers(monkeypatch, *["-83 too few"] * 9)
    assert [item.detail for item in custody.compare([book])] == ["-83 too few"] and len(
        pauses
    ) == custody.LOOKS_AGAIN


def test_while_nothing_is_under_way_nobody_waits(
    monkeypatch: pytest.MonkeyPatch, book: Book
) -> None:
    pauses = answers(monkeypatch, "-83 too few")
    assert [item.detail for item in custody.compare([book])] == ["-83 too few"] and pauses == []


def test_coins_that_staff_credited_are_counted_once(cast: Cast, book: Book) -> None:
    transfer = UnmatchedTransfer.objects.get(
        pk=make.stray_transfer(make.payment(cast.bakery.test)["id"])
    )
    Deposit.objects.filter(tx_hash=transfer.tx_hash).update(is_simulated=False, block_number=7)
    asset = Asset.objects.select_related("chain").get(pk="USDC_SETH")
    before = custody.book_of(asset, 117).expected_atomic
    make.service_coins("USDC_SETH", transfer.amount_atomic)
    assert custody.book_of(asset, 117).expected_atomic == before + transfer.amount_atomic
    unmatched.resolve(
        transfer, UnmatchedTransfer.Outcome.CREDITED, "Corrected", make.clerk(), clock.real_now()
    )
    assert custody.book_of(asset, 117).expected_atomic == before
