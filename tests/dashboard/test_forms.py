"""Every form of the dashboard: what is wrong stands at its input, is tied to it for a screen
reader, and has the focus."""

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import pytest
from django.core import mail as django_mail

from apps.access import oauth_apps, recovery, second_factor, sign_up
from apps.access.access import Access
from apps.access.requests import AppRequest
from apps.access.services import create_agent_credential
from apps.assets.models import Asset
from apps.core import mail
from apps.dashboard.urls import PAGES
from apps.payouts.requests import ScheduleRequest
from apps.payouts.services.destinations import add_wallet
from apps.payouts.services.schedules import create_schedule
from apps.stores.models import Member
from tests import make
from tests.billing import records as billing
from tests.cast import PASSWORD, Cast
from tests.dashboard import test_sign_up as sign_ups
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_verification import FORM as BUSINESS
from tests.links.makers import made_link
from tests.payouts.two_people import MUCH, held_of, two_people
from tests.platforms.conftest import platform_of
from tests.platforms.makers import VERIFICATION

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
Fields = Mapping[str, Any]
EVENTS = ["payment_intent.completed"]


@dataclass
class World:
    """Alice with her app and a fresh code, and a store that has something of everything."""

    cast: Cast
    alice: Browser = field(init=False)

    def __post_init__(self) -> None:
        self.alice = Browser(self.cast.alice).prove()

    @property
    def api(self) -> Any:
        return self.cast.bakery.test

    @property
    def access(self) -> Access:
        return self.cast.bakery.owner_access("test")

    def rich(self) -> "World":
        Asset.objects.filter(pk="USDC_SETH").update(
            contract_address="0x" + "01" * 20, is_active=True
        )
        make.store_coins(self.cast.bakery.store, "SETH", 10**18)
        return self

    def destination(self) -> str:
        return f"wallet:{add_wallet(self.cast.bakery.store, 'test', 'sepolia', WALLET).pk}"

    def schedule(self) -> str:
        self.destination()
        asked = ScheduleRequest(asset_id="SETH", frequency="weekly", destination_address=WALLET)
        return f"payouts/schedules/{create_schedule(self.access, asked).pk}/change"

    def held(self) -> str:
        two = two_people(self.cast)
        return f"approvals/{held_of(make.payout(two.key, MUCH)['id']).pk}/reject"

    def app(self) -> str:
        shop = self.cast.bakery
        asked = AppRequest(
            name="App", redirect_uris=["https://a.example"], scopes=["payments:read"]
        )
        return f"apps/own/{oauth_apps.create_app(shop.store, self.cast.alice, asked)[0].pk}"

    def agent(self) -> str:
        agent = create_agent_credential(self.cast.bakery.store, "test", name="Bot")[0]
        return f"agents/{agent.pk}/caps"

    def endpoint(self) -> str:
        made = self.api.post(
            "/webhook_endpoints",
            {"webhook_endpoint": {"url": "https://1.1.1.1/", "subscribed_events": EVENTS}},
        )
        return f"webhooks/{made.json()['id']}/resend"

    def invitation(self) -> str:
        self.alice.post("team/invite", email="dora@example.com", role="developer")
        return _link("dora@example.com", "join")

    def reset(self) -> str:
        recovery.ask(self.cast.alice.email, "203.0.113.9")
        return _link(self.cast.alice.email, "reset")

    def transfer(self) -> str:
        return f"transfers/{make.stray_transfer(make.payment(self.api)['id'])}/accept"

    def account(self, page: str = "") -> str:
        return f"platform/accounts/{platform_of(self.cast.bakery).sub(kyc=False).id}{page}"

    def platform(self) -> str:
        platform_of(self.cast.bakery)
        return "platform/accounts/new"


def _link(to: str, page: str) -> str:
    mail.send_due()
    letter = [one for one in django_mail.outbox if one.to == [to]][-1]
    found = re.search(rf"/dashboard/{page}/\S+", letter.body)
    assert found is not None
    return found.group()


def at(path: str) -> Callable[[World], str]:
    return lambda world: path


def visitor(world: World) -> Browser:
    return Browser()


def half_signed_in(world: World) -> Browser:
    browser = Browser()
    browser.post("sign-in", email=world.cast.alice.email, password=PASSWORD)
    return browser


def without_app(world: World) -> Browser:
    return Browser(world.cast.bob)


