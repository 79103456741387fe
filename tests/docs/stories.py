"""One story per part of the API: together they call every operation once, with the requests that
the reference shows."""

import base64
import hashlib
from collections.abc import Callable
from typing import Any

from apps.access import request_log
from apps.assets.models import Asset
from apps.chain.models import UnmatchedTransfer
from apps.core.clock import real_now
from apps.payouts.services.destinations import add_bank
from apps.payouts.services.progress import advance_payout
from apps.reports.services.generate import generate_due
from apps.stores.models import Store
from apps.stores.services import change_store
from apps.stores.settings import write_settings
from apps.swaps.services.progress import advance_swaps
from apps.webhooks.models import Delivery
from tests import make
from tests.billing.sellers import verify
from tests.cast import Api, Cast, Shop
from tests.dashboard.browse import Browser, next_code
from tests.docs.recorder import Recorder
from tests.docs.stories_of_invoices import deliveries, invoices
from tests.platforms.makers import VERIFICATION

# An address that needs no name server; it is shown as shop.example.
PUBLIC = "https://1.1.1.1/hook"
TO = "0x52908400098527886E0F7030069857D2E4169EE7"
BACK = "https://app.example/callback"
VERIFIER = "v" * 64
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)
ORDER = {
    "amount": "24.90",
    "currency": "EUR",
    "title": "Two bags of coffee",
    "order_id": "A-1001",
    "success_url": "https://shop.example/thanks",
    "metadata": {"customer": "4711"},
}


def payments(tell: Recorder, shop: Shop) -> None:
    api = shop.test
    make.paid(api, amount="100.00")  # a refund takes the fees that were kept as well
    made = tell(api, "POST", "/payments", {"payment_intent": ORDER}, key="order-1001")
    tell(Api(), "GET", "/checkout/{reference}", reference=made["reference"])
    tell(api, "POST", "/payments/{id}/simulated_payments", {"scenario": "exact"}, id=made["id"])
    tell(api, "GET", "/payments", query="?status=completed&per_page=2")
    tell(api, "GET", "/payments/summary")
    tell(api, "GET", "/payments/{id}", id=made["id"])
    tell(api, "GET", "/payments/{id}/events", id=made["id"])
    short = make.payment(api)["id"]
    make.simulated(api, short, "underpaid")
    tell(api, "POST", "/payments/{id}/extend", {"expires_in": 7200}, id=short)
    tell(api, "POST", "/payments/{id}/accept_shortfall", id=short)
    other = make.payment(api)["id"]
    transfer = make.stray_transfer(other)
    tx_hash = UnmatchedTransfer.objects.get(pk=transfer).tx_hash
    tell(api, "POST", "/payments/{id}/accept_transaction", {"tx_hash": tx_hash}, id=other)
    tell(api, "POST", "/payments/{id}/cancel", id=make.payment(api)["id"])
    tell(api, "GET", "/payments/{id}/invoice", id=made["id"])
    tell(api, "GET", "/payment_intents/{id}/reconciliation", id=made["id"])
    tell(
        api,
        "POST",
        "/payments/{id}/refunds",
        {"refund": {"destination_address": TO}},
        id=made["id"],
        key="refund-1001",
    )
    tell(api, "GET", "/payments/{id}/refunds", id=made["id"])
    tell(api, "GET", "/payment_currencies")
    tell(api, "GET", "/supported_assets")
    tell(api, "GET", "/balances")
    tell(api, "GET", "/test_clock")
    tell(api, "POST", "/test_clock/advance", {"seconds": 3600})


def clock_under_way(tell: Recorder, shop: Shop) -> None:
    tell(shop.test, "POST", "/test_clock/advance", {"seconds": 3 * 86400}, beside=True)


def callbacks_of_offramps(tell: Recorder, sign: Callable[[bytes], str]) -> None:
    body = b'{"id": "evt_1", "reference": "01a22b3c-171a-78ae-b99b-42febc839a1c-0"}'
    headers = {"Offramp-Signature": sign(body)}
    tell(Api(), "POST", "/offramp_callbacks", body, headers=headers)


def callbacks_of_onramps(
    tell: Recorder, credential: str, body: bytes, headers: dict[str, str]
) -> None:
    tell(Api(), "POST", "/onramp_callbacks/{id}", body, headers=headers, id=credential)


