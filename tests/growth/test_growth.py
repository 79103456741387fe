"""A service grows without slowing: with eight times the rows no periodic job, figure, probe or
claim, and no page, list, search or summary, reads more of the database.

A town and one that was founded with it grow to both sizes: in every table that a payment touches,
over stores and a year, with books that are sound. Of the smaller one is measured what the larger
one's cost alone doesn't settle.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.access.pruning import REQUEST_LOG
from apps.audit import verify
from apps.core.db import partitions
from apps.payments.models import Payment
from config.celery import PERIODIC
from tests.growth import job_costs, page_costs
from tests.growth.buffers import GROWTH_MAX, reading
from tests.growth.catalog import ask
from tests.growth.reports import month_report
from tests.growth.seed import BESIDE, GrowingTown, town, within

# Settings of a session, and VACUUM, which a pooler refuses.
pytestmark = pytest.mark.direct

FEW = 2_000
MANY = 8 * FEW
GROWING = (
    "access_requestentry",
    "billing_invoice",
    "chain_address",
    "chain_deposit",
    "ledger_entry",
    "ledger_movement",
    "payments_paymentevent",
    "payments_refund",
    "payouts_payout",
    "chain_outgoingtransaction",
    "swaps_swap",
    "webhooks_delivery",
    "webhooks_event",
)
# What copies can't keep: seals are of the rows as they were, numbers are drawn in one row, and
# nobody has made the copies of keys or verified those of stores, so no line says who did; lines
# of the audit log are copied about keys that aren't.
OF_COPIES = {
    "payments_sealed",
    "audit_log_sealed",
    "invoices_numbered",
    "sent_once",
    "credentials_logged",
    "businesses_verified",
    "settings_logged",
}


@dataclass(frozen=True)
class Size:
    """A town as it was found: rows by table, and what was read of them."""

    payments: int
    rows: dict[str, int]
    jobs: job_costs.Measured
    pages: dict[str, int]


@pytest.fixture(scope="module")
def place(django_db_setup: None, django_db_blocker: Any) -> Iterator[GrowingTown]:
    with django_db_blocker.unblock(), town(MANY) as built:
        yield built


@pytest.fixture(scope="module")
def smaller(place: GrowingTown) -> Iterator[GrowingTown]:
    """Beside a place where nothing has grown yet."""
    with place.beside() as other:
        with within(BESIDE):
            other.grow(FEW)
        yield other


@pytest.fixture(scope="module")
def findings(smaller: GrowingTown) -> set[str]:
    """The invariants that are broken in the smaller town."""
    with within(BESIDE):
        return {verdict.name for verdict in verify.verdicts() if verdict.findings}


@pytest.fixture(scope="module")
def sizes(place: GrowingTown, smaller: GrowingTown, findings: set[str]) -> tuple[Size, Size]:
    place.grow(MANY)
    many = measured(place)
    with within(BESIDE):
        return measured(smaller, many), many


def measured(place: GrowingTown, beside: Size | None = None) -> Size:
    """Costs of this town beside those of another, if there is one, or all."""
    rows = {name: ask(f"SELECT count(*) FROM {name}")[0][0] for name in GROWING}
    jobs = job_costs.measured(place, job_costs.in_question(beside.jobs) if beside else None)
    pages = page_costs.measured(place, page_costs.in_question(beside.pages) if beside else None)
    return Size(place.payments, rows, jobs, pages)


def test_a_town_is_sound(findings: set[str]) -> None:
    assert findings - OF_COPIES == set()


def test_it_grows_in_every_table(sizes: tuple[Size, Size]) -> None:
    few, many = sizes

    assert many.payments == pytest.approx(MANY, rel=0.1)
    assert {name: many.rows[name] for name in GROWING if many.rows[name] < 3 * few.rows[name]} == {}


@pytest.mark.usefixtures("sizes")
def test_its_calls_are_spread_over_the_days_of_the_request_log() -> None:
    found = ask("SELECT DISTINCT tableoid::regclass::text FROM access_requestentry")
    days = {part.name for part in partitions.partitions(REQUEST_LOG) if part.start}

    assert len(days) > 30 and len(found) >= 3
    assert {name for (name,) in found} <= days


@pytest.mark.usefixtures("sizes")
def test_its_payments_are_spread_over_stores_and_over_a_year() -> None:
    shares = ask("SELECT count(*) FROM payments_payment GROUP BY store_id ORDER BY 1 DESC")
    (months,) = ask("SELECT count(DISTINCT date_trunc('month', created_at)) FROM payments_payment")

    assert len(shares) >= 3
    assert months[0] >= 12


def test_what_runs_by_itself_reads_no_more_of_eight_times_the_rows(
    sizes: tuple[Size, Size],
) -> None:
    few, many = (size.jobs.at_rest for size in sizes)

    assert len({name for name, _ in many}) > len(PERIODIC) / 2
    assert job_costs.grown(few, many, job_costs.of_a_run) == ""


def test_what_is_due_costs_the_same_beside_eight_times_the_rows(sizes: tuple[Size, Size]) -> None:
    few, many = sizes

    busy = {name for name, _ in many.jobs.with_due.keys() - many.jobs.at_rest.keys()}
    assert len(busy) > len(PERIODIC) / 3
    with_due = {
        key: cost for key, cost in many.jobs.with_due.items() if not job_costs.is_of_a_store(key[1])
    }
    assert job_costs.grown(few.jobs.with_due, with_due, job_costs.of_each_row) == ""


def test_what_is_asked_reads_no_more_of_eight_times_the_rows(sizes: tuple[Size, Size]) -> None:
    grown = page_costs.grown(sizes[0].pages, sizes[1].pages)

    assert grown == {}, "\n".join(f"{name}: {sizes}" for name, sizes in grown.items())


def test_a_statement_that_reads_the_whole_table_is_seen(sizes: tuple[Size, Size]) -> None:
    with reading() as read:
        Payment.objects.filter(title="Bread", description="nowhere").count()
    with reading() as counted:
        Payment.objects.filter(pk=uuid.UUID(int=0)).count()

    assert sum(read.buffers.values()) > 10 * sum(counted.buffers.values()) > 0


@pytest.mark.whole  # bounds by number, which all of apps.reports asks through one function
def test_a_report_reads_no_more_of_ten_times_the_older_history(
    place: GrowingTown, sizes: tuple[Size, Size]
) -> None:
    """A month near the year's beginning, and one near its end, which have as many lines."""
    today = datetime.now(UTC).date()
    reports = {days: month_report(place, today - timedelta(days=days)) for days in (340, 70)}

    (early_lines, early), (late_lines, late) = reports[340], reports[70]
    assert late_lines == pytest.approx(early_lines, rel=0.1) and late_lines > 300
    assert late < GROWTH_MAX * early
