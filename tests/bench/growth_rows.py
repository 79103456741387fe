"""Rows of the growth benchmark, in groups: requests of the API, pages of the dashboard, of staff
and of customers, and everything that runs by itself. Each is something to run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client

from tests.dashboard.browse import Browser
from tests.growth import pages, reports
from tests.growth.seed import Town
from tests.growth.work import work

# A page of a store that has two of five payments, by what its readers ask for.
REQUESTS = {
    "GET /payments": "/payments",
    "GET /payments, page 100": "/payments?page=100",
    "GET /payments, completed": "/payments?status=completed",
    "GET /payments, processing": "/payments?status=processing",
    "GET /payments, one day": "/payments?created_at_gte={day}&created_at_lte={day_after}",
    "GET /payments, by a part of the reference": "/payments?reference=ZZQQ",
    "GET /payments, by half of a reference": "/payments?reference={half}",
    "GET /payments, by order": "/payments?order_id=A-1001",
    "GET /payments/{id}": "/payments/{payment}",
    "GET /payments/{id}/events": "/payments/{payment}/events",
    "GET /payments/summary": "/payments/summary",
    "GET /payments/summary, 366 days": "/payments/summary?{year}",
    "GET /balances": "/balances",
    "GET /payouts": "/payouts",
    "GET /billing/invoices": "/billing/invoices",
    "GET /billing/invoices, open": "/billing/invoices?status=open",
    "GET /billing/customers": "/billing/customers",
    "GET /webhook_endpoints": "/webhook_endpoints",
    "GET /events": "/events",
    "GET /request_log": "/request_log",
}
# Of what tests/growth/pages.py asks.
DASHBOARD = (
    "",
    "search?q=Bread",
    "search?q=zz-nothing",
    "payments",
    "payments?page=3",
    "payments?status=completed",
    "payments?status=processing",
    "payments?q=ZZQQ",
    *("payments?q=zz-nothing", "payments?q=nobody@example.com", f"payments?q=0x{'0' * 64}"),
    *(f"payments?q=0x{'0' * 40}", "statement", "statement?kind=payment_settled"),
    "statement?to=2026-06-01",
    "invoices?q=zz-nothing",
    "invoices?status=open",
    "customers?q=zz-nothing",
    "payouts",
    "requests",
    "requests?q=zz-nothing",
    "events",
)
PLATFORM = ("overview", "overview?from=2026-03-01&to=2026-03-31", "payments")
STAFF = (
    "payments/payment/",
    "payments/payment/?q=zz-nothing",
    "chain/deposit/",
    "chain/deposit/?q=zz-nothing",
    "ledger/movement/",
    "ledger/movement/?q=zz-nothing",
    "access/requestentry/",
    "stores/store/",
    "stores/store/?q=zz-nothing",
)
HOSTED = ("checkout", "invoice", "portal", "link")
ONE_DAY = "payments.csv, one day"


@dataclass(frozen=True)
class Row:
    """In its group; `is_job` when it runs again and again by itself."""

    group: str
    name: str
    run: Callable[[], Any]
    is_job: bool = False


def rows(place: Town) -> Iterator[Row]:
    yield from _requests(place)
    yield from _pages(place)
    yield from _reports(place)
    yield from _work()


def _requests(place: Town) -> Iterator[Row]:
    api = place.shop.test
    today = datetime.now(UTC).date()
    payment = pages.newest(pages.RECORDS["payments"], place.world)
    values = {
        "day": today - timedelta(days=25),
        "day_after": today - timedelta(days=24),
        "payment": payment.pk,
        "half": payment.reference[4:12],
        "year": f"from={today - timedelta(days=365)}&to={today}",
    }

    def get(path: str) -> Callable[[], Any]:
        return lambda: api.client.get(f"/api/v2{path.format(**values)}", headers=api.headers)

    def post() -> Any:
        body = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
        return api.client.post(
            "/api/v2/payments", body, content_type="application/json", headers=api.headers
        )

    yield Row("API", "POST /payments", post)
    for name, path in REQUESTS.items():
        yield Row("API", name, get(path))


def _pages(place: Town) -> Iterator[Row]:
    """Of people, each with a browser."""
    from tests import make
    from tests.staff.test_roles import signed_in

    people = Browser(place.shop.owner).prove()
    asks = {ask.name: ask.get for ask in pages.dashboard(place.world, people)}
    asks |= {ask.name: ask.get for ask in pages.platform(place.world)}
    asks |= {ask.name: ask.get for ask in pages.hosted(place.world, Client())}
    asks |= {ask.name: ask.get for ask in pages.staff(signed_in(make.clerk("finance")))}
    day = (datetime.now(UTC) - timedelta(days=25)).date()
    file = f"payments.csv?from={day}&to={day}"
    asks[f"dashboard {ONE_DAY}"] = pages.getter(people.client, f"/dashboard/{file}")
    chosen = {
        "dashboard": [*DASHBOARD, ONE_DAY],
        "platform": PLATFORM,
        "staff": [f"/admin/{path}" for path in STAFF] + ["/admin/search/?q=Bread"],
        "hosted": HOSTED,
    }
    for group, names in chosen.items():
        for name in names:
            shown = _shown(group, name)
            yield Row(group.title(), shown, asks[f"{group} {name}"])


def _shown(group: str, name: str) -> str:
    """As a line of the table, without long values."""
    shown = name.replace(f"0x{'0' * 64}", "a transaction").replace(f"0x{'0' * 40}", "an address")
    return f"{group} {shown or 'home'}"


def _reports(place: Town) -> Iterator[Row]:
    first = datetime.now(UTC).date() - timedelta(days=70)
    extent = reports.month_of(place, first)
    yield Row("Platform", "report of a month", lambda: reports.read_month(extent))


def _work() -> Iterator[Row]:
    for name, run in work().items():
        yield Row("Runs by itself", name, run, is_job=True)
