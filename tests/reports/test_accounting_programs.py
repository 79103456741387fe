"""Exports are read by the programs that they are made for, without a hand, and come to what the
ledger says: in coins to the last unit, in money to the cent."""

import csv
import io
import re
import uuid
from collections import defaultdict
from contextlib import suppress
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from apps.assets.models import DailyRate
from apps.ledger import movements
from apps.ledger.selectors import store_accounts
from apps.ledger.statements import LineFilter
from apps.reports.account_codes import CHARTS, set_codes
from apps.reports.bookings import sums_of
from apps.reports.documents.datev_file import COLUMNS
from apps.reports.documents.journal_file import account_name
from apps.reports.documents.statement_lines import RateMissing
from apps.reports.models import Report
from apps.reports.services.generate import generate_due
from apps.reports.services.request import InvalidRange
from tests.ledger.books import AT, NATIVE, Books, open_books
from tests.reports.bank_csv import ImportRefused, read_quickbooks, read_xero
from tests.reports.programs import balances_by, bean_check, is_there, read_by, run
from tests.reports.reading import STATEMENT, access_to, asked, every_row_of, made
from tests.reports.test_bookings import rate, story

FIRST, LAST = date(2026, 11, 5), date(2026, 11, 20)
DAYS = (FIRST, LAST)
DECIMALS = {"ETH_USDC": 6, "ETH": 18}
JOURNALS = ("beancount", "hledger", "ledger")
needs = {
    name: pytest.mark.skipif(
        not is_there(name), reason=f"no {name}: `manage.py test` without arguments brings it"
    )
    for name in JOURNALS
}
each_journal = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs[name]) for name in JOURNALS]
)


@pytest.fixture
def books(db: None) -> Books:
    """Payments with fees, refunds of what was earned and of what was held, payouts with and without
    a network fee, a swap, a correction, and what came to an own wallet; before and within."""
    books = open_books()
    for day, amount in ((-40, "0.9"), (4, "0.9345"), (9, "0.912345")):
        rate(day, amount)
    at = AT + timedelta(days=8)
    DailyRate.objects.create(
        asset_id=NATIVE,
        currency="EUR",
        day=(AT - timedelta(days=40)).date(),
        rate=Decimal("2345.678901"),
        source="kraken",
        as_of=AT,
    )
    story(books, 5)
    of_day = {**books.of_store, "at": at}
    held = uuid.uuid4()
    refund = {"payment_id": held, "refund_id": uuid.uuid4(), "amount_atomic": 400_001}
    movements.deposit_confirmed(
        **of_day,
        deposit_id=uuid.uuid4(),
        payment_id=held,
        amount_atomic=1_000_001,
        is_simulated=False,
    )
    movements.refund_created(**of_day, **refund, is_from_held=True)
    movements.refund_confirmed(
        **of_day, **refund, gas_asset_id=NATIVE, gas_atomic=10**13, is_simulated=False
    )
    payout = {"payout_id": uuid.uuid4(), "amount_atomic": 500_003}
    movements.payout_created(**of_day, **payout)
    movements.payout_confirmed(
        [
            {
                **of_day,
                **payout,
                "withheld_atomic": 1_703,
                "gas_asset_id": NATIVE,
                "gas_atomic": 10**13,
                "is_simulated": False,
            }
        ]
    )
    swap = uuid.uuid4()
    occasion = {"mode": books.mode, "at": at}
    movements.swap_created(
        store_id=books.store.pk, asset_id="ETH_USDC", swap_id=swap, sell_atomic=77_777, **occasion
    )
    movements.swap_completed(
        store_id=books.store.pk,
        swap_id=swap,
        source_asset_id="ETH_USDC",
        sell_atomic=77_777,
        buy_asset_id=NATIVE,
        buy_atomic=33_333_333_333_333,
        **occasion,
    )
    return books


def kept(books: Books, tmp_path: Path, form: str, kind: str = "", **more: str) -> Path:
    """The file of a report in a format."""
    path = tmp_path / f"{uuid.uuid4()}.{form}"
    of_type = {"kind": kind} if kind else {}
    path.write_bytes(made(access_to(books), *DAYS, format=form, **of_type, **more))
    return path


def on_the_dashboard(books: Books) -> dict[tuple[str, str], Fraction]:
    """Balances of the store, under the names that they have in a journal."""
    return {
        (account_name(one.kind, "Tillgate"), one.asset_id): Fraction(
            one.balance_atomic, 10**one.atomic_decimals
        )
        for one in store_accounts(books.store.pk, books.mode)
        if one.balance_atomic
    }


