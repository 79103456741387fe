"""Acting for a sub-merchant: what the header opens, its three refusals, and what it never opens,
over the whole route table."""

from typing import Any

from apps.access.on_behalf import NotAPlatform
from apps.access.operations import MayNotIssueCredentials
from apps.access.services import create_api_key
from apps.api.plumbing.routes import PUBLIC
from apps.api.urls import ROUTES
from apps.payouts.models import Payout
from apps.payouts.services.destinations import add_wallet
from apps.stores.models import Store
from apps.stores.services import change_store
from apps.webhooks.models import Endpoint
from tests import make
from tests.cast import Api, Cast
from tests.platforms.makers import Platform, refusal

UNKNOWN = "00000000-0000-4000-8000-000000000000"
CALLS = [(route, method) for route in ROUTES for method in route.scopes]
# The agents' own paths take agents' credentials, which are no platform's.
OPEN_TO_KEYS = [
    (route, method)
    for route, method in CALLS
    if PUBLIC not in route.scopes.values() and not route.path.startswith("agentic")
]
CLOSED = [(route, method) for route, method in CALLS if method in route.closed_to_platforms]


def call(api: Api, route: Any, method: str) -> Any:
    path = "/" + route.path
    for name in ("id", "link_id", "reference", "token"):
        path = path.replace(f"<str:{name}>", UNKNOWN)
    return api(
        method,
        path,
        {} if method in ("POST", "PATCH") else None,
        key="one-key" if method == "POST" else None,
    )


def refused_as(answer: Any) -> str | None:
    """The code of a refusal that acting can meet."""
    if answer.status_code != 403:
        return None
    error = answer.json()["error"]
    return str(error["code"]) if isinstance(error, dict) else None


def test_every_path_refuses_an_account_that_is_not_the_platforms(
    platform: Platform, other: Platform
) -> None:
    api = platform.acting(other.sub().id)
    for route, method in OPEN_TO_KEYS:
        refusal(call(api, route, method), 403, "account_not_found")
    for id in (UNKNOWN, str(platform.store.pk), "x", ""):
        refusal(platform.acting(id).get("/payments"), 403, "account_not_found")


def test_closed_paths_refuse_a_platform_that_acts(platform: Platform) -> None:
    api = platform.sub().test
    for route, method in CLOSED:
        answer = call(api, route, method)
        wanted = route.closed_to_platforms[method]
        if route.path.startswith("oauth/"):  # the shape of RFC 6749
            assert (answer.status_code, answer.json()) == (
                403,
                {"error": wanted.code, "error_description": wanted.message},
            )
        else:
            refusal(answer, 403, wanted.code)


def test_every_other_path_lets_a_platform_act(platform: Platform) -> None:
    api = platform.sub().test
    refusals = (
        NotAPlatform.code,
        MayNotIssueCredentials.code,
        "account_not_found",
        "insufficient_scope",
    )
    for route, method in OPEN_TO_KEYS:
        if (route, method) not in CLOSED:
            assert refused_as(call(api, route, method)) not in refusals, (method, route.path)


def test_whatever_issues_or_revokes_credentials_and_every_platform_path_is_closed() -> None:
    issuing = ("api_keys", "merchants/oauth_apps", "oauth/agent_credentials")
    for route, method in CALLS:
        is_platform_path = (
            route.path.startswith("platform/") and PUBLIC not in route.scopes.values()
        )
        is_issuing = route.path.startswith(issuing) and method != "GET"
        assert (method in route.closed_to_platforms) == (is_platform_path or is_issuing), (
            method,
            route.path,
        )


def test_the_call_is_the_sub_merchants(platform: Platform) -> None:
    merchant = platform.sub()
    another = platform.sub()
    made = make.payment(merchant.test)
    assert [item["id"] for item in merchant.test.get("/payments").json()["data"]] == [made["id"]]
    for api in (platform.test, another.test, merchant.live):
        assert api.get(f"/payments/{made['id']}").status_code == 404
        assert api.get("/payments").json()["data"] == []


def test_an_idempotency_key_is_the_sub_merchants_own(platform: Platform) -> None:
    one = platform.sub()
    two = platform.sub()
    ids = {
        make.payment(api, key="same")["id"] for api in (one.test, two.test, platform.test, one.test)
    }
    assert len(ids) == 3


def test_a_store_that_is_no_platform_is_told_so(cast: Cast, platform: Platform) -> None:
    key = cast.strangers.with_scopes("payments:read", "accounts:act")
    key.headers["X-Service-Account"] = platform.sub().id
    refusal(key.get("/payments"), 403, "not_a_platform")


def test_acting_needs_its_scope_and_that_of_the_path(platform: Platform) -> None:
    merchant = platform.sub()
    for scopes, missing in (
        (("payments:read",), "accounts:act"),
        (("accounts:act",), "payments:read"),
    ):
        key = platform.shop.with_scopes(*scopes)
        key.headers["X-Service-Account"] = merchant.id
        error = refusal(key.get("/payments"), 403, "insufficient_scope")
        assert error["message"].startswith(f"Insufficient scope: {missing} required")