def reports(tell: Recorder, shop: Shop) -> None:
    api = shop.test
    last = tell(api, "GET", "/reports")["available_through"]
    query = f"?start_date={last}&end_date={last}"
    for name in ("accounting_transactions", "merchant_statement", "tax_report"):
        tell(api, "GET", f"/reports/{name}", query=query, beside=True)
        generate_due()
        tell(api, "GET", f"/reports/{name}", query=query)


def swaps(tell: Recorder, shop: Shop) -> None:
    make.swapped(shop, key="first")
    body = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": "10000000000000000",
    }
    tell(shop.test, "POST", "/balance_swaps/quote", body)
    made = tell(shop.test, "POST", "/balance_swaps", body, key="swap-1")
    advance_swaps()
    tell(shop.test, "GET", "/balance_swaps/{id}", id=made["id"])
    tell(shop.test, "GET", "/balance_swaps", query="?per_page=2")


def payouts(tell: Recorder, shop: Shop) -> None:
    api = shop.test
    Asset.objects.filter(pk="USDC_SETH").update(
        is_active=True, is_fiat_eligible=True, contract_address="0x" + "c" * 40
    )
    change_store(shop.store, kyc_confirmed_at=real_now())
    make.store_coins(shop.store, "USDC_SETH", 100_000_000)
    make.funded(api)
    account = str(
        add_bank(
            shop.store,
            "test",
            currency="EUR",
            holder="Alice",
            account="DE89370400440532013000",
            is_verified=True,
        ).pk
    )
    quote = {"asset_id": "USDC_SETH", "amount_atomic": "2000000", "fiat_payout_detail_id": account}
    tell(api, "POST", "/payouts/quote", quote)
    body = {"asset_id": "SETH", "amount_atomic": "1000000000000000", "destination_address": TO}
    made = tell(api, "POST", "/payouts", body, key="rent-10")
    tell(api, "GET", "/payouts", query="?per_page=2")
    tell(api, "GET", "/payouts/{id}", id=made["id"])
    failed = make.payout(api, 2_009_004, asset_id="USDC_SETH", fiat_payout_detail_id=account)
    advance_payout(failed["id"])
    tell(api, "POST", "/payouts/{id}/retry", id=failed["id"])
    schedule = {
        "asset_id": "SETH",
        "frequency": "weekly",
        "destination_address": TO,
        "minimum_fiat_cents": 5000,
    }
    plan = tell(api, "POST", "/payout_schedules", {"payout_schedule": schedule})
    tell(api, "GET", "/payout_schedules")
    tell(api, "GET", "/payout_schedules/{id}", id=plan["id"])
    tell(
        api,
        "PATCH",
        "/payout_schedules/{id}",
        {"payout_schedule": {"frequency": "monthly"}},
        id=plan["id"],
    )
    tell(api, "POST", "/payout_schedules/{id}/run", id=plan["id"])
    tell(api, "DELETE", "/payout_schedules/{id}", id=plan["id"])


def webhooks(tell: Recorder, shop: Shop) -> None:
    api = shop.test
    body = {
        "url": PUBLIC,
        "subscribed_events": ["payment_intent.completed", "payment_intent.failed"],
    }
    made = tell(api, "POST", "/webhook_endpoints", {"webhook_endpoint": body})
    one = made["id"]
    tell(api, "GET", "/webhook_endpoints")
    tell(api, "GET", "/webhook_endpoints/{id}", id=one)
    tell(
        api,
        "PATCH",
        "/webhook_endpoints/{id}",
        {"webhook_endpoint": {"description": "Orders"}},
        id=one,
    )
    tell(api, "POST", "/webhook_endpoints/{id}/rotate_secret", id=one)
    make.paid(api)
    tell(api, "PATCH", "/webhook_endpoints/{id}/disable", id=one)
    tell(api, "PATCH", "/webhook_endpoints/{id}/enable", id=one)
    delivery = Delivery.objects.get(endpoint=one)
    tell(
        api, "POST", "/webhook_endpoints/{id}/redeliver", {"delivery_id": str(delivery.pk)}, id=one
    )
    tell(
        api,
        "POST",
        "/webhook_endpoints/{id}/resend_missed",
        {"since": "2026-11-01T00:00:00Z"},
        id=one,
    )
    tell(
        api,
        "POST",
        "/webhook_endpoints/{id}/send_test",
        {"event_type": "payment_intent.completed"},
        id=one,
    )
    tell(api, "DELETE", "/webhook_endpoints/{id}", id=one)
    tell(api, "GET", "/events", query="?per_page=2")
    request_log.flush()
    tell(api, "GET", "/request_log", query="?per_page=2")


