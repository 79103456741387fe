"""A statement reads the same whichever way it is cut: the running balance is the account's,
whatever is left out."""

import uuid
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from apps.ledger import movements, statements
from apps.ledger.posting import account_id
from apps.ledger.selectors import balance_of
from apps.ledger.statements import LineFilter, StatementLine, page
from tests.ledger.books import AT, COIN, Books, open_books

DAY = timedelta(days=1)
EVERYTHING = LineFilter()


@pytest.fixture
def account(db: None) -> int:
    """40 entries of the bakery's held coins: two deposits a day for ten days, each second day one
    is settled and one refunded."""
    books = open_books()
    for number in range(10):
        at = AT + number * DAY
        _ = post(books, at, 100 + number)
        payment_id = post(books, at, 100 + number)
        if number % 2:
            movements.payment_settled(
                **books.of_store | {"at": at + timedelta(hours=1)},
                payment_id=payment_id,
                gross_atomic=50,
                service_fee_atomic=0,
                platform_fee_atomic=0,
            )
    return account_id(books.store.pk, books.mode, COIN, "held")


def post(books: Books, at: Any, amount: int) -> uuid.UUID:
    """A deposit; its payment."""
    options = {**books.of_store, "at": at, "payment_id": uuid.uuid4()}
    movements.deposit_confirmed(
        **options, deposit_id=uuid.uuid4(), amount_atomic=amount, is_simulated=False
    )
    return options["payment_id"]


def every(account: int, limit: int, wanted: LineFilter = EVERYTHING) -> list[StatementLine]:
    """All pages, one after the other."""
    found: list[StatementLine] = []
    before: str | None = None
    for _ in range(100):
        one = page(account, before=before, filters=wanted, limit=limit)
        found += one.lines
        before = one.older
        if before is None:
            return found
    raise AssertionError("the pages never end")


@pytest.mark.parametrize("limit", [1, 2, 7, 24, 25, 26, 100])
def test_pages_of_any_size_tell_the_same(account: int, limit: int) -> None:
    whole = page(account, limit=1000).lines
    assert len(whole) == 25
    assert (
        whole[0].balance_atomic == balance_of(account)
        and whole[-1].balance_atomic == whole[-1].amount_atomic
    )
    assert all(
        later.balance_atomic - later.amount_atomic == before.balance_atomic
        for later, before in pairwise(whole)
    )
    assert [line.entry_id for line in every(account, limit)] == [line.entry_id for line in whole]
    assert [line.balance_atomic for line in every(account, limit)] == [
        line.balance_atomic for line in whole
    ]


@pytest.mark.parametrize("scan", [3, 10, statements.SCAN_MAX])
@pytest.mark.parametrize(
    "wanted",
    [
        LineFilter(kind="payment_settled"),
        LineFilter(kind="nothing"),
        LineFilter(since=AT + 3 * DAY),
        LineFilter(until=AT + 3 * DAY),
        LineFilter(until=AT),
        LineFilter(since=AT + 20 * DAY),
        LineFilter(kind="deposit_confirmed", since=AT + 2 * DAY, until=AT + 4 * DAY),
    ],
    ids=repr,
)
def test_what_is_left_out_changes_no_balance(
    account: int, wanted: LineFilter, scan: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(statements, "SCAN_MAX", scan)
    expected = [
        (line.entry_id, line.balance_atomic)
        for line in page(account, limit=1000).lines
        if (not wanted.kind or line.kind == wanted.kind)
        and (wanted.since is None or line.at >= wanted.since)
        and (wanted.until is None or line.at < wanted.until)
    ]
    for limit in (2, 1000):
        assert [
            (line.entry_id, line.balance_atomic) for line in every(account, limit, wanted)
        ] == expected


def test_an_account_without_entries_has_no_lines(db: None) -> None:
    empty = account_id(open_books().store.pk, "live", COIN, "available")
    assert page(empty) == page(empty, filters=LineFilter(until=AT)) == ([], None)


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "1",
        "1.",
        "1.x",
        "-1.2",
        f"{2**63}.1",
        "１.2",
        "1.2.",
        "1.2.x",
        "-1.2.3",
        "1.-2.3",
        f"{2**64}.1.1",
        f"1.{2**63}.1",
        "1.2.3.4",
        "１.2.3",
    ],
)
def test_a_cursor_that_no_page_gave_is_refused(account: int, cursor: str) -> None:
    with pytest.raises(ValueError):
        page(account, before=cursor)