@dataclass(frozen=True)
class Broken:
    """A form with something wrong: where it is sent to, with what, and at which input it is
    said."""

    page: str
    path: Callable[[World], str]
    fields: Fields | Callable[[World], Fields]
    name: str
    sentence: str
    status: int = 422
    who: Callable[[World], Browser] = lambda world: world.alice
    is_get: bool = False

    def sent(self, world: World) -> Any:
        path = self.path(world)
        fields = self.fields(world) if callable(self.fields) else self.fields
        browser = self.who(world)
        if self.is_get:
            return browser.get(path, data=fields)
        return browser.post(path, **{"form_key": uuid.uuid4().hex, **fields})


def schedule_fields(**changed: str) -> Callable[[World], Fields]:
    usual = {"asset_id": "SETH", "frequency": "weekly", "minimum_fiat_currency": "EUR"}
    return lambda world: {**usual, "destination": world.rich().destination(), **changed}


SWAP = {"source_asset_id": "SETH", "buy_asset_id": "USDC_SETH", "amount": "0.1"}
APP = {"name": "App", "redirect_uris": "https://a.example", "scopes": ["payments:read"]}
BANK = {"currency": "EUR", "holder": "Alice", "account": "DE89370400440532013000"}
DAYS = {
    "report_type": "merchant_statement",
    "format": "pdf",
    "start_date": "2026-01-01",
    "end_date": "2026-01-31",
}
INVOICE = {
    "save": "1",
    "currency": "EUR",
    "due": "2027-01-31",
    "line_description": "Bread",
    "line_quantity": "1",
    "line_amount": "10",
}
PRICE = {"unit_amount": "10", "currency": "EUR", "interval": "monthly", "interval_count": "1"}
LINK = {
    "title": "Mug",
    "kind": "fixed",
    "amount": "12",
    "currency": "EUR",
    "email": "no",
    "name": "no",
}
HOURS = "Choose from 0 to 72 hours."

