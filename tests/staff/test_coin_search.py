"""Staff look for coins that somebody says they have sent, and accept what nothing explains."""

from typing import Any

import pytest

from apps.chain.models import BlockToRead, Deposit, UnexplainedBalance
from apps.chain.watching import unexplained
from apps.core import clock
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.coin_search import SearchRefused, ask_for_blocks
from apps.payments.services.settle import settle_deposits
from apps.stores.models import AuditEntry
from apps.stores.staff_roles import StaffForbidden
from tests import make
from tests.cast import Cast
from tests.chain.conftest import Reader, chain, proxy, watcher
from tests.chain.test_again import missed
from tests.dashboard.browse import Browser
from tests.staff.pages import words
from tests.staff.test_roles import signed_in, staff_in

__all__ = ["chain", "missed", "proxy", "watcher"]  # fixtures
COINS = "/admin/coins/"
UNEXPLAINED = "/admin/chain/unexplainedbalance/"


@pytest.fixture
def support(cast: Cast) -> Browser:
    return signed_in(make.clerk("support"))


def find(browser: Browser, tx_hash: str, reason: str = "Ticket 7") -> Any:
    fields = {"find-transaction": tx_hash, "find-reason": reason}
    return browser.post(COINS, act="find", **fields)


def read_again(browser: Browser, first: int, last: int, reason: str = "Ticket 7") -> Any:
    fields = {"chain": "sepolia", "first": first, "last": last, "reason": reason}
    return browser.post(
        COINS, act="blocks", **{f"blocks-{name}": value for name, value in fields.items()}
    )


@pytest.mark.chain
def test_a_transaction_and_its_block_are_found(
    missed: tuple[Payment, str, int], watcher: Reader, support: Browser
) -> None:
    payment, tx_hash, number = missed
    shown = words(find(support, tx_hash))
    assert f"Payment {payment.reference}" in shown and "its block is read again now" in shown
    assert [row.number for row in BlockToRead.objects.all()] == [number]
    watcher.read()
    settle_deposits()
    assert Deposit.objects.get().tx_hash == tx_hash
    assert "Booked and confirmed" in words(find(support, tx_hash))
    entry = AuditEntry.objects.filter(action="transaction.looked_up").latest("id")
    assert (entry.target_name, entry.reason, entry.actor_kind) == (tx_hash, "Ticket 7", "staff")
    assert "It isn’t on" in words(find(support, "0x" + "ab" * 32))
    refused = find(support, "my coins")
    assert refused.status_code == 422 and "Enter the hash" in words(refused)
    assert find(support, tx_hash, reason=" ").status_code == 422


@pytest.mark.chain
def test_blocks_are_read_again_by_the_watcher(
    missed: tuple[Payment, str, int], watcher: Reader, support: Browser
) -> None:
    _, tx_hash, number = missed
    assert read_again(support, number - 1, number + 1).status_code == 302
    assert [row.number for row in BlockToRead.objects.order_by("number")] == [
        number - 1,
        number,
        number + 1,
    ]
    entry = AuditEntry.objects.get(action="blocks.asked_again")
    assert entry.details == {"first": number - 1, "last": number + 1}
    assert (entry.target_id, entry.reason) == ("sepolia", "Ticket 7")
    watcher.read()
    assert not BlockToRead.objects.exists()
    assert Deposit.objects.get().tx_hash == tx_hash
    for first, last, reason in ((number, number - 1, "x"), (0, 10**6, "x"), (number, number, "")):
        assert read_again(support, first, last, reason).status_code == 422
    assert " of Ethereum Sepolia were read" in words(read_again(support, number, number + 50))
    assert not BlockToRead.objects.exists()


def test_only_staff_with_a_role_ask(cast: Cast, settings: Any) -> None:
    with pytest.raises(StaffForbidden):
        ask_for_blocks("sepolia", 1, 1, "x", staff_in(()))
    settings.CHAIN_URLS = {}
    with pytest.raises(SearchRefused, match="no node"):
        ask_for_blocks("sepolia", 1, 1, "x", make.clerk("support"))


@pytest.fixture
def unknown_coins(cast: Cast) -> UnexplainedBalance:
    make.payment(cast.bakery.test)
    way = PaymentAddress.objects.filter(asset="SETH").latest("created_at")
    now = clock.real_now()
    row: UnexplainedBalance = UnexplainedBalance.objects.create(
        chain_id="sepolia",
        address_id=way.address_id,
        asset_id="SETH",
        block_number=7,
        amount_atomic=70,
        looked_at=now,
        found_at=now,
    )
    return row


def test_finance_accepts_what_nothing_explains_with_a_reason(
    unknown_coins: UnexplainedBalance, support: Browser
) -> None:
    press = {"action": "accept", "_selected_action": str(unknown_coins.pk)}
    support.post(UNEXPLAINED, reason="A validator's", **press)
    finance = signed_in(make.clerk("finance"))
    finance.post(UNEXPLAINED, reason=" ", **press)
    unknown_coins.refresh_from_db()
    assert unknown_coins.settled_at is None
    with pytest.raises(StaffForbidden):
        unexplained.accept_for_staff(unknown_coins, "x", make.clerk("support"), clock.real_now())
    finance.post(UNEXPLAINED, reason="A validator's", **press)
    unknown_coins.refresh_from_db()
    assert (unknown_coins.settled_at is None, unknown_coins.accepted_reason) == (
        False,
        "A validator's",
    )
    entry = AuditEntry.objects.get(action="unexplained_balance.accepted")
    assert (entry.actor_kind, entry.reason) == ("staff", "A validator's")
