"""Two confirmations of two addresses at the same moment: one refund, to the first. Real threads,
real locks."""

from typing import Any

import pytest
from django.db import transaction

from apps.chain.addresses import ZERO_ADDRESS
from apps.payments.models import HeldRefund, Payment, Refund, RefundLink
from apps.payments.services.held_progress import send_held
from apps.stores.services import change_store
from tests import auditing, make
from tests.cast import Cast
from tests.dashboard.attention.makers import arrives
from tests.payments.test_losing import in_thread, until_somebody_waits_for_us
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "committed"]

pytestmark = pytest.mark.django_db
FIRST = "0x" + "1a" * 20
SECOND = "0x" + "2b" * 20


@pytest.fixture
def payment(committed: Cast) -> str:
    """One that failed, and whose sender is nobody."""
    change_store(committed.bakery.store, accept_overpayments=False)
    made = make.payment(committed.bakery.test, metadata={"customer_email": "ann@example.com"})
    arrives(made, sender=ZERO_ADDRESS, share=2)
    assert Payment.objects.get(pk=made["id"]).needs_attention == "held_refund"
    return str(made["id"])


@pytest.mark.parametrize("is_by_one_link", [False, True])
def test_two_confirmations_make_one_refund(payment: str, is_by_one_link: bool) -> None:
    link = RefundLink.objects.get(payment=payment) if is_by_one_link else None
    late: list[Any] = []
    proof = HeldRefund.Proof.EMAIL if is_by_one_link else HeldRefund.Proof.SIGNATURE
    with transaction.atomic():
        early = send_held(payment, FIRST, proof, link=link)
        other = in_thread(lambda: late.append(send_held(payment, SECOND, proof, link=link)))
        until_somebody_waits_for_us()
    other.join(30)
    assert (len(early), late) == (1, [[]])
    assert [refund.destination_address for refund in Refund.objects.filter(payment=payment)] == [
        FIRST
    ]
    assert auditing.breaches() == []
