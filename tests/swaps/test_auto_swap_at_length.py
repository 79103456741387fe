"""Cost of the sweep of automatic swaps depends on the stores that want them and on the payments
due, not on how many payments there are."""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection

from apps.assets.models import Asset
from apps.core import clock
from apps.payments.models import Payment
from apps.swaps.services import auto
from apps.swaps.services.auto import set_auto_swap, swap_completed_payments
from tests import make
from tests.cast import Cast
from tests.dashboard.test_search import copies

FEW = 500
MANY = 4_000
BUFFERS_MAX = 200


def _fill(ids: Sequence[str], begin: int, end: int) -> None:
    """Copies of these payments."""
    columns = {
        "id": "gen_random_uuid()",
        "reference": "upper(substr(md5(s.id::text || n), 1, 16))",
        "completed_at": "completed_at + n * interval '1 second'",
        "idempotency_key": "NULL",
    }
    for payment_id in ids:
        source = f"(SELECT * FROM payments_payment WHERE id = '{payment_id}') s"
        copies(Payment, columns, f"{source}, generate_series({begin}, {end}) n")


def _buffers() -> int:
    """Pages that the finders look at."""
    values = {
        "store_id": None,
        "mode": "test",
        "job": auto.JOB.name,
        "now": clock.real_now(),
        "of_store": auto.JOB.limit + 1,
        "limit": auto.DUE_MAX,
    }
    begun = auto.JOB.ready(auto._begun(None, "test"))[:1].explain()
    assert "payment_swapping" in begun, begun
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {auto._DUE._with_values}", values)
        answer: Any = cursor.fetchone()[0]
    (told,) = json.loads(answer) if isinstance(answer, str) else answer
    return int(told["Plan"]["Shared Hit Blocks"] + told["Plan"]["Shared Read Blocks"])


def test_eight_times_as_many_payments_cost_no_more(cast: Cast) -> None:
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=f"0x{1:040x}", is_active=True)
    set_auto_swap(cast.bakery.owner_access(), "USDC_SETH")
    swapped = make.paid(cast.bakery.test)["id"]
    ids = (swapped, make.paid(cast.strangers.test)["id"])  # the second store wants no swaps
    Payment.objects.filter(pk=swapped).update(auto_swap_status="completed")
    _fill(ids, 1, FEW)
    few = _buffers()
    _fill(ids, FEW + 1, MANY)
    many = _buffers()
    assert Payment.objects.count() > 2 * MANY
    assert few <= BUFFERS_MAX and many <= few + 20, (few, many)

    due = make.paid(cast.bakery.test)["id"]
    assert swap_completed_payments() == 1
    assert Payment.objects.get(pk=due).auto_swap_status == "pending"
