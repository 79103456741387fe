"""Deposits at a merchant's own wallet are apart in reports from what is held here, entry by entry
and as sums."""

import uuid

import pytest

from apps.ledger import movements
from apps.reports.models import Report
from apps.reports.services.generate import generate_due
from tests.ledger.books import Books, open_books
from tests.reports.reading import STATEMENT, access_to, asked, made, rows_of
from tests.reports.test_figures import MONTH, NOVEMBER, OCTOBER, atomic

OWN = ("own_pending", "own_received", "own_fees_due")


@pytest.fixture
def books(db: None) -> Books:
    """A payment before November and two within to the own wallet; one within is held here."""
    books = open_books()

    def deposited(at: object, payment_id: uuid.UUID, amount: int, *, is_own: bool) -> None:
        movements.deposit_confirmed(
            **{**books.of_store, "at": at},
            deposit_id=uuid.uuid4(),
            payment_id=payment_id,
            amount_atomic=amount,
            is_simulated=False,
            is_own=is_own,
        )

    early, own, open_one, held = (uuid.uuid4() for _ in range(4))
    deposited(OCTOBER, early, 3_000_000, is_own=True)
    deposited(NOVEMBER, own, 5_000_003, is_own=True)
    deposited(NOVEMBER, open_one, 7, is_own=True)
    deposited(NOVEMBER, held, 2_000_000, is_own=False)
    for payment_id, gross, is_own in ((own, 5_000_003, True), (held, 2_000_000, False)):
        movements.payment_settled(
            **{**books.of_store, "at": NOVEMBER},
            payment_id=payment_id,
            gross_atomic=gross,
            service_fee_atomic=1_000,
            platform_fee_atomic=0,
            is_own=is_own,
        )
    movements.own_fees_collected(
        number=1, **{**books.of_store, "at": NOVEMBER}, amount_atomic=1_000
    )
    return books


def test_entries_of_an_own_wallet_are_listed_with_their_balances(books: Books) -> None:
    rows = rows_of(made(access_to(books), *MONTH))
    last = {row["account"]: atomic(row["balance"]) for row in rows}
    assert last == {
        "own_pending": 3_000_007,
        "own_received": 5_000_003,
        "own_fees_due": 0,
        "held": 0,
        "available": 1_998_000,
    }


def test_a_statement_never_adds_what_is_in_an_own_wallet_to_what_is_held(books: Books) -> None:
    rows = rows_of(made(access_to(books), *MONTH, STATEMENT))
    told = {row["kind"]: row for row in rows if row["section"] == "balance"}

    def amounts(kind: str) -> tuple[int, ...]:
        return tuple(atomic(told[kind][name]) for name in ("available", "held", "total", *OWN))

    assert amounts("opening_balance") == (0, 0, 0, 3_000_000, 0, 0)
    assert amounts("deposit_confirmed") == (0, 2_000_000, 2_000_000, 5_000_010, 0, 0)
    assert amounts("payment_settled") == (
        *(1_999_000, -2_000_000, -1_000),
        *(-5_000_003, 4_999_003, 1_000),
    )
    assert amounts("own_fees_collected") == (-1_000, 0, -1_000, 0, 1_000, -1_000)
    assert amounts("closing_balance") == (1_998_000, 0, 1_998_000, 3_000_007, 5_000_003, 0)


@pytest.mark.parametrize("kind", list(Report.Type))
def test_it_is_made_as_pdf_too(books: Books, kind: str) -> None:
    report = asked(access_to(books), *MONTH, kind, format="pdf")
    generate_due()
    report.refresh_from_db()
    assert report.status == Report.Status.GENERATED, report.error
