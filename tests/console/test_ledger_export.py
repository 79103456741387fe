"""The books that are exported add up again, to the atomic unit, to what the ledger says."""

import csv
import io
import json
import re
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from apps.ledger import movements
from tests.cast import person
from tests.ledger.books import AT, Books, open_books
from tests.reports.programs import bean_check, is_there

# The little of Beancount's grammar that the export uses.
_DAY = r"\d{4}-\d{2}-\d{2}"
_NAME = r"(?:Assets|Liabilities|Equity|Income|Expenses)(?::[A-Z0-9][A-Za-z0-9-]*)+"
_COIN = r"[A-Z][A-Z0-9._'-]{0,22}[A-Z0-9]"
_STRING = r'"(?:[^"\\]|\\.)*"'
_NUMBER = r"-?\d+(?:\.\d+)?"
GRAMMAR = {
    "option": re.compile(rf"option {_STRING} {_STRING}"),
    "open": re.compile(rf"({_DAY}) open ({_NAME})"),
    "transaction": re.compile(rf"({_DAY}) \* {_STRING}"),
    "metadata": re.compile(rf" +[a-z][a-zA-Z0-9_-]*: {_STRING}"),
    "posting": re.compile(rf"  ({_NAME})  ({_NUMBER}) ({_COIN})"),
    "balance": re.compile(rf"({_DAY}) balance ({_NAME}) ({_NUMBER}) ~ 0 ({_COIN})"),
}
Sums = dict[tuple[str, str], Fraction]


def lines(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every line, as what it is; a line that is nothing fails."""
    for line in filter(None, text.splitlines()):
        found = [
            (what, match.groups())
            for what, pattern in GRAMMAR.items()
            if (match := pattern.fullmatch(line))
        ]
        assert len(found) == 1, line
        yield found[0]


def checked(text: str) -> Sums:
    """Run the checks of bean-check: every transaction balances, accounts are open, and each
    assertion is what the movements say."""
    opened: set[str] = set()
    sums: Sums = defaultdict(Fraction)
    open_transaction: dict[str, Fraction] = defaultdict(Fraction)
    asserted = 0
    for what, parts in lines(text):
        if what in ("transaction", "balance"):
            assert not any(open_transaction.values())
            open_transaction.clear()
        if what == "open":
            opened.add(parts[1])
        elif what == "posting":
            name, amount, coin = parts
            assert name in opened
            sums[name, coin] += Fraction(amount)
            open_transaction[coin] += Fraction(amount)
        elif what == "balance":
            assert sums[parts[1], parts[3]] == Fraction(parts[2])
            asserted += 1
    assert asserted == len(sums)
    return sums


def exported(tmp_path: Path, *arguments: str) -> tuple[str, dict[str, Any]]:
    """The exported file, and the command's output."""
    path = tmp_path / f"{uuid.uuid4()}"
    told = io.StringIO()
    call_command("ledger", "export", "--json", "--output", str(path), *arguments, stdout=told)
    return path.read_bytes().decode(), json.loads(told.getvalue())


def in_the_ledger() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT mode, coalesce(store_id::text, ''), kind, asset_id, ledger_balance(id) FROM"
            " ledger_account"
        )
        return {
            f"{mode} {store} {kind} {coin}": int(amount)
            for mode, store, kind, coin, amount in cursor.fetchall()
            if amount
        }


@pytest.fixture
def books(db: None) -> Books:
    """Both modes, two stores, gas in another coin, a correction with a reason that is hard to
    quote."""
    books = open_books()
    payment = uuid.uuid4()
    books.deposit(9_000_001, payment)
    books.settle(payment, 9_000_001, 90_000, 45_000)
    refund = books.refund(payment, 1_000_000)
    books.confirm_refund(payment, refund, 1_000_000, gas=21_000 * 10**9)
    other = Books(books.platform, books.store, "live")
    other.earn(77)
    of_test = {"store_id": books.store.pk, "mode": "test", "asset_id": "SETH", "at": AT}
    of_payment = {**of_test, "payment_id": uuid.uuid4()}
    movements.deposit_confirmed(
        **of_payment, deposit_id=uuid.uuid4(), amount_atomic=10**30, is_simulated=True
    )
    movements.correction(
        key="one",
        mode="live",
        asset_id="ETH_USDC",
        kind="held",
        store_id=books.store.pk,
        payment_id=payment,
        amount_atomic=5,
        reason='He said: "a \\ b"\n=1+1',
        staff_id=person("bob").pk,
        at=AT + timedelta(days=3),
    )
    return books


