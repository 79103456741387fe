"""Token buckets: exact bursts, every header, buckets that are the store's, and what happens without
Redis."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as project

from apps.access.services import authenticate, create_agent_credential
from apps.core.redis import buckets
from tests import make
from tests.billing import records as billing
from tests.cast import PASSWORD, Api, Cast, Shop, person
from tests.contract.oauth.apps import App
from tests.dashboard.browse import Browser

BODY = {"payment_intent": {"amount": "1.00", "currency": "EUR"}}


def create(api: Api) -> Any:
    return api.post("/payments", BODY)


def drain(policy: str, whose: str, mode: str = "live") -> None:
    """Take until nothing is left; the bucket goes on filling while a slow machine asks."""
    while not buckets.take(policy, mode, whose).is_limited:
        pass


def refused(call: Callable[[], Any], policy: str, whose: str, mode: str = "live") -> Any:
    """The first answer that is refused, which is soon: the bucket is emptied before each call, and
    fills while a slow one runs."""
    for _ in range(200):
        drain(policy, whose, mode)
        answer = call()
        if answer.status_code == 429:
            return answer
    raise AssertionError("nothing was refused")


@pytest.mark.parametrize("mode", ["live", "test"])
def test_the_burst_of_a_store_is_exact_and_counted_over_all_its_keys(
    bakery: Shop, settings: Any, mode: str
) -> None:
    burst = project.LIMITS["payment_create"][mode][1]
    apis = [getattr(bakery, mode), bakery.with_scopes("payments:write", mode=mode)]
    for _ in range(burst - 2):
        buckets.take("payment_create", mode, str(bakery.store.pk))
    passed = [create(apis[n % 2]).status_code for n in range(2)]
    assert passed == [201, 201]
    refusal = refused(lambda: create(apis[0]), "payment_create", str(bakery.store.pk), mode)
    assert refusal.json()["error"]["code"] == "rate_limited"
    assert re.fullmatch(r"[1-9]\d*", refusal.headers["Retry-After"])
    assert refusal.headers["X-RateLimit-Remaining"] == "0"


def test_every_header_tells_the_bucket(bakery: Shop) -> None:
    answer = create(bakery.test)
    per_minute, burst = project.LIMITS["payment_create"]["test"]
    reset = answer.headers["X-RateLimit-Reset"]
    assert answer.headers["X-RateLimit-Limit"] == str(burst)
    assert answer.headers["X-RateLimit-Remaining"] == str(burst - 1)
    assert answer.headers["RateLimit-Policy"] == f'"payment_create";q={per_minute};w=60'
    assert answer.headers["RateLimit"] == f'"payment_create";r={burst - 1};t={reset}'
    assert "Retry-After" not in answer.headers


def test_a_refused_body_takes_a_token_too(bakery: Shop) -> None:
    before = int(create(bakery.test).headers["X-RateLimit-Remaining"])
    refused = bakery.test.post("/payments", {})
    assert (refused.status_code, int(refused.headers["X-RateLimit-Remaining"])) == (422, before - 1)


def test_live_and_test_and_other_stores_have_buckets_of_their_own(cast: Cast) -> None:
    create(cast.bakery.test)
    for api, mode in ((cast.bakery.live, "live"), (cast.strangers.test, "test")):
        assert create(api).headers["X-RateLimit-Remaining"] == str(
            project.LIMITS["payment_create"][mode][1] - 1
        )


def test_a_checkout_is_budgeted_by_reference_with_a_ceiling_per_address_behind_it(
    bakery: Shop, settings: Any
) -> None:
    # A hundred come back each second, faster than a busy machine answers.
    settings.LIMITS = {
        **settings.LIMITS,
        "checkout_address": dict.fromkeys(("live", "test"), (60, 600)),
    }
    buckets._bucket.cache_clear()
    first = make.payment(bakery.test)
    second = make.payment(bakery.test)
    answer = Api().get(f"/checkout/{first['reference']}")
    assert answer.headers["RateLimit-Policy"] == '"checkout";q=300;w=60'
    first_link = f"/checkout/{first['reference']}"
    assert (
        refused(lambda: Api().get(first_link), "checkout", first["reference"]).json()["error"][
            "code"
        ]
        == "rate_limited"
    )
    assert Api().get(f"/checkout/{second['reference']}").status_code == 200
    second_link = f"/checkout/{second['reference']}"
    assert (
        refused(lambda: Api().get(second_link), "checkout_address", "127.0.0.1").json()["error"][
            "code"
        ]
        == "rate_limited"
    )
    buckets._bucket.cache_clear()


def test_a_bucket_refills_continuously(bakery: Shop) -> None:
    while not buckets.take("payment_create", "live", "alice").is_limited:
        pass
    deadline = time.monotonic() + 30
    while buckets.take("payment_create", "live", "alice").is_limited:
        assert time.monotonic() < deadline, "twenty tokens a second come back"


def test_without_redis_payments_pass(bakery: Shop, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9"
    for item in (buckets.client, buckets._bucket):
        item.cache_clear()
    try:
        answer = create(bakery.test)
        assert (answer.status_code, "X-RateLimit-Limit" in answer.headers) == (201, False)
        with pytest.raises(buckets.Unavailable):
            buckets.take("sign_in", "live", "alice")
    finally:
        for item in (buckets.client, buckets._bucket):
            item.cache_clear()


def test_keys_apps_people_and_pages_have_buckets_of_their_own(cast: Cast, bakery: Shop) -> None:
    app = App(cast)
    token = Api(app.tokens(scope="payments:write")["access_token"])
    page = Api(bakery.secrets["test_publishable"])
    browser = Browser(cast.alice)

    def by_session() -> Any:
        return browser.client.post("/api/v2/payments", BODY, content_type="application/json")

    store = str(bakery.store.pk)
    callers: dict[str, tuple[str, Callable[[], Any]]] = {
        "key": (store, lambda: create(bakery.test)),
        "oauth": (f"{store}:oauth", lambda: create(token)),
        "session": (f"{store}:session", by_session),
        "publishable": (f"{store}:publishable", lambda: create(page)),
    }
    for emptied, (whose, call) in callers.items():
        assert refused(call, "payment_create", whose, "test").status_code == 429
        others = {name: other() for name, (_, other) in callers.items() if name != emptied}
        assert {name: answer.status_code for name, answer in others.items()} == dict.fromkeys(
            others, 201
        )
        for _, (caller, _call) in callers.items():
            buckets.client().delete(
                *buckets.client().keys(f"*payment_create:test:{caller}") or ["none"]
            )


@pytest.mark.parametrize("mode", ["live", "test"])
def test_one_visitor_of_a_shops_page_leaves_its_bucket_to_the_others(
    bakery: Shop, mode: str
) -> None:
    page = Api(bakery.secrets[f"{mode}_publishable"])
    answer = create(page)
    per_minute, burst = project.LIMITS["payment_create"][mode]
    assert answer.headers["RateLimit-Policy"] == f'"payment_create";q={per_minute};w=60'
    assert answer.headers["X-RateLimit-Limit"] == str(burst)
    flooder = f"{bakery.store.pk}:publishable:127.0.0.1"
    before = buckets.take("payment_create", mode, f"{bakery.store.pk}:publishable").remaining
    refusal = refused(lambda: create(page), "publishable_address", flooder, mode)
    assert refusal.json()["error"]["code"] == "rate_limited"
    assert refusal.headers["Access-Control-Expose-Headers"].count("RateLimit") == 5
    left = buckets.take("payment_create", mode, f"{bakery.store.pk}:publishable").remaining
    assert left >= before - 5
    assert create(getattr(bakery, mode)).status_code == 201


COSTLY: list[tuple[str, str, str]] = [
    ("payouts", "POST", "/payouts"),
    ("payouts", "POST", "/payouts/{id}/retry"),
    ("payouts", "POST", "/payout_schedules/{id}/run"),
    ("refunds", "POST", "/payments/{id}/refunds"),
    ("swaps", "POST", "/balance_swaps"),
    ("swaps", "POST", "/balance_swaps/quote"),
    ("test_clock", "POST", "/test_clock/advance"),
]


@pytest.mark.parametrize(("policy", "method", "path"), COSTLY)
def test_what_costs_much_has_a_budget_per_store(
    policy: str, method: str, path: str, bakery: Shop
) -> None:
    path = path.replace("{id}", "00000000-0000-4000-8000-000000000000")
    whose = str(bakery.store.pk)

    def call() -> Any:
        return bakery.test(method, path, {}, key="one")

    per_minute, burst = project.LIMITS[policy]["test"]
    answer = call()
    assert answer.status_code != 429
    assert answer.headers["RateLimit-Policy"] == f'"{policy}";q={per_minute};w=60'
    assert answer.headers["X-RateLimit-Limit"] == str(burst)
    refusal = refused(call, policy, whose, "test")
    assert refusal.json()["error"]["code"] == "rate_limited"
    assert re.fullmatch(r"[1-9]\d*", refusal.headers["Retry-After"])
    assert bakery.test.get("/payments").status_code == 200


def test_a_long_way_of_the_test_clock_takes_more_than_a_short_one(bakery: Shop) -> None:
    def left_after(seconds: int) -> int:
        answer = bakery.test.post("/test_clock/advance", {"seconds": seconds})
        return int(answer.headers["X-RateLimit-Remaining"])

    full = project.LIMITS["test_clock"]["test"][1]
    assert left_after(60) == full - 1
    assert left_after(365 * 86400) in range(full - 13, full - 10)


def test_rendering_files_has_a_budget_per_credential_and_per_link(cast: Cast, bakery: Shop) -> None:
    payment = make.payment(bakery.test)["id"]
    path = f"/payments/{payment}/invoice"
    key = authenticate(bakery.secrets["test"]).credential_id
    whose = f"{bakery.store.pk}:{key}"
    assert refused(lambda: bakery.test.get(path), "pdf", whose, "test").status_code == 429
    assert bakery.with_scopes("payments:read").get(path).headers["X-RateLimit-Limit"] == "200"
    person = f"{bakery.store.pk}:session:{cast.alice.pk}"
    browser = Browser(cast.alice)
    assert browser.get(f"payments/{payment}/invoice").status_code == 200
    assert (
        refused(
            lambda: browser.get(f"payments/{payment}/invoice"), "pdf", person, "test"
        ).status_code
        == 429
    )


def test_the_public_file_of_an_invoice_has_a_budget_per_link(bakery: Shop) -> None:
    made = billing.opened(bakery.test)
    link = f"/invoice/{made['public_token']}"
    assert Api().client.get(f"{link}/invoice.pdf").status_code == 200
    call = lambda: Api().client.get(f"{link}/invoice.pdf")  # noqa: E731
    assert refused(call, "pdf", made["public_token"]).status_code == 429
    assert Api().client.get(link).status_code == 200


# --- signing in ---


def signs_in(
    email: str, password: str = PASSWORD, place: str = "127.0.0.1", browser: Browser | None = None
) -> int:
    one = browser or Browser()
    fields = {"email": email, "password": password}
    status: int = one.client.post("/dashboard/sign-in", fields, REMOTE_ADDR=place).status_code
    return status


def test_one_address_shuts_nobody_out(db: None) -> None:
    people = [person(f"p{n}") for n in range(4)]
    told = [signs_in(item.email, "wrong", "192.0.2.66") for item in people for _ in range(6)]
    assert told.count(401) <= 7 and told.count(429) >= 17
    entered = [signs_in(item.email, place=f"198.51.100.{n}") for n, item in enumerate(people[1:])]
    assert entered == [302] * 3


def test_who_signed_in_here_before_gets_in_while_strangers_guess(cast: Cast) -> None:
    home = Browser()
    away = Browser()
    assert signs_in(cast.alice.email, browser=home) == 302
    home.client.post("/dashboard/sign-out")
    for n in range(8):
        signs_in(cast.alice.email, "wrong", f"192.0.2.{n}")
    assert signs_in(cast.alice.email, place="203.0.113.9", browser=away) == 429
    for _ in range(8):
        signs_in(cast.bob.email, "wrong")
    assert signs_in(cast.alice.email, browser=home) == 302


def test_a_device_is_known_for_its_person_only_and_guesses_no_more_than_others(cast: Cast) -> None:
    home = Browser()
    assert signs_in(cast.alice.email, browser=home) == 302
    home.client.post("/dashboard/sign-out")
    told = [signs_in(cast.alice.email, "wrong", browser=home) for _ in range(8)]
    assert told.count(429) >= 2
    for n in range(8):
        signs_in(cast.bob.email, "wrong", f"192.0.2.{n}")
    assert signs_in(cast.bob.email, place="203.0.113.9", browser=home) == 429
    home.client.cookies["device"] = "forged"
    assert signs_in(cast.alice.email, place="203.0.113.8", browser=home) == 302


# Tokens per minute and burst, as documented; a row without a mode of its own holds for both.
TABLE = [
    ("reads", (6000, 600), (6000, 600)),
    ("writes", (1200, 300), (1200, 300)),
    ("public_writes", (600, 200), (600, 200)),
    ("payment_create", (1200, 200), (300, 100)),
    ("publishable_address", (120, 60), (60, 30)),
    ("payouts", (300, 200), (300, 200)),
    ("refunds", (300, 200), (300, 200)),
    ("swaps", (120, 60), (120, 60)),
    ("test_clock", (120, 60), (120, 60)),
    ("pdf", (600, 200), (600, 200)),
    ("agentic", (600, 100), (120, 40)),
    ("x402", (1200, 200), (300, 100)),
    ("x402_offers", (1200, 200), (300, 100)),
    ("x402_signatures", (30, 10), (30, 10)),
    ("oauth_token", (300, 60), (300, 60)),
    ("oauth_authorize", (60, 20), (60, 20)),
    ("checkout", (300, 60), (300, 60)),
    ("checkout_address", (6000, 600), (6000, 600)),
    ("new_quotes", (6, 4), (6, 4)),
    ("new_quotes_address", (30, 15), (30, 15)),
    ("sent", (10, 6), (10, 6)),
    ("sent_address", (30, 15), (30, 15)),
    ("receipts", (3, 3), (3, 3)),
    ("receipts_address", (15, 10), (15, 10)),
    ("refund_links", (3, 3), (3, 3)),
    ("refund_links_address", (15, 10), (15, 10)),
    ("refund_addresses", (6, 6), (6, 6)),
    ("refund_addresses_address", (30, 15), (30, 15)),
    ("onramp_methods", (20, 10), (20, 10)),
    ("onramp_methods_reference", (120, 40), (120, 40)),
    ("onramp_sessions", (12, 6), (12, 6)),
    ("onramp_sessions_reference", (60, 20), (60, 20)),
    ("dashboard", (600, 120), (600, 120)),
    ("dashboard_writes", (240, 120), (240, 120)),
    ("visitor_writes", (120, 60), (120, 60)),
    ("uploads", (20, 60), (20, 60)),
    ("upload_rows", (100, 50_000), (100, 50_000)),
    ("webhook_tests", (10, 40), (10, 40)),
    ("webhook_tests_host", (60, 120), (60, 120)),
    ("redeliveries", (60, 60), (60, 60)),
    ("redeliveries_host", (600, 300), (600, 300)),
    ("market_data", (30, 10), (30, 10)),
    ("sign_in", (10, 5), (10, 5)),
    ("token_attempts", (10, 5), (10, 5)),
]


def test_each_row_is_as_documented() -> None:
    for policy, live, test in TABLE:
        assert project.LIMITS[policy] == {"live": live, "test": test}, policy


def test_no_row_is_undocumented() -> None:
    assert set(project.LIMITS) == {row[0] for row in TABLE}


@pytest.mark.parametrize(
    ("policy", "mode"),
    [
        ("payment_create", "live"),
        pytest.param("checkout_address", "live", marks=pytest.mark.whole),
    ],
)
def test_a_bucket_lets_through_its_burst_and_its_rate_within_one_percent(
    policy: str, mode: str
) -> None:
    """Asked without a pause for a second and a half, and until it is empty: what passes is the
    burst and what has come back.

    Each end of the time lies between the readings around its call, which a busy machine may draw
    apart.
    """
    before = time.monotonic()
    first = before
    passed = 0
    is_limited = False
    while not is_limited or time.monotonic() - before < 1.5:
        asked = time.monotonic()
        is_limited = buckets.take(policy, mode, "exact").is_limited
        after = time.monotonic()
        first = first if passed else after
        passed += not is_limited
    per_minute, burst = project.LIMITS[policy][mode]
    least, most = (burst + per_minute / 60 * seconds for seconds in (asked - first, after - before))
    assert least * 0.99 <= passed <= most * 1.01


def test_a_bucket_fills_without_steps() -> None:
    """A token is back after exactly its share of a minute, and the wait that a refusal names is
    enough."""
    per_minute, _ = project.LIMITS["payment_create"]["live"]
    share = 60 / per_minute
    begin = time.monotonic()
    drain("payment_create", "steps")
    drained = time.monotonic()
    for _ in range(10):
        while (taken := buckets.take("payment_create", "live", "steps")).is_limited:
            assert taken.retry_after_seconds == 1
    end = time.monotonic()
    assert end - begin >= 9.5 * share
    assert end - drained <= 11 * share


def test_agents_are_budgeted_by_credential(bakery: Shop) -> None:
    first = Api(bakery.secrets["test_agent"])
    second = Api(create_agent_credential(bakery.store, "test")[1])
    assert first.get("/agentic/account").headers["RateLimit-Policy"] == '"agentic";q=120;w=60'
    credential = str(authenticate(bakery.secrets["test_agent"], for_agents=True).credential_id)
    refusal = refused(lambda: first.get("/agentic/account"), "agentic", credential, "test")
    assert (
        refusal.json()["error"]["code"] == "rate_limited"
        and refusal.headers["X-RateLimit-Remaining"] == "0"
    )
    assert second.get("/agentic/account").status_code == 200


def test_market_data_is_budgeted_by_address() -> None:
    assert (
        Api().get("/agentic/market_data").headers["RateLimit-Policy"] == '"market_data";q=30;w=60'
    )
    assert (
        refused(lambda: Api().get("/agentic/market_data"), "market_data", "127.0.0.1").json()[
            "error"
        ]["code"]
        == "rate_limited"
    )


@pytest.mark.parametrize(
    ("policy", "method", "path"),
    [
        ("onramp_methods", "GET", "onramp/payment_methods"),
        ("onramp_sessions", "POST", "onramp_sessions"),
    ],
)
def test_card_paths_are_budgeted_by_reference_and_address_and_by_reference_behind(
    policy: str, method: str, path: str, bakery: Shop
) -> None:
    first, second = (make.payment(bakery.test)["reference"] for _ in range(2))

    def call(reference: str) -> Any:
        return Api()(method, f"/checkout/{reference}/{path}", {} if method == "POST" else None)

    per_minute, burst = project.LIMITS[policy]["live"]
    told = call(first).headers
    assert (told["RateLimit-Policy"], told["X-RateLimit-Limit"]) == (
        f'"{policy}";q={per_minute};w=60',
        str(burst),
    )
    assert (
        refused(lambda: call(first), policy, f"{first}:127.0.0.1").headers["RateLimit-Policy"]
        == f'"{policy}";q={per_minute};w=60'
    )
    assert call(second).status_code != 429
    assert (
        refused(lambda: call(second), f"{policy}_reference", second)
        .headers["RateLimit-Policy"]
        .startswith(f'"{policy}"')
    )


def test_a_bucket_that_refuses_spares_those_behind_it(bakery: Shop) -> None:
    reference = make.payment(bakery.test)["reference"]
    drain("checkout", reference)
    for _ in range(5):
        Api().get(f"/checkout/{reference}")
    left = buckets.take("checkout_address", "live", "127.0.0.1")
    assert left.remaining >= left.burst - 6


def test_without_redis_customers_and_agents_pass_and_nobody_signs_in(
    cast: Cast, settings: Any
) -> None:
    reference = make.payment(cast.bakery.test)["reference"]
    agent = Api(cast.bakery.secrets["test_agent"])
    url = settings.REDIS_URL
    settings.REDIS_URL = "redis://127.0.0.1:9"
    for item in (buckets.client, buckets._bucket):
        item.cache_clear()
    try:
        assert Api().get(f"/checkout/{reference}").status_code == 200
        assert Api().client.get(f"/pay/{reference}").status_code == 200
        assert agent.get("/agentic/account").status_code == 200
        assert Browser(cast.alice).get("").status_code == 200
        answer = Browser().post("sign-in", email=cast.alice.email, password=PASSWORD)
        assert (answer.status_code, int(answer.headers["Retry-After"]) >= 1) == (503, True)
    finally:
        settings.REDIS_URL = url
        for item in (buckets.client, buckets._bucket):
            item.cache_clear()
