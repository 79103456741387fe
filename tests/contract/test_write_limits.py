"""Every write has a budget: those of the API by the route table, those of the dashboard by the
table of pages, and what is sent by hand to a host by the host."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.conf import settings as project
from django.urls import NoReverseMatch, reverse

from apps.api.plumbing.routes import PUBLIC, PUBLIC_WRITES, WRITES
from apps.api.urls import ROUTES
from apps.core.redis import buckets
from apps.dashboard.site.views import EVERYBODY
from apps.dashboard.urls import PAGES
from apps.hosted.urls import urlpatterns
from apps.webhooks.models import Delivery
from apps.webhooks.services import deliveries
from tests import make
from tests.cast import Api, Cast, Shop
from tests.contract.test_limits import drain, refused
from tests.dashboard.browse import Browser

READS = ("GET", "HEAD", "OPTIONS")
UNKNOWN = "00000000-0000-4000-8000-000000000000"
REFERENCES = (
    "ABCDEFGH12345678",
    "abcdefgh1234",
    UNKNOWN,
    "a" * 32 + ".abc.abc",
)
HOOK = "http://127.0.0.1:9/hook"


def test_every_write_of_the_api_has_a_budget() -> None:
    writes = [(route, method) for route in ROUTES for method in route.scopes if method not in READS]
    without = [
        (method, route.path)
        for route, method in writes
        if not route.budgets(method)
        or any(line.policy not in project.LIMITS for line in route.budgets(method))
    ]
    assert len(writes) > 70 and without == []
    defaults = {route.path: route.budgets(method) for route, method in writes}
    assert defaults["billing/customers"] == WRITES
    assert defaults["offramp_callbacks"] == PUBLIC_WRITES
    by_store = [
        route.path
        for route, method in writes
        if PUBLIC in route.scopes.values()
        and any("store" in line.by or "credential" in line.by for line in route.budgets(method))
    ]
    assert by_store == []


def test_a_write_without_a_line_takes_from_the_stores_bucket(cast: Cast) -> None:
    body = {"customer": {"email": "ann@example.com"}}

    def create(shop: Shop = cast.bakery) -> Any:
        return shop.test.post("/billing/customers", body)

    per_minute, burst = project.LIMITS["writes"]["test"]
    answer = create()
    assert answer.status_code == 201
    assert answer.headers["RateLimit-Policy"] == f'"writes";q={per_minute};w=60'
    assert answer.headers["X-RateLimit-Limit"] == str(burst)
    refusal = refused(create, "writes", str(cast.bakery.store.pk), "test")
    assert refusal.json() == {"error": {"message": "Too many requests", "code": "rate_limited"}}
    assert int(refusal.headers["Retry-After"]) >= 1
    assert create(cast.strangers).status_code == 201
    assert cast.bakery.test.get("/billing/customers").status_code == 200


def test_a_public_write_without_a_line_takes_from_the_clients_address(db: None) -> None:
    call = lambda: Api().post("/offramp_callbacks", {})  # noqa: E731
    assert call().status_code != 429
    refusal = refused(call, "public_writes", "127.0.0.1")
    assert refusal.json()["error"]["code"] == "rate_limited"


@pytest.fixture
def small_buckets(settings: Any) -> Iterator[None]:
    """One token a minute, so that an empty bucket stays empty on a slow machine."""
    small = dict.fromkeys(("live", "test"), (1, 1))
    names = ("dashboard_writes", "visitor_writes", "checkout")
    settings.LIMITS = {**settings.LIMITS, **dict.fromkeys(names, small)}
    buckets._bucket.cache_clear()
    yield
    buckets._bucket.cache_clear()


def test_every_page_that_is_sent_back_has_a_budget(cast: Cast, small_buckets: None) -> None:
    """Each is posted to with an empty bucket: nothing of it is read."""
    pages = [page for page in PAGES if "POST" in page.methods]
    assert len(pages) > 90 and {page.writes for page in pages} <= set(project.LIMITS)
    browser = Browser(cast.alice)
    let_through = []
    for page in pages:
        whose = "127.0.0.1" if page.permission == EVERYBODY else str(cast.alice.pk)
        arguments = {
            name: UNKNOWN
            for name in ("id", "token", "deposit_id", "price_id", "act", "family", "delivery_id")
            if f":{name}>" in page.path
        }
        url = reverse(f"dashboard:{page.name}", kwargs=arguments)
        drain(page.writes, whose)
        if browser.client.post(url, {}).status_code != 429:
            let_through.append(page.name)
    assert let_through == []


def test_every_form_behind_a_public_link_has_a_budget(db: None, small_buckets: None) -> None:
    """A page that takes no form says so; any other refuses one more than its bucket has."""
    values = {"id": UNKNOWN, "store_id": UNKNOWN, "number": "1"}
    let_through = []
    for pattern in urlpatterns:
        names = pattern.pattern.regex.groupindex or pattern.pattern.converters
        paths = {
            reference: _path(str(pattern.name), {**values, "reference": reference}, names)
            for reference in REFERENCES
        }
        reference, url = next((pair for pair in paths.items() if pair[1]), ("", None))
        assert url is not None, pattern.name
        drain("visitor_writes", ":127.0.0.1")
        drain("checkout", reference)
        if Api().client.post(url, {}).status_code not in (405, 429):
            let_through.append(pattern.name)
    assert let_through == []


def _path(name: str, values: dict[str, str], names: Iterable[str]) -> str | None:
    given = {key: values.get(key, "a" * 32) for key in names}
    try:
        return reverse(name, kwargs=given)
    except NoReverseMatch:
        return None


def test_another_session_of_a_person_writes_from_the_same_bucket(cast: Cast) -> None:
    first, second = Browser(cast.alice), Browser(cast.alice)
    change = lambda browser: browser.post("theme", theme="dark")  # noqa: E731
    assert change(first).status_code == 302
    assert (
        "Retry-After"
        in refused(lambda: change(second), "dashboard_writes", str(cast.alice.pk)).headers
    )
    assert change(Browser(cast.charlie)).status_code == 302
    assert first.get("payments").status_code == 200


@pytest.fixture
def endpoint(bakery: Shop, settings: Any) -> Any:
    settings.WEBHOOK_ALLOW_HOSTS = ["127.0.0.1"]
    return registered(bakery, HOOK)


def registered(shop: Shop, url: str) -> Any:
    body = {"url": url, "subscribed_events": ["payment_intent.created"]}
    answer = shop.test.post("/webhook_endpoints", {"webhook_endpoint": body})
    assert answer.status_code == 201, answer.json()
    return answer.json()


def test_a_host_gets_only_a_few_test_events_by_hand(cast: Cast, endpoint: Any) -> None:
    """Another endpoint at the host changes nothing, and another store has its own share of it."""
    burst = project.LIMITS["webhook_tests"]["test"][1]
    other = registered(cast.bakery, f"{HOOK}/other")
    told = [
        cast.bakery.test.post(f"/webhook_endpoints/{each['id']}/send_test", {})
        for each in (endpoint, other) * burst
    ]
    passed = [answer for answer in told if answer.status_code == 200]
    refusals = [answer for answer in told if answer.status_code == 429]
    assert burst <= len(passed) < burst + 20 and len(passed) + len(refusals) == len(told)
    refusal = refusals[-1]
    assert refusal.json()["error"]["code"] == "rate_limited"
    assert "This host has received too many" in refusal.json()["error"]["message"]
    assert int(refusal.headers["Retry-After"]) >= 1
    assert Delivery.objects.filter(is_test=True).count() == len(passed)
    theirs = registered(cast.strangers, HOOK)
    assert (
        cast.strangers.test.post(f"/webhook_endpoints/{theirs['id']}/send_test", {}).status_code
        == 200
    )
    drain("webhook_tests_host", "127.0.0.1", "test")
    last = cast.strangers.test.post(f"/webhook_endpoints/{theirs['id']}/send_test", {})
    assert last.status_code == 429


def test_redelivering_is_counted_by_host_on_pages_and_in_the_api(cast: Cast, endpoint: Any) -> None:
    make.payment(cast.bakery.test)
    row = Delivery.objects.get()
    Delivery.objects.filter(pk=row.pk).update(status="failed", attempts=3)
    whose = f"{cast.bakery.store.pk}:127.0.0.1"
    path = f"/webhook_endpoints/{endpoint['id']}/redeliver"
    call = lambda: cast.bakery.test.post(path, {"delivery_id": str(row.pk)})  # noqa: E731
    assert call().status_code == 200
    refusal = refused(call, deliveries.REDELIVERIES, whose, "test")
    assert refusal.json()["error"]["code"] == "rate_limited"
    Delivery.objects.filter(pk=row.pk).update(status="failed", attempts=3)
    drain(deliveries.REDELIVERIES, whose, "test")
    browser = Browser(cast.alice)
    page = browser.client.post(
        f"/dashboard/webhooks/{endpoint['id']}/deliveries/{row.pk}", follow=True
    )
    assert "This host has received too many events" in page.content.decode()
    assert Delivery.objects.get(pk=row.pk).status == "failed"


def test_resending_a_stretch_of_time_takes_as_many_tokens_as_events(
    cast: Cast, endpoint: Any
) -> None:
    for _ in range(3):
        make.payment(cast.bakery.test)
    whose = f"{cast.bakery.store.pk}:127.0.0.1"
    burst = project.LIMITS["redeliveries"]["test"][1]
    answer = Browser(cast.alice).post(
        f"webhooks/{endpoint['id']}/resend",
        **{"from": "2000-01-01T00:00", "to": "2099-01-01T00:00"},
    )
    assert answer.status_code == 303
    left = buckets.take("redeliveries", "test", whose).remaining
    assert burst - 5 <= left <= burst - 4 + 1
