"""Marks change nothing that a statement tells: pages before any place have the same balances
without them, with some of them and with all."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Count

from apps.core.models import RowTurn
from apps.ledger import balance_marks, statements
from apps.ledger.models import Account, BalanceMark, Entry
from apps.ledger.statements import LineFilter, StatementPage
from apps.ledger.tasks import mark_balances
from tests.auditing import found_of
from tests.ledger.books import AT, Books
from tests.reports.test_bookings import DAYS, story

LONG = 30


@pytest.fixture
def sold(committed: Books, monkeypatch: pytest.MonkeyPatch) -> Iterator[Books]:
    """Sales of some days, each third entry of which gets a mark."""
    monkeypatch.setattr(balance_marks, "ENTRIES_PER_MARK", 3)
    monkeypatch.setattr("apps.ledger.balance_marks.mark_balances.__defaults__", (LONG,))
    story(committed, 1)
    yield committed
    RowTurn.objects.filter(job=balance_marks.TAILS.mark.name).delete()
    BalanceMark.objects.all().delete()


def accounts_of(books: Books) -> list[int]:
    rows = Account.objects.filter(store=books.store).order_by("pk")
    return list(rows.values_list("pk", flat=True))


def told(books: Books) -> list[StatementPage]:
    ids = accounts_of(books)
    until = [LineFilter(until=AT + timedelta(days=day)) for day in range(DAYS)]
    places = Entry.objects.filter(account__in=ids).order_by("pk").values_list("pk", flat=True)[::5]
    return [
        *(statements.page(id, filters=wanted) for id in ids for wanted in until),
        *(statements.merged(ids, filters=wanted) for wanted in until),
        *(statements.merged(ids, before=str(place), limit=4) for place in places),
    ]


def check(books: Books, change: Callable[[], object]) -> None:
    before = told(books)
    change()
    assert told(books) == before
    assert found_of("balance_marks_true") == []


def mark_all(books: Books) -> None:
    for account_id in accounts_of(books):
        with transaction.atomic():
            balance_marks.mark_account(account_id)


def test_a_statement_tells_the_same_at_every_stage(
    sold: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balance_marks, "ENTRIES_AT_ONCE", 9)
    check(sold, lambda: mark_all(sold))
    some = BalanceMark.objects.count()
    monkeypatch.setattr(balance_marks, "ENTRIES_AT_ONCE", 50_000)
    check(sold, lambda: mark_all(sold))
    assert BalanceMark.objects.count() > some > 0
    story(sold, 2)
    check(sold, lambda: mark_all(sold))
    each = {
        account_id: Entry.objects.filter(account=account_id).count() // 3
        for account_id in accounts_of(sold)
    }
    assert each == {
        account_id: BalanceMark.objects.filter(account=account_id).count() for account_id in each
    }


def test_the_job_marks_long_accounts_only_and_once(sold: Books) -> None:
    check(sold, mark_balances)
    marked = set(BalanceMark.objects.values_list("pk", flat=True))
    mark_balances()

    assert marked == set(BalanceMark.objects.values_list("pk", flat=True))
    rows = Account.objects.filter(store__in=[sold.store, sold.platform])
    lengths = dict(rows.values_list("pk").annotate(Count("entries")))
    long = {account_id for account_id, length in lengths.items() if length > LONG}
    assert {mark.account_id for mark in BalanceMark.objects.all()} & set(lengths) == long != set()
    assert long != set(lengths)


def test_what_another_transaction_may_still_write_before_is_not_marked(sold: Books) -> None:
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT pg_current_xact_id()")
        mark_all(sold)
        waiting = BalanceMark.objects.count()
        cursor.execute("COMMIT")
    other.close()
    mark_all(sold)

    assert BalanceMark.objects.count() > waiting == 0


def test_a_balance_far_back_is_told_by_the_entries_since_a_mark(sold: Books) -> None:
    (account_id, *_) = Entry.objects.filter(account__store=sold.store).values_list(
        "account_id", flat=True
    )
    mark_all(sold)
    mark = BalanceMark.objects.filter(account=account_id).order_by("entry_id")[2]
    balance = f"SELECT {balance_marks.BALANCE_BEFORE.format(account='%(account)s')}"
    later = Entry.objects.filter(account=account_id, pk__gt=mark.entry_id).order_by("pk")
    values = {"account": account_id, "id": later[1].pk}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {balance}", values)
        ((plans,),) = cursor.fetchall()
        cursor.execute(balance, values)

        assert cursor.fetchone() == (mark.balance_atomic + later[0].amount_atomic,)
    assert entries_read(plans[0]["Plan"]) == 1


def entries_read(node: Any) -> int:
    rows = node["Actual Rows"] * node["Actual Loops"]
    own = int(rows) if node.get("Relation Name") == "ledger_entry" else 0
    return own + sum(entries_read(part) for part in node.get("Plans", ()))