def test_a_publishable_key_never_acts(platform: Platform) -> None:
    key = Api(platform.shop.secrets["test_publishable"], **{"X-Service-Account": platform.sub().id})
    refusal(
        key.post("/payments", {"payment_intent": {"amount": "1.00", "currency": "EUR"}}),
        403,
        "insufficient_scope",
    )


def test_public_paths_ignore_the_header(platform: Platform) -> None:
    reference = make.payment(platform.sub().test)["reference"]
    assert Api(None, **{"X-Service-Account": "x"}).get(f"/checkout/{reference}").status_code == 200


# --- payout destinations --------------------------------------------------------------------------


def pay_out(api: Api, address: str) -> Any:
    return make.ask_payout(api, str(10**15), destination_address=address)


def test_a_raw_address_is_refused_while_acting_unless_it_is_a_saved_wallet(
    platform: Platform,
) -> None:
    merchant = platform.sub()
    address = make.fresh_address()
    make.funded(merchant.test)
    add_wallet(platform.store, "test", "sepolia", address)
    add_wallet(merchant.store, "live", "ethereum", address)
    refusal(pay_out(merchant.test, address), 403, "platform_cannot_change_payout_destination")
    assert not Payout.objects.filter(store_id=merchant.id).exists()
    add_wallet(merchant.store, "test", "sepolia", address)
    assert pay_out(merchant.test, address).status_code == 201


def test_staff_may_let_a_platform_pay_out_anywhere(platform: Platform) -> None:
    merchant = platform.sub()
    make.funded(merchant.test)
    change_store(platform.store, platform_may_pay_out=True)
    assert pay_out(merchant.test, make.fresh_address()).status_code == 201


def test_a_schedule_to_a_raw_address_is_refused_while_acting(platform: Platform) -> None:
    merchant = platform.sub()
    fields = {"asset_id": "SETH", "frequency": "weekly"}
    body = {"payout_schedule": {**fields, "destination_address": make.fresh_address()}}
    refusal(
        merchant.test.post("/payout_schedules", body),
        403,
        "platform_cannot_change_payout_destination",
    )
    saved = add_wallet(merchant.store, "test", "sepolia", make.fresh_address())
    made = merchant.test.post(
        "/payout_schedules",
        {"payout_schedule": {**fields, "crypto_payout_detail_id": str(saved.pk)}},
    )
    assert made.status_code == 201
    change = {"payout_schedule": {"destination_address": make.fresh_address()}}
    refusal(
        merchant.test.patch(f"/payout_schedules/{made.json()['id']}", change),
        403,
        "platform_cannot_change_payout_destination",
    )


def test_the_secret_of_a_webhook_may_be_rotated_while_acting(platform: Platform) -> None:
    merchant = platform.sub()
    hook = {
        "webhook_endpoint": {
            "url": "https://1.1.1.1/hook",
            "subscribed_events": ["payment_intent.created"],
        }
    }
    made = merchant.test.post("/webhook_endpoints", hook).json()
    assert (
        merchant.test.post(f"/webhook_endpoints/{made['id']}/rotate_secret").json()[
            "signing_secret"
        ]
        != made["signing_secret"]
    )


HOOK = {"url": "https://1.1.1.1/hook", "subscribed_events": ["payment_intent.created"]}


def test_a_platform_neither_rotates_nor_reads_a_secret_that_its_merchant_made(
    platform: Platform,
) -> None:
    merchant = platform.sub()
    store = Store.objects.get(pk=merchant.id)
    own = Api(create_api_key(store, "test")[1])
    hook = own.post("/webhook_endpoints", {"webhook_endpoint": HOOK}).json()
    shop = {"webhook_endpoint": {**HOOK, "platform": "woocommerce"}}
    integration = own.post("/webhook_endpoints", shop).json()
    sealed = list(Endpoint.objects.order_by("pk").values_list("secret_preview", flat=True))

    for answer in (
        merchant.test.post(f"/webhook_endpoints/{hook['id']}/rotate_secret"),
        merchant.test.post(f"/webhook_endpoints/{integration['id']}/rotate_secret"),
        merchant.test.post("/webhook_endpoints", shop),
    ):
        refusal(answer, 403, "platform_cannot_issue_credentials")
        assert "whsec_" not in answer.text
    assert list(Endpoint.objects.order_by("pk").values_list("secret_preview", flat=True)) == sealed


def test_a_secret_that_the_merchant_replaced_is_the_platforms_no_more(platform: Platform) -> None:
    merchant = platform.sub()
    own = Api(create_api_key(Store.objects.get(pk=merchant.id), "test")[1])
    made = merchant.test.post("/webhook_endpoints", {"webhook_endpoint": HOOK}).json()
    assert own.post(f"/webhook_endpoints/{made['id']}/rotate_secret").status_code == 200
    again = merchant.test.post(f"/webhook_endpoints/{made['id']}/rotate_secret")
    refusal(again, 403, "platform_cannot_issue_credentials")
