"""Two workers and two signers at once make one batch of what waits. Real threads, real locks."""

import time
from collections.abc import Iterator

import pytest

from apps.assets.models import Asset, Chain
from apps.audit import custody
from apps.chain.models import (
    Address,
    BalanceCheck,
    Block,
    GasLeft,
    Head,
    HotWallet,
    OutgoingTransaction,
    SightingRecord,
    SignedTransaction,
)
from apps.chain.sending import sender, signing_rounds, sweeper
from apps.payments.services.sweep_books import book_sweeps
from tests.cast import Cast
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.payouts.conftest import _django_db_helper, committed
from tests.payouts.test_concurrency import together
from tests.swaps.conftest import Venue, is_exact, place_on
from tests.swaps.test_sweep_batches import able, paid

__all__ = ["_django_db_helper", "committed"]
pytestmark = pytest.mark.chain
PATIENCE_SECONDS = 60.0


@pytest.fixture
def as_before(_django_db_helper: None) -> Iterator[None]:
    """Rows of the test's chain are deleted: other tests have chains of their own."""
    changed = [*Chain.objects.all(), *Asset.objects.all()]
    addresses = list(Address.objects.values_list("pk", flat=True))
    yield
    for row in changed:
        row.save()
    SignedTransaction.objects.all().delete()
    OutgoingTransaction.objects.exclude(batch=None).delete()
    for model in (
        OutgoingTransaction,
        HotWallet,
        GasLeft,
        BalanceCheck,
        Block,
        Head,
        SightingRecord,
    ):
        model._default_manager.all().delete()
    Address.objects.exclude(pk__in=addresses).delete()


def give_what_is_booked(place: Venue) -> None:
    """The hot wallet has what the books say, of which tests before this one may have left some."""
    of_tokens, of_coins = (
        custody.book_of(Asset.objects.get(pk=name), place.chain.height).expected_atomic
        for name in ("USDC_SETH", "SETH")
    )
    place.chain.mint(place.token, place.hot, of_tokens - place.tokens(place.hot))
    place.chain.call("anvil_setBalance", place.hot, hex(of_coins))


def test_each_address_is_swept_once(
    as_before: None, chain: LocalChain, watcher: Reader, committed: Cast
) -> None:
    place = place_on(chain, watcher)
    able(place, committed.bakery)
    give_what_is_booked(place)
    addresses = paid(place, committed.bakery, 4)
    for act in (sweeper.sweep_due, signing_rounds.sign_due, sender.run_due):
        together([act, act])
    rows = OutgoingTransaction.objects.filter(purpose="sweep")
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while rows.exclude(status="confirmed").exists() and time.monotonic() < ends_at:
        place.work()  # a busy node is asked again in the next round
    book_sweeps()
    assert list(rows.values_list("status", "nonce")) == [("confirmed", 0)] * len(addresses)
    assert [place.tokens(address) for address in addresses] == [0] * len(addresses)
    assert is_exact()
