"""A German shop with French business customers and Dutch consumers bills a year on the test clock,
and its tax report equals a calculation that knows nothing of the shop's invoices."""

import calendar
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from apps.core import clock
from apps.reports.models import Report
from apps.stores.models import Store
from tests.billing import records as r
from tests.cast import Shop
from tests.reports.reading import every_row_of, made
from tests.stage import empty_buckets

BERLIN = ZoneInfo("Europe/Berlin")
FRENCH = "FR40303265045"
CENT = Decimal("0.01")
# Month, buyer's country, country of the tax, case, category, rate.
Key = tuple[str, str, str, str, str, str]


def rounded(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


def with_tax(net: str, percent: str, rate: str) -> tuple[Decimal, Decimal]:
    """Base and tax of a price without tax, less a percentage."""
    price = Decimal(net)
    base = price - rounded(price * Decimal(percent) / 100)
    return base, rounded(base * Decimal(rate) / 100)


def out_of(gross: str, rate: str) -> tuple[Decimal, Decimal]:
    """Base and tax of a price that holds its tax."""
    price = Decimal(gross)
    tax = rounded(price * Decimal(rate) / (100 + Decimal(rate)))
    return price - tax, tax


@dataclass
class Return:
    """The independent calculation: sums by key, and how many documents."""

    base: Counter[Key] = field(default_factory=Counter)
    tax: Counter[Key] = field(default_factory=Counter)
    invoices: Counter[Key] = field(default_factory=Counter)
    credit_notes: Counter[Key] = field(default_factory=Counter)

    def add(
        self, day: date, group: tuple[str, str, str, str, str], part: tuple[Decimal, Decimal]
    ) -> None:
        key = (f"{day:%Y-%m}", *group)
        self.base[key] += part[0]  # type: ignore[assignment]  # a Counter of Decimal
        self.tax[key] += part[1]  # type: ignore[assignment]
        self.invoices[key] += 1

    def take_back(
        self, day: date, group: tuple[str, str, str, str, str], part: tuple[Decimal, Decimal]
    ) -> None:
        key = (f"{day:%Y-%m}", *group)
        self.base[key] -= part[0]  # type: ignore[assignment]
        self.tax[key] -= part[1]  # type: ignore[assignment]
        self.credit_notes[key] += 1

    def rows(self) -> set[tuple[Any, ...]]:
        return {
            (*key, self.invoices[key], self.credit_notes[key], base, self.tax[key])
            for key, base in self.base.items()
        }

    def by_rate(self) -> dict[tuple[str, str, str], list[Decimal]]:
        """Documents, base and tax of the year by country of the tax, category and rate."""
        sums: dict[tuple[str, str, str], list[Decimal]] = {}
        for key, base in self.base.items():
            _, _, tax_country, _, category, rate = key
            count = Decimal(self.invoices[key] + self.credit_notes[key])
            row = sums.setdefault((tax_country, category, rate), [Decimal()] * 3)
            row[:] = [a + b for a, b in zip(row, (count, base, self.tax[key]), strict=True)]
        return sums


REVERSE = ("FR", "", "reverse_charge", "AE", "0")
DUTCH = ("NL", "NL", "eu_consumer", "S", "21")
FINNISH = ("FI", "FI", "eu_consumer", "S", "25.5")
HOME = ("DE", "DE", "domestic", "S", "19")
REDUCED = ("DE", "DE", "", "S", "7")
HOME_NAMED = ("DE", "DE", "", "S", "19")


def last_days(first: date, months: int) -> Iterator[date]:
    """The 31st of each month, or the last day that it has."""
    for n in range(months):
        year, month = divmod(first.year * 12 + first.month - 1 + n, 12)
        last = calendar.monthrange(year, month + 1)[1]
        yield date(year, month + 1, min(first.day, last))


class ShopYear:
    """The shop, its clock, and what is known of a record from the moment it was made."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.api = shop.test
        Store.objects.filter(pk=shop.store.pk).update(country="DE", time_zone="Europe/Berlin")
        shop.store.refresh_from_db()
        self.expected = Return()
        self.wrong: dict[str, Any] = {}

    def go_to(self, moment: datetime) -> None:
        empty_buckets()
        to = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
        r.ok(self.api.post("/test_clock/advance", {"to": to}))
        self.shop.store.refresh_from_db()

    def rate(self, name: str, bps: int, *, inclusive: bool = False) -> str:
        sent = {"name": name, "category": "S", "rate_bps": bps, "inclusive": inclusive}
        id: str = r.ok(self.api.post("/billing/tax_rates", {"tax_rate": sent}), 201)["id"]
        return id

    def subscribe(self, owner: dict[str, Any], cents: int, **fields: Any) -> dict[str, Any]:
        terms = {"unit_amount_cents": cents, "tax_rate_id": fields.pop("tax_rate_id", None)}
        price = r.price(self.api, **terms)
        more = {"grace_cycles": 100, **fields}
        return r.subscribe(self.api, customer_id=owner["id"], price_id=price["id"], **more)

    def bill(self, owner: dict[str, Any], *lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
        return r.opened(self.api, customer_id=owner["id"], line_items=list(lines), **fields)

    def open(self) -> None:
        """Its rates, its settings and its customers."""
        self.full, self.reduced = self.rate("VAT 19%", 1900), self.rate("VAT 7%", 700)
        self.held = self.rate("VAT 19% included", 1900, inclusive=True)
        settings = {
            "is_automatic": True,
            "tax_rate_id": self.full,
            "charges_abroad": True,
            "supply_type": "digital",
        }
        r.ok(self.api.patch("/billing/tax_settings", {"tax_settings": settings}))
        self.firm, self.other = (
            r.customer(self.api, country="FR", vat_number=FRENCH) for _ in range(2)
        )
        self.dutch = [r.customer(self.api, country="NL") for _ in range(2)]
        self.german = r.customer(self.api, country="DE")
        self.finn = r.customer(self.api, country="FI")

    def begin_cycles(self, days: Sequence[date]) -> None:
        """Each month on the 31st: reverse charge with a discount, Dutch prices with and without
        their tax, a German one."""
        self.days = days
        discounted = {"discount_type": "percent", "discount_value": 10}
        self.subscribe(self.firm, 3333, quantity=3, **discounted)
        self.paid = self.subscribe(self.dutch[0], 999, tax_rate_id=self.held)
        self.subscribe(self.dutch[1], 1005, discount_type="percent", discount_value=50)
        self.subscribe(self.german, 495)
        for day in days:
            self.expected.add(day, REVERSE, with_tax("99.99", "10", "0"))
            self.expected.add(day, DUTCH, out_of("9.99", "21"))
            self.expected.add(day, DUTCH, with_tax("10.05", "50", "21"))
            self.expected.add(day, HOME, with_tax("4.95", "0", "19"))

    def turn(self) -> None:
        """Half past eleven of December 31 in UTC: January in the shop."""
        new_year = date(self.days[0].year + 1, 1, 1)
        self.bill(self.finn, r.line(1999))
        self.expected.add(new_year, FINNISH, with_tax("19.99", "0", "25.5"))
        self.bill(
            self.german,
            r.line(1005) | {"tax_rate_id": self.full},
            r.line(333) | {"tax_rate_id": self.reduced},
            discount_type="amount",
            discount_value=100,
        )
        # 100 parts as 1005 to 333: 75.11 and 24.89.
        self.expected.add(new_year, HOME_NAMED, with_tax("9.30", "0", "19"))
        self.expected.add(new_year, REDUCED, with_tax("3.08", "0", "7"))

    def credit(self) -> None:
        """Five of the 9.99 that a Dutch consumer paid."""
        invoice = r.invoices_of(self.api, self.paid["id"])[0]
        assert r.pay(self.api, invoice)["status"] == "paid"
        path = f"/billing/invoices/{invoice['id']}/credit_notes"
        r.ok(self.api.post(path, {"credit_note": {"amount_cents": 500}}), 201)
        self.expected.take_back(self.days[3] + timedelta(days=2), DUTCH, out_of("5.00", "21"))

    def bill_wrongly(self) -> None:
        self.wrong = self.bill(self.other, r.line(123456))
        part = with_tax("1234.56", "0", "0")
        self.expected.add(self.days[5] + timedelta(days=2), REVERSE, part)

    def void(self) -> None:
        """In a later month, and credited besides: it is taken back once."""
        r.ok(r.act(self.api, self.wrong["id"], "void"))
        noted = r.ok(self.api.get(f"/billing/credit_notes?invoice_id={self.wrong['id']}"))
        if not noted["data"]:
            path = f"/billing/invoices/{self.wrong['id']}/credit_notes"
            r.ok(self.api.post(path, {"credit_note": {"reason": "void"}}), 201)
        part = with_tax("1234.56", "0", "0")
        self.expected.take_back(self.days[7] + timedelta(days=1), REVERSE, part)

    def live(self) -> None:
        """Through all of these in the order of their days."""
        new_year = date(self.days[0].year + 1, 1, 1)
        acts = [
            (at(new_year, 0, 30), self.turn),
            (at(self.days[3] + timedelta(days=2)), self.credit),
            (at(self.days[5] + timedelta(days=2)), self.bill_wrongly),
            (at(self.days[7] + timedelta(days=1)), self.void),
        ]
        moments: list[tuple[datetime, Callable[[], None] | None]] = [*acts]
        moments += [(at(day), None) for day in self.days[1:]]
        for moment, act in sorted(moments, key=lambda item: item[0]):
            self.go_to(moment)
            if act is not None:
                act()


def at(day: date, hour: int = 1, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=BERLIN)


def begin(shop: Shop) -> tuple[ShopYear, date]:
    """On the next 31st at half past midnight in Berlin, which is the 30th in UTC."""
    year = ShopYear(shop)
    day = clock.now(shop.store, "test").astimezone(BERLIN).date() + timedelta(days=1)
    while day.day != 31:
        day += timedelta(days=1)
    year.go_to(at(day, 0, 30))
    return year, day


def told_of(rows: list[dict[str, str]]) -> set[tuple[Any, ...]]:
    """The sums of a report's rows."""
    names = ("month", "country", "tax_country", "case", "category", "rate")
    return {
        (
            *(row[name] for name in names),
            int(row["invoices"]),
            int(row["credit_notes"]),
            Decimal(row["base"]),
            Decimal(row["tax"]),
        )
        for row in rows
        if row["section"] == "tax"
    }


def rates_of(statement: list[dict[str, str]]) -> dict[tuple[str, str, str], list[Decimal]]:
    """Documents, base and tax of a merchant statement by country of the tax, category and rate."""
    return {
        (row["tax_country"], row["kind"], row["tax_rate"]): [
            Decimal(row[name]) for name in ("count", "base", "tax")
        ]
        for row in statement
        if row["section"] == "invoice_tax"
    }


@pytest.mark.django_db
def test_a_years_tax_report_equals_an_independent_calculation(bakery: Shop) -> None:
    year, first = begin(bakery)
    year.open()
    year.begin_cycles(list(last_days(first, 12)))
    year.live()
    last = first.replace(year=first.year + 1) - timedelta(days=1)
    year.go_to(at(last + timedelta(days=2), 13))
    rows = every_row_of(made(bakery.access(), first, last, Report.Type.TAX_REPORT))
    assert told_of(rows) == year.expected.rows()
    assert {row["currency"] for row in rows} == {"EUR"}
    statement = every_row_of(made(bakery.access(), first, last, Report.Type.MERCHANT_STATEMENT))
    assert rates_of(statement) == year.expected.by_rate()
    listed = {
        (row["month"], row["vat_number"], row["category"]): Decimal(row["base"])
        for row in rows
        if row["section"] == "recapitulative_statement"
    }
    free = {key[0]: base for key, base in year.expected.base.items() if key[4] == "AE"}
    assert listed == {(month, FRENCH, "AE"): base for month, base in free.items()}
    report = {"kind": Report.Type.TAX_REPORT, "format": "pdf"}
    assert made(bakery.access(), first, last, **report).startswith(b"%PDF-")
