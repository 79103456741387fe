"""Token buckets: exact bursts, every header, buckets that are the store's, and what happens without Redis."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as project

from apps.core import buckets
from tests import make
from tests.cast import Api, Cast, Shop

BODY = {"payment_intent": {"amount": "1.00", "currency": "EUR"}}


def create(api: Api) -> Any:
    return api.post("/payments", BODY)


def drain(policy: str, whose: str) -> None:
    """Take until nothing is left; the bucket goes on filling while a slow machine asks."""
    while not buckets.take(policy, "live", whose).is_limited:
        pass


def refused(call: Callable[[], Any]) -> Any:
    """The first answer that is refused, which is soon."""
    return next(answer for answer in (call() for _ in range(200)) if answer.status_code == 429)


@pytest.mark.parametrize("mode", ["live", "test"])
def test_the_burst_of_a_store_is_exact_and_counted_over_all_its_keys(bakery: Shop, settings: Any, mode: str) -> None:
    burst = project.LIMITS["payment_create"][mode][1]
    apis = [getattr(bakery, mode), Api(bakery.secrets[f"{mode}_publishable"])]
    for _ in range(burst - 2):
        buckets.take("payment_create", mode, str(bakery.store.pk))
    passed = [create(apis[n % 2]).status_code for n in range(2)]
    assert passed == [201, 201]
    refused = next(answer for answer in (create(apis[0]) for _ in range(burst)) if answer.status_code == 429)
    assert refused.json()["error"]["code"] == "rate_limited"
    assert re.fullmatch(r"[1-9]\d*", refused.headers["Retry-After"])
    assert refused.headers["X-RateLimit-Remaining"] == "0"


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
        assert create(api).headers["X-RateLimit-Remaining"] == str(project.LIMITS["payment_create"][mode][1] - 1)


def test_a_path_without_a_budget_has_no_headers(bakery: Shop) -> None:
    assert "X-RateLimit-Limit" not in bakery.test.get("/payments").headers


def test_a_checkout_is_budgeted_by_reference_with_a_ceiling_per_address_behind_it(bakery: Shop) -> None:
    first, second = make.payment(bakery.test), make.payment(bakery.test)
    answer = Api().get(f"/checkout/{first['reference']}")
    assert answer.headers["RateLimit-Policy"] == '"checkout";q=300;w=60'
    drain("checkout", first["reference"])
    assert refused(lambda: Api().get(f"/checkout/{first['reference']}")).json()["error"]["code"] == "rate_limited"
    assert Api().get(f"/checkout/{second['reference']}").status_code == 200
    drain("checkout_address", "127.0.0.1")
    assert refused(lambda: Api().get(f"/checkout/{second['reference']}")).json()["error"]["code"] == "rate_limited"


def test_a_bucket_refills_continuously(bakery: Shop) -> None:
    while not buckets.take("payment_create", "live", "alice").is_limited:
        pass
    deadline = time.monotonic() + 5
    while buckets.take("payment_create", "live", "alice").is_limited:
        assert time.monotonic() < deadline, "twenty tokens a second come back"


def test_without_redis_payments_pass(bakery: Shop, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9"
    for one in (buckets.client, buckets._bucket):
        one.cache_clear()
    try:
        answer = create(bakery.test)
        assert (answer.status_code, "X-RateLimit-Limit" in answer.headers) == (201, False)
        with pytest.raises(buckets.Unavailable):
            buckets.take("sign_in", "live", "alice")
    finally:
        for one in (buckets.client, buckets._bucket):
            one.cache_clear()