BROKEN = [
    Broken(
        "sign_in",
        at("sign-in"),
        {"email": "alice@example.com", "password": "no"},
        "password",
        "That email address and password don't belong together.",
        401,
        visitor,
    ),
    Broken(
        "sign_in_code",
        at("sign-in/code"),
        {"code": "000"},
        "code",
        second_factor.WrongCode.message,
        422,
        half_signed_in,
    ),
    Broken("stepup", at("confirm"), {"code": "000"}, "code", second_factor.WrongCode.message),
    Broken(
        "sign_up",
        at("sign-up"),
        {"email": "nobody"},
        "email",
        "The email address is not valid.",
        422,
        visitor,
    ),
    Broken(
        "sign_up_code",
        at("sign-up/code"),
        {"code": "000"},
        "code",
        "That code is wrong or has expired. Check your email, or request a new code.",
        422,
        lambda world: sign_ups.asked(),
    ),
    Broken(
        "sign_up_store",
        at("sign-up/store"),
        {**sign_ups.FORM, "password": "short"},
        "password",
        "This password is too short. It must contain at least 10 characters.",
        422,
        lambda world: sign_ups.proved(),
    ),
    Broken(
        "another_store",
        at("stores/new"),
        {"name": "", "settlement_currency": "EUR"},
        "name",
        "The store name is required.",
    ),
    Broken(
        "reset",
        World.reset,
        {"password": "short"},
        "password",
        "This password is too short. It must contain at least 10 characters.",
        422,
        visitor,
    ),
    Broken(
        "join",
        World.invitation,
        {"name": "x" * 101, "password": "a long enough sentence"},
        "name",
        "A name has at most 100 characters, and none that can't be stored.",
        422,
        visitor,
    ),
    Broken(
        "join",
        World.invitation,
        {"name": "Dora", "password": "short"},
        "password",
        "This password is too short. It must contain at least 10 characters.",
        422,
        visitor,
    ),
    Broken(
        "security_enrol",
        at("security/authenticator"),
        {"code": "000000", "password": "no"},
        "password",
        "Your current password is incorrect.",
        422,
        without_app,
    ),
    Broken(
        "security_enrol",
        at("security/authenticator"),
        {"code": "000", "password": PASSWORD},
        "code",
        second_factor.WrongCode.message,
        422,
        without_app,
    ),
    Broken(
        "security_email",
        at("security/email"),
        {"email": "nobody", "password": PASSWORD},
        "email",
        "That is not an email address.",
    ),
    Broken(
        "security_email",
        at("security/email"),
        {"email": "new@example.com", "password": "no"},
        "password",
        "Your current password is incorrect.",
    ),
    Broken(
        "security_password",
        at("security/password"),
        {"old": "no", "new": "a long enough sentence"},
        "old",
        "Your current password is incorrect.",
    ),
    Broken(
        "security_password",
        at("security/password"),
        {"old": PASSWORD, "new": "short"},
        "new",
        "This password is too short. It must contain at least 10 characters.",
    ),
    Broken(
        "passkey_add",
        at("security/passkeys/new"),
        {"name": "", "passkey": "{}"},
        "name",
        "A name has 1 to 60 characters.",
    ),
    Broken(
        "member_invite",
        at("team/invite"),
        {"email": "nobody", "role": "developer"},
        "email",
        "That is not an email address.",
    ),
    Broken(
        "member_invite",
        at("team/invite"),
        {"email": "dora@example.com", "role": "king"},
        "role",
        "Choose one of the roles.",
    ),
    Broken(
        "member_role",
        lambda world: f"team/{world.cast.bob.pk}/role",
        {"role": "king"},
        "role",
        "Choose one of the roles.",
    ),
    Broken(
        "key_create",
        at("api-keys/new"),
        {"name": "", "key_type": "secret"},
        "name",
        "Name can't be blank.",
    ),
    Broken(
        "key_create",
        at("api-keys/new"),
        {"name": "Shop", "key_type": "golden"},
        "key_type",
        "Key_type must be secret or publishable.",
    ),
    Broken(
        "key_create",
        at("api-keys/new"),
        {"name": "Shop", "key_type": "secret", "scopes": ["a", "b"]},
        "scopes",
        "Scopes contains unknown scopes: a, b.",
    ),
    Broken(
        "oauth_app_create", at("apps/own/new"), {**APP, "name": ""}, "name", "Name can't be blank."
    ),
    Broken(
        "oauth_app_create",
        at("apps/own/new"),
        {**APP, "scopes": []},
        "scopes",
        "Choose at least one scope.",
    ),
    Broken(
        "oauth_app_create",
        at("apps/own/new"),
        {**APP, "redirect_uris": "https://a.example ftp://b"},
        "redirect_uris",
        "Redirect URIs must be a valid URL.",
    ),
    Broken(
        "oauth_app",
        World.app,
        {**APP, "website_url": "nowhere"},
        "website_url",
        "Website must be a valid URL.",
    ),
    Broken(
        "settings_store", at("settings/store"), {"name": ""}, "name", "The store name is required."
    ),
    Broken(
        "settings_store",
        at("settings/store"),
        {"name": "A", "website": "nowhere"},
        "website",
        "The website must be a valid URL.",
    ),
    Broken(
        "settings_store_close",
        at("settings/store/close"),
        {"name": "Another"},
        "name",
        "Type the store's name exactly as it is shown.",
    ),
    Broken(
        "security_close",
        lambda world: (
            Member.objects.filter(user=world.cast.bob).update(role="owner") and "security/close"
        ),
        {"password": "not it at all"},
        "password",
        "Your current password is incorrect.",
    ),
    Broken(
        "settings_embedding",
        at("settings/embedding"),
        {"origins": "https://a.example/shop"},
        "origins",
        "Each line must be an origin such as https://shop.example.com, without a path.",
    ),
    Broken(
        "verification",
        at("verification"),
        {**BUSINESS, "street": ""},
        "street",
        "The street is required.",
    ),
    Broken("verification_upload", at("verification/documents"), {}, "document", "Choose a file."),
    Broken(
        "profile",
        at("profile"),
        {"name": "Alice", "time_zone": "Mars/Olympus", "language": "en"},
        "time_zone",
        "Choose a time zone from the list.",
    ),
    Broken(
        "profile",
        at("profile"),
        {"name": "Alice", "language": "en", "region": "tlh"},
        "region",
        "Choose a format from the list.",
    ),
    Broken(
        "settings",
        at("settings"),
        {"settlement_currency": "EUR", "support_email": "nobody"},
        "support_email",
        "The support email is not an email address.",
    ),
    Broken(
        "settings",
        at("settings"),
        {"settlement_currency": "XXX"},
        "settlement_currency",
        "Unsupported settlement currency: XXX.",
    ),
    Broken(
        "settings_branding",
        at("settings/branding"),
        {"primary_color": "#0a6b4c", "secondary_color": "red"},
        "secondary_color",
        "A colour is # and six hexadecimal digits, such as #0a6b4c.",
    ),
    Broken(
        "settings_logo",
        at("settings/logo"),
        {},
        "logo",
        "The logo must be a PNG, JPEG, WebP or GIF picture.",
    ),
    Broken(
        "settings_domain_change",
        at("settings/domain/change"),
        {"domain": "a b"},
        "domain",
        "Enter a domain name such as pay.example.com.",
    ),
    Broken(
        "settings_account_codes",
        at("settings/account-codes"),
        {"fees": "1" * 21},
        "fees",
        "Processing fees is too long (maximum is 20 characters).",
    ),
    Broken("settings_cooling", at("settings/cooling"), {"hours": "100"}, "hours", HOURS),
    Broken("settings_cooling", at("settings/cooling"), {"hours": "soon"}, "hours", HOURS),
    Broken(
        "test_clock",
        at("test-clock"),
        {"amount": "soon", "unit": "days"},
        "amount",
        "Enter a whole number from 1 to 9,999.",
    ),
    Broken(
        "settings_approvals",
        at("settings/approvals"),
        {"above": "much"},
        "above",
        "Enter the amount as a number such as 1000 or 1000.00.",
    ),
    Broken(
        "settings_auto_swap",
        at("settings/auto-swap"),
        lambda world: {"target_asset_id": "NOPE"} if world.rich() else {},
        "target_asset_id",
        "Choose one of the stablecoins offered.",
    ),
    Broken(
        "payout_create",
        lambda world: world.rich() and "payouts/new",
        {"asset_id": "SETH", "amount": "x", "destination_address": WALLET},
        "amount",
        "Amount must be a decimal number of coins with at most 18 places.",
    ),
    Broken("payout_batch_create", at("payouts/batches/new"), {}, "file", "Choose a CSV file."),
    Broken(
        "payout_wallet_add",
        at("payouts/destinations/wallet"),
        {"network": "sepolia", "address": "0x1"},
        "address",
        "Destination address is not valid for Ethereum Sepolia.",
    ),
    Broken(
        "payout_wallet_add",
        at("payouts/destinations/wallet"),
        {"network": "moon", "address": WALLET},
        "network",
        "Network is not supported.",
    ),
    Broken(
        "payout_bank_add",
        at("payouts/destinations/bank"),
        {**BANK, "account": "DE00"},
        "account",
        "That is not an account number.",
    ),
    Broken(
        "payout_bank_add",
        at("payouts/destinations/bank"),
        {**BANK, "holder": ""},
        "holder",
        "Name the holder of the account.",
    ),
    Broken(
        "payout_schedule_create",
        at("payouts/schedules/new"),
        schedule_fields(frequency="hourly"),
        "frequency",
        "Frequency must be daily, weekly or monthly.",
    ),
    Broken(
        "payout_schedule_create",
        at("payouts/schedules/new"),
        schedule_fields(destination="wallet:x"),
        "destination",
        "Payout detail not found.",
    ),
    Broken(
        "payout_schedule_create",
        at("payouts/schedules/new"),
        schedule_fields(minimum="much"),
        "minimum",
        "Minimum must be a decimal string with at most 2 decimals.",
    ),
    Broken(
        "payout_schedule_create",
        at("payouts/schedules/new"),
        schedule_fields(swap_target_asset_id="SETH"),
        "swap_target_asset_id",
        "Source and buy asset must differ.",
    ),
    Broken(
        "payout_schedule_change",
        World.schedule,
        {"frequency": "weekly", "next_day": "2020-01-01"},
        "next_day",
        "The day must be in the future.",
    ),
    Broken("approval_reject", World.held, {"reason": ""}, "reason", "A rejection needs a reason."),
    Broken(
        "swap_create",
        lambda world: world.rich() and "swaps/new",
        {**SWAP, "amount": "x"},
        "amount",
        "Amount must be a decimal number of coins with at most 18 places.",
    ),
    Broken(
        "reports",
        at("reports"),
        {**DAYS, "report_type": "x"},
        "report_type",
        "Choose one of the offered values.",
        is_get=True,
    ),
    Broken(
        "reports",
        at("reports"),
        {**DAYS, "start_date": ""},
        "start_date",
        "The first day is required.",
        is_get=True,
    ),
    Broken(
        "reports",
        at("reports"),
        {**DAYS, "start_date": "2020-01-01"},
        "end_date",
        "A report covers at most 366 days.",
        is_get=True,
    ),
    Broken(
        "payment_create",
        at("payments/new"),
        {"amount": "10", "currency": "EUR", "expires_in": "5"},
        "expires_in",
        "Choose one of the offered values.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "title": ""},
        "title",
        "The title can't be blank.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "amount": ""},
        "amount",
        "The amount is required.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "kind": "free"},
        "kind",
        "Choose one of the offered values.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "kind": "chosen", "suggested": "1, 2, 3, 4, 5"},
        "suggested",
        "Each suggested amount has too many items (maximum is 4).",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "stock": "1.5"},
        "stock",
        "The quantity must be a whole number.",
    ),
    Broken(
        "link_create",
        at("payment-links/new"),
        {**LINK, "ends": "2020-01-01"},
        "ends",
        "The end date must be in the future.",
    ),
    Broken(
        "link_edit",
        lambda world: f"payment-links/{made_link(world.cast.bakery).pk}/edit",
        {**LINK, "success_url": "x"},
        "success_url",
        "The address must be a valid URL.",
    ),
    Broken(
        "till",
        at("point-of-sale"),
        {"amount": "", "currency": "EUR"},
        "amount",
        "The amount is required.",
    ),
    Broken(
        "till",
        at("point-of-sale"),
        {"amount": "10", "currency": "EUR", "tip": "9999"},
        "tip_amount",
        "Choose one of the offered values.",
    ),
    Broken(
        "till",
        at("point-of-sale"),
        {"amount": "10.50", "currency": "JPY"},
        "amount",
        "The amount must be a whole number in JPY.",
    ),
    Broken(
        "till_settings",
        at("point-of-sale/settings"),
        {"currency": "EUR", "tips": "5, much"},
        "tips",
        "Each tip must be a number such as 12.50.",
    ),
    Broken(
        "till_settings",
        at("point-of-sale/settings"),
        {"currency": "EUR", "tips": "101"},
        "tips",
        "Each tip must be at most 100 percent.",
    ),
    Broken(
        "refund",
        lambda world: f"payments/{make.paid(world.api)['id']}/refund",
        {"destination_address": "0x1"},
        "destination_address",
        "Destination address is not valid for Ethereum Sepolia.",
    ),
    Broken(
        "transfer_accept",
        World.transfer,
        {"reference": "NOTHING"},
        "reference",
        "No payment of your store has this reference.",
    ),
    Broken("agent_create", at("agents/new"), {"name": ""}, "name", "Name can't be blank."),
    Broken(
        "agent_caps",
        World.agent,
        {"SETH.per_tx": "much"},
        "SETH.per_tx",
        "Maximum per payout must be a decimal number of coins with at most 18 places.",
    ),
    Broken(
        "webhook_endpoint_create",
        at("webhooks/new"),
        {"url": "nowhere", "subscribed_events": EVENTS},
        "url",
        "URL must be http or https.",
    ),
    Broken(
        "webhook_endpoint_resend",
        World.endpoint,
        {"from": "x", "to": "2026-01-01T00:00"},
        "from",
        "Choose a start and an end.",
    ),
    Broken(
        "platform_ask",
        at("platform/ask"),
        {"reason": "x" * 2001},
        "reason",
        "Reason is too long (maximum is 2000 characters).",
    ),
    Broken("platform_account_create", World.platform, {"name": ""}, "name", "Name is required."),
    Broken("platform_account", World.account, {"name": ""}, "name", "Name can't be blank."),
    Broken(
        "platform_link_create",
        lambda world: world.account("/link"),
        {"purpose": "kyb", "return_url": "x"},
        "return_url",
        "The return URL must be a valid URL.",
    ),
    Broken(
        "platform_attest",
        lambda world: world.account("/verification"),
        {**VERIFICATION, "contact_email": "x"},
        "contact_email",
        "Email is not an email address.",
    ),
    Broken(
        "customer_create",
        at("customers/new"),
        {"email": "x"},
        "email",
        "Email is not a valid address.",
    ),
    Broken(
        "customer_edit",
        lambda world: f"customers/{billing.customer(world.api)['id']}/edit",
        {"email": "x"},
        "email",
        "Email is not a valid address.",
    ),
    Broken("product_create", at("products/new"), {"name": ""}, "name", "Name is required."),
    Broken(
        "product_edit",
        lambda world: f"products/{billing.product(world.api)['id']}/edit",
        {"name": ""},
        "name",
        "Name is required.",
    ),
    Broken(
        "price_create",
        lambda world: f"products/{billing.product(world.api)['id']}/prices/new",
        {**PRICE, "unit_amount": "much"},
        "unit_amount",
        "Amount must be a number such as 12.50.",
    ),
    Broken(
        "invoice_create",
        at("invoices/new"),
        {**INVOICE, "email": "nobody@example.com"},
        "email",
        "No customer has this email address; add the customer, or correct it.",
    ),
    Broken(
        "invoice_edit",
        lambda world: f"invoices/{billing.draft(world.api)['id']}/edit",
        {**INVOICE, "tax": "much"},
        "tax",
        "Tax must be a number such as 12.50.",
    ),
    Broken(
        "subscription_create",
        lambda world: billing.price(world.api) and "subscriptions/new",
        {"email": "nobody@example.com"},
        "email",
        "No customer has this email address; add the customer, or correct it.",
    ),
    Broken(
        "subscription_change",
        lambda world: f"subscriptions/{billing.subscribe(world.api)['id']}/change",
        {"grace_cycles": "x"},
        "grace_cycles",
        "The number of failed payments must be a whole number.",
    ),
]

