"""Records that fill the staff's pages, and readers of those pages."""

import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.chain.models import UnmatchedTransfer
from apps.core import clock
from apps.core.models import RowFailure
from apps.payments.models import PaymentAddress
from apps.stores.models import User
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text

# The buttons of every decision, in the order of the page: the Enter key takes the first.
DECISIONS = [("reject", "reject"), ("default", "approve")]
HOME = "/admin/"
SENDING = "/admin/sending/"
SEARCH = "/admin/search/"


def person_of(browser: Browser) -> User:
    return User.objects.get(pk=browser.client.session["_auth_user_id"])


def statements(act: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as asked:
        act()
    return len(asked)


def decisions(page: str) -> list[tuple[str, str]]:
    """The looks and the values of a decision's buttons."""
    return re.findall(r'<button class="(\w+)" name="decision" value="(\w+)"', page)


def words(page: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text(page)).split())


def reviewed(cast: Cast, count: int) -> None:
    """So many payouts in review."""
    make.store_coins(cast.bakery.store, "SETH", count * 10**18)
    change_store(cast.bakery.store, payout_review_threshold_cents=0)
    for _ in range(count):
        make.payout(cast.bakery.test, 10**16)


def dead(count: int, job: str = "payments.expire_due") -> None:
    at = clock.real_now()
    facts = {
        "tries": 12,
        "error": "ValueError",
        "since": at,
        "not_before": at,
        "dead_at": at - timedelta(hours=3),
    }
    RowFailure.objects.bulk_create(
        RowFailure(job=job, row_id=uuid.uuid4().hex, **facts) for _ in range(count)
    )


def stray(cast: Cast) -> UnmatchedTransfer:
    """Coins of a known asset at the address of a payment."""
    made = make.payment(cast.bakery.test)
    address = PaymentAddress.objects.get(payment=made["id"], asset="SETH").address
    return UnmatchedTransfer.objects.create(
        chain_id="sepolia",
        asset_id="SETH",
        address=address,
        tx_hash="0x" + uuid.uuid4().hex * 2,
        log_index=0,
        from_address="0x" + "a1" * 20,
        amount_atomic=10**17,
        block_number=1,
        reason="Another asset",
        detected_at=clock.real_now(),
    )
