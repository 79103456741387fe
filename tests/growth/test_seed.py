"""The town in which growth is measured: it grows in every table that a payment touches, is spread
over stores and over a year, and its books are sound."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.access.pruning import REQUEST_LOG
from apps.audit import verify
from apps.core.db import partitions
from tests.growth.catalog import ask
from tests.growth.seed import GrowingTown, town

# Settings of a session, and VACUUM, which a pooler refuses.
pytestmark = pytest.mark.direct

# What copies can't keep: seals are of the rows as they were, and numbers are drawn in one row.
OF_COPIES = {"payments_sealed", "audit_log_sealed", "invoices_numbered", "sent_once"}
FEW = 120
MANY = 480
GROWING = (
    *("access_requestentry", "billing_invoice", "chain_address", "chain_deposit", "ledger_entry"),
    *("ledger_movement", "payments_paymentevent", "payments_refund", "payouts_payout"),
    *("chain_outgoingtransaction", "swaps_swap", "webhooks_delivery", "webhooks_event"),
)


@pytest.fixture(scope="module")
def place(django_db_setup: None, django_db_blocker: Any) -> Iterator[GrowingTown]:
    with django_db_blocker.unblock(), town(MANY) as built:
        yield built


def counts() -> dict[str, int]:
    return {name: ask(f"SELECT count(*) FROM {name}")[0][0] for name in GROWING}


def test_a_town_grows_in_every_table_and_stays_sound(place: GrowingTown) -> None:
    place.grow(FEW)
    few = counts()
    place.grow(MANY)
    many = counts()

    assert place.payments == pytest.approx(MANY, rel=0.1)
    assert {name: many[name] for name in GROWING if many[name] < 3 * few[name]} == {}
    broken = {verdict.name for verdict in verify.verdicts() if verdict.findings}
    assert broken - OF_COPIES == set()


def test_calls_are_spread_over_the_days_of_the_request_log(place: GrowingTown) -> None:
    found = ask("SELECT DISTINCT tableoid::regclass::text FROM access_requestentry")
    days = {part.name for part in partitions.partitions(REQUEST_LOG) if part.start}

    assert len(days) > 30 and len(found) >= 3
    assert {name for (name,) in found} <= days


def test_payments_are_spread_over_stores_and_over_a_year(place: GrowingTown) -> None:
    shares = ask("SELECT count(*) FROM payments_payment GROUP BY store_id ORDER BY 1 DESC")
    (months,) = ask("SELECT count(DISTINCT date_trunc('month', created_at)) FROM payments_payment")

    assert len(shares) >= 3
    assert months[0] >= 12