def read(name: str, path: Path) -> dict[tuple[str, str], Fraction]:
    if name != "beancount":
        return balances_by(name, path)
    found = read_by(name, path)
    assert found["errors"] == [] and found["currencies"] == ["EUR"] and found["asserted"]
    return {(account, coin): Fraction(number) for account, coin, number in found["balances"]}


@each_journal
def test_a_journal_shows_the_balances_of_the_dashboard(
    books: Books, tmp_path: Path, name: str
) -> None:
    found = read(name, kept(books, tmp_path, name))
    own = {key: amount for key, amount in found.items() if key[0].startswith("Assets:") and amount}
    assert own == on_the_dashboard(books) and len(own) > 4
    for coin in DECIMALS:
        assert sum(amount for (_, one), amount in found.items() if one == coin) == 0
    not_earned = sum(
        amount
        for (account, coin), amount in own.items()
        if coin == "ETH_USDC" and account.endswith(("Held", "Own-Pending"))
    )
    assert found["Liabilities:Tillgate:Deposits", "ETH_USDC"] == -not_earned
    assert found["Expenses:Tillgate:Network-Fees", "ETH_USDC"] == Fraction(1_703, 10**6)


@each_journal
def test_a_journal_that_lacks_a_unit_is_refused_by_its_program(
    books: Books, tmp_path: Path, name: str
) -> None:
    """Both a movement that doesn't balance and a balance that isn't what the ledger says."""
    path = kept(books, tmp_path, name)
    text = path.read_text()
    coin = "ETH_USDC" if name == "beancount" else '"ETH_USDC"'
    account = "Expenses:Tillgate:Fees"
    (amount, *_) = re.findall(rf"{account}  ([0-9.]+) {coin}", text)
    more = f"{account}  {Decimal(amount) + Decimal('0.000001')} {coin}"
    broken = {"movement": text.replace(f"{account}  {amount} {coin}", more, 1)}
    last = r"( = |balance \S+Available )([0-9.]+)(?= (?:~ 0 )?\"?ETH_USDC)"
    broken["assertion"] = re.sub(
        last, lambda one: f"{one[1]}{Decimal(one[2]) + Decimal('0.000001')}", text
    )
    for what, wrong in broken.items():
        assert wrong != text, what
        path.write_text(wrong)
        if name == "beancount":
            assert bean_check(path), what
        else:
            assert run(name, "-f", str(path), "balance").returncode, what
    path.write_text(text)
    if name == "beancount":
        assert bean_check(path) == ""


def test_what_a_store_wrote_is_no_directive_of_a_journal(books: Books, tmp_path: Path) -> None:
    """Names with what programs read as dates, tags and further lines."""
    books.store.name = 'A "b" \\ ; c\n2026-01-01 open Assets:Evil'
    books.store.save(update_fields=["name"])
    for name in JOURNALS:
        path = kept(books, tmp_path, name)
        assert "Evil" in path.read_text()
        if is_there(name):
            found = read(name, path)
            assert not any("Evil" in account for account, _ in found)


def test_each_movement_sums_to_zero_with_its_fee_in_coins_and_in_money(books: Books) -> None:
    rows = every_row_of(made(access_to(books), *DAYS))
    sums: dict[tuple[str, str, str], Fraction] = defaultdict(Fraction)
    for row in rows:
        for column in ("amount", "value", "book_value"):
            sums[row["movement_id"], row["asset"], column] += Fraction(row[column])
    assert rows and not any(sums.values())
    assert {row["book_currency"] for row in rows} == {"EUR"}
    against = {row["account"] for row in rows if not row["entry_id"]}
    assert against >= {"deposits", "fees", "platform_fees", "network_fees", "payments", "refunds"}
    settled = [row for row in rows if row["kind"] == "payment_settled"]
    assert {row["role"] for row in settled} >= {"gross", "net", "service_fee", "platform_fee"}


def test_dates_are_the_stores_and_separators_are_chosen(books: Books) -> None:
    books.store.time_zone = "Pacific/Auckland"
    books.store.save(update_fields=["time_zone"])
    plain, semicolon, tab = (
        every_row_of(made(access_to(books), *DAYS, format=form), separator)
        for form, separator in (("csv", ","), ("csv_semicolon", ";"), ("csv_tab", "\t"))
    )
    assert plain == tab != semicolon
    assert all(row["date"] > row["at"][:10] for row in plain), "noon in UTC is tomorrow there"
    point = [{**row, "amount": row["amount"].replace(",", ".")} for row in semicolon]
    assert [row["amount"] for row in point] == [row["amount"] for row in plain]
    assert any("," in row["book_value"] for row in semicolon)
    assert not any(row["amount"].startswith("'") for row in semicolon)


