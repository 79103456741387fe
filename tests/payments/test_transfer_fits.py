"""Which payments are offered for coins at an address for another coin, and in which order."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.chain.models import UnmatchedTransfer
from apps.payments.models import LateDeposit, Payment, PaymentAddress
from apps.payments.transfer_fits import LOOKED_BACK, fits_of
from tests import make
from tests.cast import Cast, signed_in
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.django_db
COIN = "USDC_SETH"


def asking_for(cast: Cast, required_atomic: int) -> Payment:
    payment = Payment.objects.get(pk=make.payment(cast.bakery.test)["id"])
    changed = PaymentAddress.objects.filter(payment=payment, asset=COIN)
    assert changed.update(required_atomic=required_atomic) == 1
    return payment


@pytest.fixture
def transfer(cast: Cast) -> UnmatchedTransfer:
    """A million atoms, one whole USDC, at an address of a payment in ETH."""
    own = make.payment(cast.bakery.test)
    transfer_id = make.stray_transfer(own["id"], COIN)
    Asset.objects.filter(pk=COIN).update(contract_address="0x" + "01" * 20, is_active=True)
    accept_all_active(cast.bakery.store)
    return UnmatchedTransfer.objects.get(pk=transfer_id)


def offered(cast: Cast, transfer: UnmatchedTransfer) -> list[Payment]:
    own = PaymentAddress.objects.get(address=transfer.address_id).payment
    access = signed_in(cast.alice, cast.bakery.store, "test")
    found = fits_of(access, transfer, own)
    assert [item.is_own for item in found] == [True] + [False] * (len(found) - 1)
    assert found[0].payment == own
    return [item.payment for item in found[1:]]


def test_those_that_ask_for_about_as_much_of_the_coin_are_offered_nearest_first(
    cast: Cast, transfer: UnmatchedTransfer
) -> None:
    near = asking_for(cast, 1_050_000)
    exact = asking_for(cast, 1_000_000)
    asking_for(cast, 2_000_000)
    later = asking_for(cast, 1_000_000)
    assert offered(cast, transfer) == [later, exact, near]


def test_neither_old_ones_nor_a_strangers_are_offered(
    cast: Cast, transfer: UnmatchedTransfer
) -> None:
    old = asking_for(cast, 1_000_000)
    long_ago = transfer.detected_at - LOOKED_BACK - timedelta(minutes=1)
    Payment.objects.filter(pk=old.pk).update(created_at=long_ago)
    accept_all_active(cast.strangers.store)
    theirs = Payment.objects.get(pk=make.payment(cast.strangers.test)["id"])
    PaymentAddress.objects.filter(payment=theirs, asset=COIN).update(required_atomic=1_000_000)
    assert offered(cast, transfer) == []


def test_the_page_offers_them_as_choices_and_takes_one_without_a_typed_reference(
    cast: Cast, transfer: UnmatchedTransfer
) -> None:
    exact = asking_for(cast, 1_000_000)
    browser = Browser(cast.alice, answers=True)
    path = f"transfers/{transfer.pk}"
    shown = text(browser.get(path))
    own = PaymentAddress.objects.get(address=transfer.address_id).payment
    assert shown.index(f'value="{own.reference}"') < shown.index(f'value="{exact.reference}"')
    answer = browser.post(f"{path}/accept", payment=exact.reference, reference="")
    assert answer.status_code == 303 and str(exact.pk) in answer.url
    assert LateDeposit.objects.get().payment == exact


def test_more_payments_ask_no_more_queries(cast: Cast, transfer: UnmatchedTransfer) -> None:
    browser = Browser(cast.alice)
    browser.get(f"transfers/{transfer.pk}")  # what is kept between requests is read
    counts = []
    for _ in range(2):
        for _ in range(3):
            asking_for(cast, 1_000_000)
        with CaptureQueriesContext(connection) as asked:
            assert browser.get(f"transfers/{transfer.pk}").status_code == 200
        counts.append(len(asked))
    assert counts[0] == counts[1]
