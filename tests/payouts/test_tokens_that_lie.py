"""A transfer of tokens has arrived when the token says so in the receipt: one that answers false,
moves nothing or keeps a part is no payout that is done."""

from typing import Any

import pytest
from django.core.management import call_command

from apps.chain.models import OutgoingTransaction
from apps.chain.sending import hot_wallets, sender, signing_rounds, sweeper
from apps.core import clock
from apps.ledger.selectors import account_balance
from apps.payouts.services.progress import advance_payouts
from tests import make
from tests.cast import Shop
from tests.chain.proxy import Proxy
from tests.payouts.moody import Issuer, open_moody
from tests.payouts.test_lanes import rounds, status
from tests.swaps.conftest import DOLLAR, Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_sweeps import paid_in

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of(open_moody)
RECEIPT, ALL_RECEIPTS = "eth_getTransactionReceipt", "eth_getBlockReceipts"


@pytest.fixture
def issuer(place: Venue) -> Issuer:
    return Issuer(place)


def pay_out(shop: Shop, dollars: int = 20) -> dict[str, Any]:
    return make.payout(shop.test, dollars * DOLLAR, asset_id="USDC_SETH")


def sent(payout: dict[str, Any]) -> OutgoingTransaction:
    return OutgoingTransaction.objects.get(purpose="payout", reference__startswith=payout["id"])


def signed_before(place: Venue, payout: dict[str, Any]) -> None:
    """It was estimated and signed while the token was honest, and no node has it yet."""
    advance_payouts()
    signing_rounds.sign_due()
    assert sent(payout).status == "signed"


def is_sent(place: Venue) -> None:
    sender.run_due()
    place.arrives()
    sender.run_due()
    advance_payouts()


def test_a_payout_of_an_honest_token_is_confirmed(place: Venue, bakery: Shop) -> None:
    payout = pay_out(bakery)
    rounds(place, 1)
    assert status(payout) == "confirmed" and is_exact()


def test_a_token_that_answers_false_isnt_sent(place: Venue, bakery: Shop, issuer: Issuer) -> None:
    issuer.say_false()
    payout = pay_out(bakery)
    rounds(place, 2)
    assert (sent(payout).nonce, place.calls_from_hot()) == (None, 0)
    assert status(payout) == "pending"
    issuer.say_false(False)
    OutgoingTransaction.objects.update(not_before=None)
    rounds(place, 1)
    assert status(payout) == "confirmed" and is_exact()


class TestOneThatBeginsToLieOnceItIsSigned:
    def test_is_looked_at_by_a_person_who_finds_that_nothing_moved(
        self, place: Venue, bakery: Shop, issuer: Issuer
    ) -> None:
        payout = pay_out(bakery)
        signed_before(place, payout)
        issuer.say_false()
        is_sent(place)
        row = sent(payout)
        assert (row.status, row.reason_code) == ("review", "moved_otherwise")
        assert row.reason == "The token reports that 0 of 20 USDC arrived, and 0 left"
        assert status(payout) == "requires_review"
        assert is_exact()  # its gas is spent, whatever the person finds

        hot_wallets.resolve_as_unsent(row, clock.real_now())
        advance_payouts()
        assert (sent(payout).status, status(payout)) == ("failed", "failed")
        assert sent(payout).reason_code == "moved_nothing"
        assert is_exact()

    def test_an_operator_says_with_a_command_that_nothing_moved(
        self, place: Venue, bakery: Shop, issuer: Issuer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        payout = pay_out(bakery)
        signed_before(place, payout)
        issuer.say_false()
        is_sent(place)
        call_command("sending", "unsent", str(sent(payout).pk))
        advance_payouts()
        assert (sent(payout).reason_code, status(payout)) == ("moved_nothing", "failed")
        assert is_exact() and capsys.readouterr().err == ""

    def test_nor_does_a_command_say_so_of_what_has_left(
        self, place: Venue, bakery: Shop, issuer: Issuer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        payout = pay_out(bakery)
        issuer.tax(100)
        rounds(place, 1)
        with pytest.raises(SystemExit):
            call_command("sending", "unsent", str(sent(payout).pk))
        assert "The chain has it" in "".join(capsys.readouterr())
        assert (sent(payout).status, status(payout)) == ("review", "requires_review")

    @pytest.mark.parametrize("method", [RECEIPT, ALL_RECEIPTS])
    def test_nor_by_the_word_of_one_node(
        self,
        place: Venue,
        bakery: Shop,
        issuer: Issuer,
        settings: Any,
        capsys: pytest.CaptureFixture[str],
        method: str,
    ) -> None:
        """The header of the block has the last one."""
        payout = pay_out(bakery)
        issuer.tax(100)
        rounds(place, 1)
        node = Proxy(place.chain.url)
        settings.CHAIN_URLS = {"sepolia": [node.url]}
        node.lie(RECEIPT, lambda receipt: receipt and {**receipt, "logs": []})
        if method == ALL_RECEIPTS:
            node.lie(ALL_RECEIPTS, lambda all_: [{**item, "logs": []} for item in all_])
        with pytest.raises(SystemExit):
            call_command("sending", "unsent", str(sent(payout).pk))
        assert (sent(payout).status, status(payout)) == ("review", "requires_review")
        node.close()

    def test_and_keeps_a_part_is_confirmed_only_by_a_person(
        self, place: Venue, bakery: Shop, issuer: Issuer
    ) -> None:
        payout = pay_out(bakery)
        issuer.tax(100)
        rounds(place, 1)
        row = sent(payout)
        assert (row.status, row.reason) == (
            "review",
            "The token reports that 19.8 of 20 USDC arrived",
        )
        with pytest.raises(hot_wallets.ResolutionRefused, match="another transaction"):
            hot_wallets.resolve_as_sent(row, "0x" + "11" * 32, None, clock.real_now())  # type: ignore[arg-type]  # no node is asked
        hot_wallets.resolve_as_sent(row, row.tx_hash, None, clock.real_now())  # type: ignore[arg-type]  # the same
        advance_payouts()
        assert status(payout) == "confirmed" and is_exact()


def test_what_a_token_keeps_of_a_sweep_is_a_cost_of_the_service(
    place: Venue, bakery: Shop, issuer: Issuer
) -> None:
    paid_in(place, bakery, "USDC_SETH")
    issuer.tax(100)
    before = place.tokens(place.hot)
    for _ in range(2):
        sweeper.sweep_due()
        place.work()
    row = OutgoingTransaction.objects.get(purpose="sweep")
    kept = row.amount_atomic // 100
    assert (row.status, row.received_atomic) == ("confirmed", row.amount_atomic - kept)
    assert place.tokens(place.hot) - before == row.received_atomic
    assert account_balance(None, "test", "USDC_SETH", "network_fees") == -kept
    assert is_exact()


def test_a_node_that_leaves_the_logs_out_is_asked_again(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    payout = pay_out(bakery)
    advance_payouts()
    signing_rounds.sign_due()
    node = Proxy(place.chain.url)
    settings.CHAIN_URLS = {"sepolia": [node.url]}
    node.unknown.add("eth_getBlockReceipts")
    node.lie(
        "eth_getTransactionReceipt", lambda receipt: {**receipt, "logs": []} if receipt else None
    )
    is_sent(place)
    assert sent(payout).status == "submitted"
    node.changes.clear()
    is_sent(place)
    assert status(payout) == "confirmed" and is_exact()
    node.close()
