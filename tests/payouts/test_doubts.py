"""A payout that went to review only because a receipt was missing goes on by itself, and is paid
once."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.access.access import Access
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import sender, signing_rounds
from apps.payouts.models import Payout
from apps.payouts.requests import PayoutBody
from apps.payouts.services.create import create_payout
from apps.payouts.services.progress import advance_payouts
from tests import make
from tests.cast import Cast
from tests.chain.proxy import Proxy
from tests.sending.conftest import World
from tests.sending.test_doubts import hide, minutes_pass

pytestmark = pytest.mark.chain


@pytest.fixture
def proxy(world: World, settings: Any) -> Iterator[Proxy]:
    between = Proxy(world.url)
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [between.url]}
    yield between
    between.close()


def test_it_goes_on_once_the_receipt_is_there(
    committed: Cast, world: World, proxy: Proxy, sound_books: None
) -> None:
    store = committed.bakery.store
    make.store_coins(store, "SETH", 10**18)
    signing_rounds.introduce()
    access = Access(
        store=store, mode="test", kind="secret", scopes=frozenset({"payouts:write"}), caller="test"
    )
    to = world.stranger()
    body = {"asset_id": "SETH", "amount_atomic": str(10**16), "destination_address": to}
    create_payout(access, PayoutBody.read(body).request(), "one", caller=access.caller)
    payouts = Payout.objects.filter(store=store)  # committed tests leave payouts of theirs
    advance_payouts()
    signing_rounds.sign_due()
    sender.run_due()
    world.mine(5)
    hide(proxy)
    sender.run_due()
    advance_payouts()
    assert payouts.get().status == "submitted"
    minutes_pass(OutgoingTransaction.objects.get(to_address=to))
    sender.run_due()
    advance_payouts()
    payout = payouts.get()
    assert (payout.status, payout.is_outcome_unknown) == ("requires_review", True)
    assert HotWallet.objects.get().halted_at is not None

    proxy.changes.clear()
    sender.run_due()
    advance_payouts()
    payout = payouts.get()
    assert (payout.status, payout.review_reason, payout.is_outcome_unknown) == (
        "confirmed",
        "",
        False,
    )
    assert HotWallet.objects.get().halted_at is None
    assert world.balance(to) == 10**16
    assert OutgoingTransaction.objects.get(to_address=to).handled_status == "confirmed"