def expected(books: Books, kind: str = "available") -> dict[str, tuple[int, int, int, int]]:
    """Of each coin: entries' units and cents within the days, and the cents before and after, as
    the dashboard's statement adds them up."""
    found = {}
    start = AT.replace(year=FIRST.year, month=FIRST.month, day=FIRST.day, hour=0)
    end = AT.replace(year=LAST.year, month=LAST.month, day=LAST.day, hour=0) + timedelta(days=1)
    of_store = (books.store.pk, books.mode, books.store.settlement_currency, kind)
    before = {one.asset_id: one.book_cents for one in sums_of(*of_store, LineFilter(until=start))}
    for one in sums_of(*of_store, LineFilter(since=start, until=end)):
        opening = before.get(one.asset_id, 0)
        found[one.asset_id] = (
            one.net_atomic,
            one.book_cents,
            opening,
            opening + one.book_cents,
        )
    return found


def coins_in(text: str) -> tuple[str, int]:
    """The coins that a line tells, in units."""
    found = re.search(r": (-?[0-9.]+) (\w+)", text)
    assert found, text
    return found[2], int(Decimal(found[1]) * 10 ** DECIMALS[found[2]])


def cents_of(text: str) -> int:
    return int(Decimal(text) * 100)


@needs["beancount"]
def test_ofx_is_read_to_the_cent_and_the_unit(books: Books, tmp_path: Path) -> None:
    found = read_by("ofx", kept(books, tmp_path, "ofx", STATEMENT))
    assert {one["account"] for one in found} == set(expected(books))
    ids: list[str] = []
    for one in found:
        units, cents, _, closing = expected(books)[one["account"]]
        assert one["currency"] == "EUR" and cents_of(one["closing"]) == closing
        assert sum(cents_of(line["amount"]) for line in one["lines"]) == cents
        assert sum(coins_in(line["memo"])[1] for line in one["lines"]) == units
        assert all(str(FIRST) <= line["day"] <= str(LAST) for line in one["lines"])
        ids += [line["id"] for line in one["lines"]]
    assert len(ids) == len(set(ids)) and any(one.endswith("-service") for one in ids)
    again = read_by("ofx", kept(books, tmp_path, "ofx", STATEMENT, time_zone="UTC"))
    assert ids == [line["id"] for one in again for line in one["lines"]]


@needs["beancount"]
def test_camt_053_is_valid_and_read_by_two_readers(books: Books, tmp_path: Path) -> None:
    found = read_by("camt", kept(books, tmp_path, "camt053", STATEMENT))
    assert found["is_valid"], found["complaints"]
    signs = {"CRDT": 1, "DBIT": -1}
    total = 0
    for one in found["statements"]:
        coin = one["account"]["other_id"].partition("-")[2]
        units, cents, opening, closing = expected(books)[coin]
        balances = {
            row["type_code"]: signs[row["credit_debit_indicator"]] * cents_of(row["amount"])
            for row in one["balances"]
        }
        assert balances == {"OPBD": opening, "CLBD": closing}
        amounts = [
            signs[row["credit_debit_indicator"]] * cents_of(row["amount"]) for row in one["entries"]
        ]
        assert sum(amounts) == cents and len({row["reference"] for row in one["entries"]}) == len(
            amounts
        )
        total += cents
    assert {one["account"]["other_id"].partition("-")[2] for one in found["statements"]} == set(
        expected(books)
    )
    assert sum(signs[row["sign"]] * cents_of(row["amount"]) for row in found["other"]) == total
    told: dict[str, int] = defaultdict(int)
    for row in found["other"]:
        coin, units = coins_in(row["text"].partition("RemittanceInformation")[2])
        told[coin] += units
    assert dict(told) == {coin: row[0] for coin, row in expected(books).items()}