def cards(tell: Recorder, shop: Shop) -> None:
    change_store(
        shop.store,
        country="DE",
        card_funding_live=True,
        card_funding_test=True,
        accept_overpayments=False,
    )
    made = make.payment(shop.test, amount="49.00")
    reference = made["reference"]
    ways = tell(
        Api(),
        "GET",
        "/checkout/{reference}/onramp/payment_methods",
        query="?country=DE",
        reference=reference,
    )
    assert ways
    chosen = {"payment_method_id": "sandbox.card", "country": "DE"}
    tell(Api(), "POST", "/checkout/{reference}/onramp_sessions", chosen, reference=reference)


def taxes(tell: Recorder, shop: Shop) -> None:
    api = shop.test
    wanted = {"name": "VAT 19%", "category": "S", "rate_bps": 1900}
    rate = tell(api, "POST", "/billing/tax_rates", {"tax_rate": wanted})["id"]
    tell(api, "GET", "/billing/tax_rates")
    tell(api, "GET", "/billing/tax_rates/{id}", id=rate)
    tell(api, "PATCH", "/billing/tax_rates/{id}", {"tax_rate": {"name": "VAT"}}, id=rate)
    tell(api, "GET", "/billing/tax_settings")
    usual = {"tax_rate_id": rate, "is_automatic": True, "supply_type": "digital"}
    tell(api, "PATCH", "/billing/tax_settings", {"tax_settings": usual})
    tell(api, "GET", "/billing/document_settings")
    numbers = {"invoice_prefix": "RE-", "credit_note_prefix": "GS-", "restarts_yearly": True}
    tell(api, "PATCH", "/billing/document_settings", {"document_settings": numbers})
    buyer = {"email": "buyer@example.com", "country": "FR", "vat_number": "FR40303265045"}
    customer = api.post("/billing/customers", {"customer": buyer}).json()["id"]
    tell(api, "POST", "/billing/customers/{id}/vat_checks", id=customer)
    tell(api, "GET", "/billing/customers/{id}/vat_checks", id=customer)


def billing(tell: Recorder, shop: Shop) -> None:
    api = shop.test
    product = tell(api, "POST", "/billing/products", {"product": {"name": "Beans, every month"}})[
        "id"
    ]
    tell(api, "GET", "/billing/products")
    tell(api, "GET", "/billing/products/{id}", id=product)
    tell(
        api,
        "PATCH",
        "/billing/products/{id}",
        {"product": {"description": "A kilogram"}},
        id=product,
    )
    wanted = {"unit_amount_cents": 1500, "currency": "EUR", "interval": "monthly"}
    prices = "/billing/products/{product_id}/prices"
    price = tell(api, "POST", prices, {"price": wanted}, product_id=product)["id"]
    tell(api, "GET", prices, product_id=product)
    for method, tail in (("GET", ""), ("POST", "/archive"), ("POST", "/activate")):
        tell(api, method, prices + "/{id}" + tail, product_id=product, id=price)
    person = {
        "email": "ann@example.com",
        "name": "Ann",
        "address": {"line1": "Main Street 1", "city": "Berlin", "country": "DE"},
    }
    customer = tell(api, "POST", "/billing/customers", {"customer": person})["id"]
    tell(api, "GET", "/billing/customers")
    tell(api, "GET", "/billing/customers/{id}", id=customer)
    tell(
        api,
        "PATCH",
        "/billing/customers/{id}",
        {"customer": {"phone": "+49 30 123456"}},
        id=customer,
    )
    _subscriptions(tell, api, customer, price)
    verify(shop.store)
    invoices(tell, api, customer)
    deliveries(tell, api)
    other = api.post("/billing/customers", {"customer": {"email": "bob@example.com"}}).json()["id"]
    tell(api, "DELETE", "/billing/customers/{id}", id=other)


