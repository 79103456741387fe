"""A dashboard session on the API, where a second factor is asked for: every documented code, and
that nobody else is asked."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection, transaction
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from apps.api.plumbing.routes import Route
from apps.api.plumbing.views import ApiView
from apps.core.redis import buckets
from tests.cast import Cast, shop_of
from tests.dashboard.browse import Browser, code_of

KEY = {"api_key": {"name": "Shop", "mode": "test", "scopes": ["payments:read"]}}

APP = {
    "oauth_application": {
        "name": "Books",
        "redirect_uris": ["https://books.example/back"],
        "scopes": ["payments:read"],
    }
}


@pytest.fixture
def factor(cast: Cast) -> SecondFactor:
    return second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


@pytest.fixture
def no_counter(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing listens where attempts are counted."""
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1")
    buckets.client.cache_clear()
    buckets._bucket.cache_clear()
    yield
    monkeypatch.undo()
    buckets.client.cache_clear()
    buckets._bucket.cache_clear()


def make_key(browser: Browser, **headers: str) -> Any:
    return browser.client.post(
        "/api/v2/api_keys", KEY, content_type="application/json", headers=headers
    )


def make_app(browser: Browser, **headers: str) -> Any:
    return browser.client.post(
        "/api/v2/merchants/oauth_apps", APP, content_type="application/json", headers=headers
    )


def told(answer: Any) -> tuple[int, str | None]:
    return answer.status_code, answer.json()["error"]["code"]


def test_without_a_code_it_is_otp_required(cast: Cast, factor: SecondFactor) -> None:
    assert told(make_key(Browser(cast.alice))) == (403, "otp_required")


@pytest.mark.parametrize("code", ["000000", "12345", "１２３４５６", "x" * 2000])
def test_a_wrong_code_is_otp_invalid(cast: Cast, factor: SecondFactor, code: str) -> None:
    assert told(
        make_key(Browser(cast.alice), **{"X-OTP-Code": code.encode().decode("latin-1")})
    ) == (403, "otp_invalid")


def test_a_code_that_was_used_is_otp_invalid(cast: Cast, factor: SecondFactor) -> None:
    code = code_of(factor)
    assert make_key(Browser(cast.alice), **{"X-OTP-Code": code}).status_code == 201
    assert told(make_key(Browser(cast.alice), **{"X-OTP-Code": code})) == (403, "otp_invalid")


def test_too_many_codes_must_wait(cast: Cast, factor: SecondFactor) -> None:
    browser = Browser(cast.alice)
    answers = [make_key(browser, **{"X-OTP-Code": "000000"}) for _ in range(6)]
    assert told(answers[-1]) == (429, "rate_limited")
    assert int(answers[-1]["Retry-After"]) >= 1


def test_without_the_counter_it_is_otp_check_unavailable(
    cast: Cast, factor: SecondFactor, no_counter: None
) -> None:
    answer = make_key(Browser(cast.alice), **{"X-OTP-Code": code_of(factor)})
    assert told(answer) == (503, "otp_check_unavailable")
    assert answer["Retry-After"] == "5"


def test_a_code_holds_for_the_store_in_which_it_was_given(cast: Cast, factor: SecondFactor) -> None:
    other = shop_of(cast.alice, "Second shop")
    browser = Browser(cast.alice)
    assert make_app(browser, **{"X-OTP-Code": code_of(factor)}).status_code == 201
    assert make_app(browser).status_code == 201
    browser.post("store", store_id=other.store.pk)
    assert told(make_app(browser)) == (403, "otp_required")
    browser.post("store", store_id=cast.bakery.store.pk)
    assert make_app(browser).status_code == 201


@pytest.mark.parametrize("mode", ["test", "live"])
@pytest.mark.parametrize("scope", ["payments:read", "payouts:write"])
def test_each_key_takes_a_code_of_its_own(
    cast: Cast, factor: SecondFactor, mode: str, scope: str
) -> None:
    browser = Browser(cast.alice).prove()
    body = {"api_key": {"name": "Shop", "mode": mode, "scopes": [scope]}}

    def make(**headers: str) -> Any:
        return browser.client.post(
            "/api/v2/api_keys", body, content_type="application/json", headers=headers
        )

    assert told(make()) == (403, "otp_required"), "the sign-in's code was for the sign-in"
    assert make(**{"X-OTP-Code": code_of(factor)}).status_code == 201
    assert told(make()) == (403, "otp_required")


class Strict(ApiView):
    """A door behind which money leaves."""

    asks_for_second_factor = True
    route = Route("strict", None, {"POST": "payouts:write"})  # type: ignore[arg-type]

    def post(self, request: Request) -> Response:
        return Response({"done": True})


@pytest.fixture
def strict(rf: Any, cast: Cast) -> Callable[..., tuple[int, str | None]]:
    """Ask the strict door with alice's session, or with a key."""

    def ask(browser: Browser | None = None, **headers: str) -> tuple[int, str | None]:
        request = rf.post("/api/v2/strict", headers=headers)
        request._dont_enforce_csrf_checks = True
        request.session = browser.client.session if browser else {}
        request.user = cast.alice if browser else None
        answer = Strict.as_view()(request)
        return answer.status_code, answer.data["error"]["code"] if "error" in answer.data else None

    return ask


def test_where_money_leaves_a_session_without_a_second_factor_is_mfa_required(
    cast: Cast, strict: Any
) -> None:
    assert strict(Browser(cast.alice)) == (403, "mfa_required")


def test_where_money_leaves_a_second_factor_needs_a_fresh_code(
    cast: Cast, strict: Any, factor: SecondFactor
) -> None:
    browser = Browser(cast.alice)
    assert strict(browser) == (403, "otp_required")
    assert strict(browser, **{"X-OTP-Code": code_of(factor)}) == (200, None)


def test_where_money_leaves_a_key_is_not_asked(cast: Cast, strict: Any) -> None:
    assert strict(Authorization=f"Bearer {cast.bakery.secrets['test']}") == (200, None)


def test_when_nobody_can_tell_it_is_mfa_check_unavailable(cast: Cast, strict: Any) -> None:
    """Somebody else holds the table for longer than a request may wait."""
    browser = Browser(cast.alice)
    with psycopg.connect(
        **connection.get_connection_params() | {"cursor_factory": None, "context": None}
    ) as other:
        other.execute("LOCK TABLE access_secondfactor IN ACCESS EXCLUSIVE MODE NOWAIT")
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
            assert strict(browser) == (503, "mfa_check_unavailable")
            transaction.set_rollback(True)