# What is asked with these has no input that can be wrong: a button, or a switch of known values.
BUTTONS = {
    "notification_settings",
    "unsubscribe",
    "switch_theme",
    "payment_cancel",
    "sign_in_passkey",
    "confirm_email",
    "sign_out",
    "switch_store",
    "switch_mode",
    "invoice_act",
    "subscription_act",
    "customer_delete",
    "product",
    "price_switch",
    "platform_account_close",
    "platform_account_restore",
    "payout_batch_discard",
    "payout_destination_remove",
    "payout_schedule_switch",
    "payout_schedule_delete",
    "payout_retry",
    "payout_give_up",
    "approval_approve",
    "key_revoke",
    "key_take_over",
    "mandate_revoke",
    "agent_revoke",
    "agent_take_over",
    "webhook_endpoint_switch",
    "webhook_endpoint_rotate",
    "webhook_endpoint_delete",
    "webhook_endpoint_test",
    "delivery",
    "oauth_grant_revoke",
    "oauth_app_rotate",
    "oauth_app_deactivate",
    "invitation_resend",
    "invitation_revoke",
    "member_leave",
    "member_remove",
    "member_hand_over",
    "stop",
    "settings_assets",
    "settings_domain",
    "security_take_off",
    "security_codes",
    "link_switch",
    "link_archive",
    "session_end_others",
    "session_end",
    "passkey_remove",
    "late_deposit",
    "transfer_return",
    "new_sign_in",
    "verification_remove",
    "payout_schedule_run",
    "payout_batch",  # a code alone: test_reviews
}
OTHERS = {
    "sign_up_invited": "the form of sign_up_store, reached by the link of an invitation",
    "forgot": "any address gets the same answer, so none is wrong",
    "passkey_rename": "an input in a list, which is sent back to the list with what was wrong",
    "list_setup": "panels over a list, which is sent back to the list with what was wrong",
}