def _subscriptions(tell: Recorder, api: Api, customer: str, price: str) -> None:
    path = "/billing/subscriptions"
    wanted = {"customer_id": customer, "price_id": price, "quantity": 2, "trial_period_days": 14}
    one = tell(api, "POST", path, {"subscription": wanted})["id"]
    tell(api, "GET", path)
    tell(api, "GET", path + "/{id}", id=one)
    tell(api, "PATCH", path + "/{id}", {"subscription": {"quantity": 3}}, id=one)
    tell(api, "POST", path + "/{id}/cancel", {"at_period_end": True}, id=one)
    tell(api, "POST", path + "/{id}/uncancel", id=one)
    active = api.post(path, {"subscription": {"customer_id": customer, "price_id": price}}).json()[
        "id"
    ]
    for act in ("pause", "resume"):
        tell(api, "POST", path + "/{id}/" + act, id=active)


def platforms(tell: Recorder, shop: Shop, api: Api) -> None:
    """`api` has every scope; the store isn't a platform yet."""
    tell(api, "POST", "/platform/access_request", {"reason": "A market hall with forty stalls"})
    tell(api, "GET", "/platform/access_request")
    change_store(shop.store, is_platform=True, platform_fee_fraction=None)
    path = "/platform/accounts"
    account = {
        "name": "Corner Shop",
        "external_id": "stall-7",
        "platform_fee_percentage": "0.015",
        "country": "DE",
    }
    one = tell(api, "POST", path, {"account": account})["id"]
    tell(api, "GET", path)
    tell(api, "GET", path + "/{id}", id=one)
    tell(api, "PATCH", path + "/{id}", {"account": {"name": "Corner Shop & Café"}}, id=one)
    seller = {
        "legal_name": "Corner Shop GmbH",
        "street": "Hauptstr. 1",
        "postal_code": "10117",
        "city": "Berlin",
        "vat_number": "DE136695976",
        "time_zone": "Europe/Berlin",
    }
    tell(api, "PATCH", path + "/{id}/seller", {"seller": seller}, id=one)
    tell(api, "GET", path + "/{id}/seller", id=one)
    tell(api, "POST", path + "/{id}/verification", VERIFICATION, id=one)
    link = tell(
        api,
        "POST",
        path + "/{id}/onboarding_links",
        {"purpose": "onboarding", "return_url": "https://market.example/back"},
        id=one,
    )
    tell(api, "GET", path + "/{id}/onboarding_links/{link_id}", id=one, link_id=link["id"])
    tell(Api(), "GET", "/platform/onboarding_links/{token}", token=link["url"].rsplit("/", 1)[1])
    change_store(Store.objects.get(pk=one), kyc_confirmed_at=real_now())
    tell(api, "GET", "/platform/overview")
    tell(api, "GET", "/platform/payments")
    tell(api, "DELETE", path + "/{id}", id=one)
    tell(api, "POST", path + "/{id}/restore", id=one)


def agents(tell: Recorder, shop: Shop) -> None:
    write_settings(shop.store, {"authorization_provider": "policy"})
    make.paid(shop.test, amount="500.00")
    api = Api(shop.secrets["test_agent"])
    for name in ("account", "balances", "exchange_rates", "tokens", "payout_limits"):
        tell(api, "GET", f"/agentic/{name}")
    tell(Api(), "GET", "/agentic/market_data", query="?symbol_or_id=ETH")
    order = {"payment_intent": {"amount": "5.00", "currency": "EUR", "order_id": "report-7"}}
    made = tell(api, "POST", "/agentic/payments", order)["id"]
    tell(api, "GET", "/agentic/payments")
    tell(api, "GET", "/agentic/payments/{id}", id=made)
    make.simulated(shop.test, made)
    tell(api, "POST", "/agentic/payments/{id}/refunds", {}, id=made, key="refund-7")
    tell(api, "GET", "/agentic/payments/{id}/refunds", id=made)
    other = api.post("/agentic/payments", order).json()["id"]
    tell(api, "POST", "/agentic/payments/{id}/cancel", id=other)
    tell(api, "PATCH", "/agentic/tokens/{id}", {"active": True}, id="SETH")
    mandate = {"asset_id": "SETH", "total_cap_atomic": "1000000", "mandate_ref": "research"}
    one = tell(api, "POST", "/agentic/mandates", mandate)["id"]
    tell(api, "GET", "/agentic/mandates")
    tell(api, "GET", "/agentic/mandates/{id}", id=one)
    draw = {"asset_id": "SETH", "mandate_ref": "research", "amount_atomic": "1000", "pay_to": TO}
    settled = tell(api, "POST", "/agentic/x402/settlements", draw, key="call-1")["id"]
    tell(api, "GET", "/agentic/x402/settlements")
    tell(api, "GET", "/agentic/x402/settlements/{id}", id=settled)
    payout = {"asset_id": "SETH", "amount_atomic": "1000000000000000", "destination_address": TO}
    sent = tell(api, "POST", "/agentic/payouts", payout, key="tool-1")["id"]
    tell(api, "GET", "/agentic/payouts")
    tell(api, "GET", "/agentic/payouts/{id}", id=sent)


