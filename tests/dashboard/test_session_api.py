"""The API with the session of the dashboard: the role's scopes, a token against forgery, a fresh
code for what is sensitive."""

from typing import Any

import pytest

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from tests.cast import Api, Cast
from tests.dashboard.browse import Browser, code_of

KEY = {"api_key": {"name": "Shop", "mode": "test", "scopes": ["payments:read"]}}
HOOK = {
    "webhook_endpoint": {
        "url": "https://1.1.1.1/hook",
        "subscribed_events": ["payment_intent.completed"],
    }
}


@pytest.fixture
def factor(cast: Cast) -> SecondFactor:
    return second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


def post(browser: Browser, path: str, body: dict[str, Any], **headers: str) -> Any:
    return browser.client.post(
        f"/api/v2{path}", body, content_type="application/json", headers=headers
    )


def test_a_session_without_a_second_factor_makes_a_key(cast: Cast) -> None:
    answer = post(Browser(cast.alice), "/api_keys", KEY)
    assert answer.status_code == 201
    assert Api(answer.json()["secret"]).get("/payments").status_code == 200


@pytest.mark.parametrize(("path", "body"), [("/api_keys", KEY), ("/webhook_endpoints", HOOK)])
def test_with_a_second_factor_a_sensitive_post_asks_for_a_fresh_code(
    path: str, body: dict[str, Any], cast: Cast, factor: SecondFactor
) -> None:
    browser = Browser(cast.alice)
    refused = post(browser, path, body)
    assert refused.status_code == 403
    assert refused.json() == {
        "error": {
            "message": "Confirm with a code from your authenticator app",
            "code": "otp_required",
        }
    }
    assert post(browser, path, body, **{"X-OTP-Code": code_of(factor)}).status_code == 201
    # A key takes a code of its own; an endpoint one of the last five minutes.
    assert post(browser, path, body).status_code == (403 if path == "/api_keys" else 201)


def test_a_wrong_code_opens_nothing(cast: Cast, factor: SecondFactor) -> None:
    browser = Browser(cast.alice)
    assert post(browser, "/api_keys", KEY, **{"X-OTP-Code": "000000"}).status_code == 403
    assert post(browser, "/api_keys", KEY).status_code == 403


def test_a_key_is_never_asked_for_a_code(cast: Cast, factor: SecondFactor) -> None:
    assert cast.bakery.test.post("/webhook_endpoints", HOOK).status_code == 201


def test_the_session_needs_the_token_of_the_site(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.client.handler.enforce_csrf_checks = True
    answer = post(browser, "/api_keys", KEY)
    assert answer.status_code == 403


def test_a_developer_may_not_refund_through_the_api_either(cast: Cast) -> None:
    answer = post(
        Browser(cast.bob),
        "/payments/00000000-0000-0000-0000-000000000000/refunds",
        {},
        **{"Idempotency-Key": "k"},
    )
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "insufficient_scope"