def test_beancount_balances_and_asserts_what_the_ledger_says(books: Books, tmp_path: Path) -> None:
    text, told = exported(tmp_path)
    sums = checked(text)
    decimals = {"ETH_USDC": 6, "ETH": 18, "SETH": 18}
    assert told["sums_atomic"] == {"ETH": "0", "ETH_USDC": "0", "SETH": "0"}
    atomic = sorted(-amount * 10 ** decimals[coin] for (_, coin), amount in sums.items() if amount)
    assert atomic == sorted(in_the_ledger().values())
    for (name, coin), amount in sums.items():
        assert told["balances_atomic"][f"{name} {coin}"] == str(-amount * 10 ** decimals[coin])
    assert told["movements"] == text.count("\n  key: ") and told["entries"] == text.count(
        "    role: "
    )


@pytest.mark.skipif(
    not is_there("beancount"),
    reason="no Beancount: `manage.py test` without arguments brings it",
)
def test_the_real_bean_check_finds_one_unit_too_many(books: Books, tmp_path: Path) -> None:
    """In a movement, and in what an account is said to have."""
    text, _ = exported(tmp_path)
    path = tmp_path / "books.beancount"
    path.write_text(text)
    assert bean_check(path) == ""
    for what, pattern in (
        ("movement", r"(Available  -?)([0-9.]+)( ETH_USDC)"),
        ("assertion", r"(balance \S+Available -?)([0-9.]+)( ~ 0 ETH_USDC)"),
    ):
        path.write_text(re.sub(pattern, _unit_more, text, count=1))
        assert path.read_text() != text and bean_check(path), what


def _unit_more(found: "re.Match[str]") -> str:
    return f"{found[1]}{Decimal(found[2]) + Decimal('0.000001')}{found[3]}"


def test_csv_holds_every_entry_and_no_formula(books: Books, tmp_path: Path) -> None:
    text, told = exported(tmp_path, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    sums: dict[str, int] = defaultdict(int)
    for row in rows:
        sums[f"{row['mode']} {row['store']} {row['account']} {row['asset']}"] += int(
            row["amount_atomic"]
        )
    assert {name: amount for name, amount in sums.items() if amount} == in_the_ledger()
    assert (len(rows), len({row["movement_id"] for row in rows})) == (
        told["entries"],
        told["movements"],
    )
    assert next(row for row in rows if row["kind"] == "correction")["reason"].endswith("=1+1")


def test_one_store_and_mode_is_told_with_both_sides(books: Books, tmp_path: Path) -> None:
    text, told = exported(tmp_path, "--store", str(books.store.pk), "--mode", "live")
    sums = checked(text)
    assert not any("Test" in name for name, _ in sums)
    assert f"Liabilities:Live:Store-{books.store.pk}:Available ETH_USDC" in told["balances_atomic"]
    assert (
        told["balances_atomic"][f"Liabilities:Live:Store-{books.platform.pk}:Available ETH_USDC"]
        == "45000"
    )
    assert set(told["sums_atomic"].values()) == {"0"}


def test_a_range_begins_with_opening_balances_and_ends_as_the_whole_does(
    books: Books, tmp_path: Path
) -> None:
    whole, _ = exported(tmp_path)
    later, told = exported(tmp_path, "--from", str((AT + timedelta(days=1)).date()))
    assert "Opening balances" in later and told["movements"] == 1
    assert {key: amount for key, amount in checked(later).items() if amount} == {
        key: item for key, item in checked(whole).items() if item
    }
    earlier, told = exported(tmp_path, "--to", str(AT.date()))
    assert "correction" not in earlier and checked(earlier)


def test_empty_books_are_a_file_too(db: None, tmp_path: Path) -> None:
    text, told = exported(tmp_path, "--from", "2020-01-01", "--to", "2020-01-02")
    assert (checked(text), told["entries"]) == ({}, 0)


def test_without_a_file_the_books_and_nothing_else_go_to_standard_output(books: Books) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        call_command("ledger", "export")
    assert checked(printed.getvalue())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--json"], "give an --output file"),
        (["--from", "soon"], "--from must be a date"),
        (["--from", "2026-02-02", "--to", "2026-02-01"], "--to is before --from"),
        (["--store", str(uuid.uuid4())], "There is no store"),
        (["--output", "/nowhere/at/all"], "can't be written"),
    ],
)
def test_a_call_that_cannot_be_is_one_line_and_exit_1(
    db: None, arguments: list[str], sentence: str, capsys: Any
) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("ledger", "export", *arguments)
    told = capsys.readouterr().err
    assert (ended.value.code, told.count("\n")) == (1, 1) and sentence in told