def people(tell: Recorder, cast: Cast) -> None:
    """A signed-in person's story, and the app that they authorize."""
    alice = Browser(cast.alice).prove().client
    wanted = {"name": "Shop", "mode": "test", "scopes": ["payments:read", "payments:write"]}
    key = tell(alice, "POST", "/api_keys", {"api_key": wanted}, code=next_code(cast.alice))["id"]
    tell(alice, "GET", "/api_keys")
    tell(alice, "DELETE", "/api_keys/{id}", id=key)
    path = "/merchants/oauth_apps"
    scopes = ["payments:read", "profile", "agents:write", "offline_access"]
    about = {"name": "Bookkeeper", "redirect_uris": [BACK], "scopes": scopes}
    app = tell(alice, "POST", path, {"oauth_application": about})
    tell(alice, "GET", path)
    tell(alice, "GET", path + "/{id}", id=app["id"])
    tell(
        alice,
        "PATCH",
        path + "/{id}",
        {"oauth_application": {"website_url": "https://books.example"}},
        code=next_code(cast.alice),
        id=app["id"],
    )
    code = next_code(cast.alice)
    rotated = tell(alice, "POST", path + "/{id}/rotate_secret", code=code, id=app["id"])
    _oauth(tell, cast, alice, app["client_id"], rotated["client_secret"])
    tell(alice, "DELETE", path + "/{id}", id=app["id"])


def _oauth(tell: Recorder, cast: Cast, alice: Any, client_id: str, secret: str) -> None:
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": BACK,
        "scope": "payments:read profile agents:write offline_access",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "state": "af0ifjsldkj",
    }
    query = "?" + "&".join(f"{name}={value.replace(' ', '+')}" for name, value in asked.items())
    tell(alice, "GET", "/oauth/authorize", query=query)
    decision = {**asked, "store_id": str(cast.bakery.store.pk), "decision": "allow"}
    proof = next_code(cast.alice)
    back = tell(alice, "POST", "/oauth/authorize", decision, code=proof)["redirect_to"]
    code = back.partition("code=")[2].partition("&")[0]
    app = {"client_id": client_id, "client_secret": secret}
    exchange = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": BACK,
        "code_verifier": VERIFIER,
        **app,
    }
    tokens = tell(Api(), "POST", "/oauth/token", exchange)
    api = Api(tokens["access_token"])
    tell(api, "GET", "/oauth/userinfo")
    tell(api, "POST", "/oauth/agent_credentials", {"scopes": ["payments:read"]})
    tell(Api(), "POST", "/oauth/revoke", {"token": tokens["refresh_token"], **app})


def x402(tell: Recorder, market: Any) -> None:
    wanted = {
        "asset_id": "USDC_SETH",
        "amount_atomic": "2500000",
        "resource": "https://shop.example/report",
    }
    asked = tell(market.api, "POST", "/x402/requirements", wanted, key="report-7")
    price = {"amount": "5.00", "currency": "EUR", "resource": "https://shop.example/report"}
    tell(market.api, "POST", "/x402/offers", price)
    tell(market.api, "GET", "/x402/supported")
    body = market.payer.signed(asked)
    tell(market.api, "POST", "/x402/verify", body)
    market.settle(body)
    market.send()
    market.bury()
    tell(market.api, "POST", "/x402/settle", body)


def wallet(tell: Recorder, shop: Shop) -> None:
    made = make.payment(shop.test)
    tell(
        shop.test,
        "POST",
        "/payments/{id}/test_payments",
        {"amount_atomic": "1000000000000000"},
        id=made["id"],
    )
