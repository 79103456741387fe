"""A till whose sale is sent, given up and answered at the same moment, in threads of their own."""

import threading
from collections.abc import Callable
from functools import partial

from django.db import connection

from apps.core.errors import Failure
from apps.links.models import Sale
from apps.links.services.sales import answer_tip, discard_sale, start_sale
from apps.payments.models import Payment
from tests.cast import Cast
from tests.links.sales import sale_request, sold
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "committed"]


def at_once(*works: Callable[[], object]) -> list[str]:
    """Refusals of each; empty where there was none."""
    refusals: list[str] = []
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> None:
        try:
            barrier.wait()
            work()
            refusals.append("")
        except Failure as refusal:
            refusals.append(type(refusal).__name__)
        except Exception as error:  # what a page would answer with 500
            refusals.append(f"broken: {error!r}")
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refusals


def test_a_sale_that_is_sent_and_given_up_at_once_is_charged_never(committed: Cast) -> None:
    access = committed.bakery.owner_access()
    for _ in range(8):
        request = sale_request()
        refusals = at_once(
            partial(start_sale, access, request),
            partial(discard_sale, access, request.form_key),
            partial(start_sale, access, request),
        )
        assert refusals == ["", "", ""]
        sale = Sale.objects.get(form_key=request.form_key)
        assert sale.canceled_at is not None
        assert sale.payment is None or sale.payment.status == "expired"


def test_who_answers_first_decides_about_the_tip(committed: Cast) -> None:
    access = committed.bakery.owner_access()
    for _ in range(5):
        sale = sold(access, offered_bps=[1000])
        count = Payment.objects.count()
        refusals = at_once(*(partial(answer_tip, access, sale, tip) for tip in (125, 0, 300)))
        assert refusals == ["", "", ""] and Payment.objects.count() == count + 1
        kept = Sale.objects.select_related("payment").get(pk=sale.pk)
        assert kept.payment is not None and kept.tip_cents is not None
        assert kept.payment.settlement_amount_cents == 1250 + kept.tip_cents