def wrong(answer: Any, status: int) -> tuple[str, str]:
    """The one input that a page says something at, and what it says."""
    page = answer.content.decode()
    assert answer.status_code == status, text(answer)
    ((name, sentence),) = re.findall(
        r'<span class="error" id="([\w.-]+)-error" role="alert">([^<]+)</span>', page
    )
    (control,) = re.findall(
        rf'<(?:input|select|textarea|fieldset)\b[^>]*aria-describedby="[^"]*\b{re.escape(name)}-error"[^>]*>',
        page,
    )
    is_group = control.startswith("<fieldset")
    assert (f'id="{name}"' in control and 'aria-invalid="true"' in control) or (
        is_group and 'tabindex="-1"' in control
    ), control
    assert "autofocus" in control and page.count("autofocus") == 1
    assert 'id="errors"' not in page
    return name, unescape(sentence)


@pytest.fixture(autouse=True)
def _anybody_may_sign_up(settings: Any) -> None:
    settings.SIGN_UP = sign_up.OPEN


@pytest.mark.parametrize("broken", BROKEN, ids=[f"{one.page}-{one.name}" for one in BROKEN])
def test_what_is_wrong_stands_at_its_input(cast: Cast, broken: Broken) -> None:
    assert wrong(broken.sent(World(cast)), broken.status) == (broken.name, broken.sentence)


def test_every_form_is_broken_here_or_has_nothing_to_break() -> None:
    broken = {one.page for one in BROKEN}
    posted = {page.name for page in PAGES if "POST" in page.methods} | {
        one.page for one in BROKEN if one.is_get
    }
    assert broken | BUTTONS | OTHERS.keys() == posted
    assert not broken & (BUTTONS | OTHERS.keys())