@needs["hledger"]
@pytest.mark.parametrize(
    ("form", "fields"),
    [
        ("xero", "date, amount, payee, description, reference, code, account"),
        ("quickbooks", "date, description, amount"),
    ],
)
def test_a_bank_csv_is_imported_as_any_banks_is(
    books: Books, tmp_path: Path, form: str, fields: str
) -> None:
    """hledger reads it by naming the columns; Xero and QuickBooks themselves can't be run here."""
    path = kept(books, tmp_path, form, STATEMENT)
    rows = every_row_of(path.read_bytes())
    rules = path.with_suffix(".rules")
    named = fields.replace(", account", ", accountcode")
    rules.write_text(
        f"skip 1\nfields {named}\ndate-format %d/%m/%Y\ncurrency EUR\naccount1 Assets:Bank\n"
    )
    balance = ("balance", "Assets:Bank", "-N", "-O", "csv")
    finished = run("hledger", "-f", f"csv:{path}", "--rules-file", str(rules), *balance)
    assert not finished.returncode, finished.stderr
    amount = re.search(r"EUR(-?[0-9.,]+)", finished.stdout)
    assert amount, finished.stdout
    cents = sum(row[1] for row in expected(books).values())
    assert cents_of(amount[1].replace(",", "")) == cents
    told: dict[str, int] = defaultdict(int)
    for row in rows:
        coin, units = coins_in(row["Description"])
        told[coin] += units
        assert FIRST <= date(*(int(part) for part in reversed(row["Date"].split("/")))) <= LAST
    assert dict(told) == {coin: one[0] for coin, one in expected(books).items()}
    lines = [tuple(row.values()) for row in rows]
    assert len(set(lines)) == len(lines), "ids keep equal lines apart"


READERS = {"xero": read_xero, "quickbooks": read_quickbooks}


@pytest.mark.parametrize("form", list(READERS))
@pytest.mark.parametrize(("currency", "dates"), [("EUR", "%d/%m/%Y"), ("USD", "%m/%d/%Y")])
def test_a_bank_csv_keeps_to_what_both_programs_publish(
    books: Books, tmp_path: Path, form: str, currency: str, dates: str
) -> None:
    """By readers of our own: no package reads these files."""
    if currency == "USD":
        for day in (-40, 4, 9):
            for coin, amount in (("ETH_USDC", "1.01"), (NATIVE, "2500")):
                DailyRate.objects.create(
                    asset_id=coin,
                    currency="USD",
                    day=(AT + timedelta(days=day)).date(),
                    rate=Decimal(amount),
                    source="kraken",
                    as_of=AT,
                )
        books.store.settlement_currency = "USD"
        books.store.save(update_fields=["settlement_currency"])
    content = kept(books, tmp_path, form, STATEMENT).read_bytes()
    lines = READERS[form](content, dates)
    assert sum(line.amount for line in lines) * 100 == sum(
        row[1] for row in expected(books).values()
    )
    assert all(str(FIRST) <= line.day <= str(LAST) for line in lines)
    head, first, *_ = content.decode().splitlines(keepends=True)
    amount = next(cell for cell in first.strip().split(",") if re.fullmatch(r"-?\d+\.\d\d", cell))
    broken = {
        "a mark": "\ufeff" + head + first,
        "another column": head.replace("Amount", "Amount (EUR)") + first,
        "a zero": head + first.replace(amount, "0.00"),
        "a sign": head + first.replace(amount, f"€{amount}"),
        "a decimal comma": head + first.replace(amount, amount.replace(".", ",")),
        "another date": head + re.sub(r"[0-9/]{10}", "2026-11-05", first, count=1),
        "too many": head + first * 1_001,
    }
    taken = []
    for what, text in broken.items():
        with suppress(ImportRefused, csv.Error):
            READERS[form](text.encode(), dates)
            taken.append(what)
    assert not taken


def datev(books: Books, tmp_path: Path) -> tuple[list[str], list[dict[str, str]]]:
    content = kept(books, tmp_path, "datev").read_bytes().decode("cp1252")
    lines = list(csv.reader(io.StringIO(content, newline=""), delimiter=";"))
    assert lines[1] == COLUMNS and len(COLUMNS) == 125
    return lines[0], [dict(zip(COLUMNS, line, strict=True)) for line in lines[2:]]


