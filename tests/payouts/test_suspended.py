"""Payouts of a store that is being suspended while they are created."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction

from apps.core import clock
from apps.payouts.models import Payout
from apps.stores.models import Store
from tests import make
from tests.cast import Cast


def test_a_payout_that_is_being_created_comes_before_the_suspension_or_is_refused(
    committed: Cast,
) -> None:
    """A payout's transaction holds the store, so that a suspension waits for its end; one that
    begins afterwards finds it."""
    cast = committed
    store = cast.bakery.store
    make.store_coins(store, "SETH", 10**18)
    payout = Payout.objects.get(pk=make.payout(cast.bakery.test, 10**16)["id"])
    column = {"payouts_suspended_at": clock.real_now()}

    def suspend() -> None:
        try:
            Store.objects.filter(pk=store.pk).update(**column)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            payout.pk, payout.idempotency_key = uuid.uuid4(), "another"
            payout.save(force_insert=True)
            waiting = pool.submit(suspend)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=1)
        waiting.result(timeout=20)
    assert Payout.objects.filter(pk=payout.pk).exists()
    payout.pk, payout.idempotency_key = uuid.uuid4(), "a third"
    with pytest.raises(IntegrityError, match="are suspended"), transaction.atomic():
        payout.save(force_insert=True)
    Store.objects.filter(pk=store.pk).update(payouts_suspended_at=None)