def test_datev_has_every_posting_against_the_account_of_the_coins(
    books: Books, tmp_path: Path
) -> None:
    """As the published description of EXTF 700 has it; the program itself can't be run here."""
    set_codes(access_to(books), CHARTS["skr03"])
    head, rows = datev(books, tmp_path)
    assert (len(head), head[:5]) == (31, ["EXTF", "700", "21", "Buchungsstapel", "13"])
    assert head[10:16] == ["1001", "1", "20260101", "4", "20261105", "20261120"]
    coins: dict[str, int] = defaultdict(int)
    cents = 0
    for row in rows:
        assert re.fullmatch(r"[0-9]{1,10},[0-9]{2}", row["Umsatz (ohne Soll/Haben-Kz)"])
        amount = cents_of(row["Umsatz (ohne Soll/Haben-Kz)"].replace(",", "."))
        cents += amount if row["Soll/Haben-Kennzeichen"] == "H" else -amount
        assert amount and row["Gegenkonto (ohne BU-Schlüssel)"] == "1500"
        assert re.fullmatch(r"[0-9]{4}", row["Konto"]) and len(row["Buchungstext"]) <= 60
        assert re.fullmatch(r"[A-Za-z0-9$%&*+\-/]{1,36}", row["Belegfeld 1"])
        assert f"{FIRST:%m%d}" <= row["Belegdatum"][2:] + row["Belegdatum"][:2] <= f"{LAST:%m%d}"
        detail = row["Zusatzinformation- Inhalt 1"].split()
        coins[detail[1]] += int(Decimal(detail[0]) * 10 ** DECIMALS[detail[1]])
    ids = [row["Buchungs GUID"] for row in rows]
    assert len(ids) == len(set(ids)) == len(rows)
    assert ids == [row["Buchungs GUID"] for row in datev(books, tmp_path)[1]]
    kinds = {one.kind for one in store_accounts(books.store.pk, books.mode)}
    every = [expected(books, kind) for kind in kinds]
    assert cents == sum(row[1] for one in every for row in one.values())
    for row in every_row_of(made(access_to(books), *DAYS)):
        if not row["entry_id"] and row["book_value"] in ("0.00", "-0.00"):
            # Less than half a cent can't be booked.
            coin = row["asset"]
            coins[coin] += int(Decimal(row["amount"]) * 10 ** DECIMALS[coin])
    assert {coin: -units for coin, units in coins.items()} == {
        coin: sum(one[coin][0] for one in every if coin in one) for coin in DECIMALS
    }


@needs["beancount"]
def test_datev_is_read_by_a_foreign_reader_to_the_cent(books: Books, tmp_path: Path) -> None:
    """One that was written against DATEV's own sample books, and refuses what isn't EXTF 700."""
    set_codes(access_to(books), CHARTS["skr03"])
    found = read_by("datev", kept(books, tmp_path, "datev"))
    assert found["days"] == [str(FIRST), str(LAST)]
    kinds = {one.kind for one in store_accounts(books.store.pk, books.mode)}
    every = [expected(books, kind) for kind in kinds]
    of_coins = [leg for leg in found["legs"] if leg["Konto"] == "1500"]
    assert sum(cents_of(leg["Betrag"]) for leg in of_coins) == sum(
        row[1] for one in every for row in one.values()
    )
    assert sum(cents_of(leg["Betrag"]) for leg in found["legs"]) == 0
    assert len(found["legs"]) == 2 * len(of_coins) == 2 * len(datev(books, tmp_path)[1])
    assert all(str(FIRST) <= leg["Buchungsdatum"] <= str(LAST) for leg in found["legs"])


def test_datev_says_what_it_lacks(books: Books) -> None:
    def refusal(**more: Any) -> str:
        with pytest.raises(InvalidRange) as refused:
            asked(access_to(books), *more.pop("days", DAYS), format="datev", **more)
        return str(refused.value)

    assert "account codes" in refusal()
    set_codes(access_to(books), CHARTS["skr03"])
    assert "one calendar year" in refusal(days=("2025-12-31", "2026-01-01"))
    assert refusal(kind=STATEMENT).startswith("format must be one of pdf")


def test_what_has_no_rate_is_refused_in_money_and_written_in_coins(books: Books) -> None:
    books.store.settlement_currency = "CHF"  # in which nobody has said what a coin is worth
    books.store.save(update_fields=["settlement_currency"])
    report = asked(access_to(books), *DAYS, STATEMENT, format="ofx")
    generate_due()
    report.refresh_from_db()
    assert (report.status, report.error) == (
        Report.Status.FAILED,
        RateMissing.message,
    )
    with pytest.raises(InvalidRange, match="no known rate"):
        asked(access_to(books), *DAYS, STATEMENT, format="ofx")
    rows = every_row_of(made(access_to(books), *DAYS))
    assert {(row["book_value"], row["book_currency"]) for row in rows} == {("", "CHF")}
