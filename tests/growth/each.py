"""One of each record that the lists of the dashboard, of the staff site and of customers show, made
as often as it takes in a store of `world.py`. Nothing waits for days to pass."""

import uuid
from datetime import timedelta

from django_otp_webauthn.models import WebAuthnCredential

from apps.access import request_log
from apps.access.services import create_agent_credential, create_api_key
from apps.assets.models import Asset
from apps.chain.models import UnknownTransaction
from apps.core import clock
from apps.core.models import RowFailure
from apps.payments.models import Withdrawal
from apps.payouts.models import ApprovalRule
from apps.payouts.services.batches import open_batch
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.destinations import add_bank, add_wallet
from apps.platforms.requests import AccountRequest, PlatformAccess, VerificationRequest
from apps.platforms.services.access_requests import request_access
from apps.platforms.services.accounts import create_account
from apps.platforms.services.verifications import submit_verification
from apps.reports.requests import ReportRequest
from apps.reports.services.request import request_report
from apps.stores.models import Invitation, Role, User
from apps.stores.verifying.documents import add_document
from apps.swaps.services.progress import advance_swaps
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.deliveries import send_test
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.billing import records as billing
from tests.cast import Cast, join, person, shop_of
from tests.contract.oauth.apps import App
from tests.dashboard.papers import small_pdf
from tests.growth import world
from tests.growth.world import World
from tests.links.makers import bought, donation
from tests.platforms.makers import VERIFICATION

SCHEDULED = ("SETH", "USDC_SETH")  # a coin has one schedule


def each(place: World, number: int, parts: int = 1) -> None:
    """One of everything, in `parts` each: refunds of a payment, lines of an invoice."""
    make.store_coins(place.shop.store, "SETH", 10**18)
    for make_one in PARTS:
        make_one(place, number, parts)
    request_log.flush()
    world.rest()


def _traded(place: World, number: int, parts: int) -> None:
    """Records that move coins, in both modes."""
    shop = place.shop
    make.payout(shop.test, 10**15)
    world.sell_coins(shop, f"round {number}")
    advance_swaps()
    world.draw(shop, f"round {number}")
    world.receive(shop, number)
    world.pay_out(shop)


def _sold(place: World, number: int, parts: int) -> None:
    shop = place.shop
    expired = make.payment(shop.test, expires_in=300)
    make.advance(shop.test, 400)
    make.late_deposit(expired["id"])
    make.stray_transfer(make.payment(shop.test)["id"])
    short = make.payment(shop.test, amount="40.00")
    make.simulated(shop.test, short["id"], "underpaid")
    link = donation(shop)
    sale = make.paid(shop.test, amount="90.00")
    for _ in range(parts):
        bought(shop, link, amount="5.00")
    refund = {"amount": "0.001", "destination_address": make.fresh_address()}
    path = f"/payments/{sale['id']}/refunds"
    billing.ok(shop.test.post(path, {"refund": refund}, key=f"round {number}"), 201)


def _billed(place: World, number: int, parts: int) -> None:
    api = place.shop.test
    billing.pay(api, billing.opened(api, tax_rate_bps=1900))
    customer = billing.customer(api)
    product = billing.product(api)
    for part in range(parts):
        price = billing.price(api, product["id"], unit_amount_cents=1000 + part)
        billing.subscribe(api, customer_id=customer["id"], price_id=price["id"])
        billing.opened(
            api,
            customer_id=customer["id"],
            line_items=[billing.line(500 + line) for line in range(parts)],
        )


def _paid_out(place: World, number: int, parts: int) -> None:
    shop = place.shop
    add_wallet(shop.store, "test", "sepolia", make.fresh_address())
    add_bank(shop.store, "test", currency="USD", holder="Bakery", account=f"{number}".zfill(12))
    lines = "".join(f"SETH,0.1,{make.fresh_address()}\n" for _ in range(parts))
    open_batch(
        shop.access(),
        shop.store,
        shop.owner,
        filename="a.csv",
        raw=f"asset_id,amount,destination\n{lines}".encode(),
        form_key=uuid.uuid4().hex,
    )
    for asset_id in SCHEDULED[number : number + 1]:
        plan = {
            "asset_id": asset_id,
            "frequency": "daily",
            "destination_address": make.fresh_address(),
            "next_payout_at": clock.iso(clock.now(shop.store, "test") + timedelta(days=30)),
        }
        billing.ok(shop.test.post("/payout_schedules", {"payout_schedule": plan}), 201)
    at = clock.real_now()
    rule = ApprovalRule.objects.create(
        store=shop.store, mode="test", created_at=at, changed_at=at, currency="EUR", above_cents=0
    )
    make.payout(shop.test, 10**15)
    rule.delete()


def _staffed(place: World, number: int, parts: int) -> None:
    shop = place.shop
    at = clock.real_now()
    _member(place, Role.DEVELOPER)
    join(shop_of(person("other"), "Other").store, shop.owner, Role.VIEWER)
    Invitation.objects.create(
        store=shop.store,
        email=f"new-{number}@example.com",
        role=Role.VIEWER,
        invited_by=shop.owner,
        created_at=at,
        sent_at=at,
        token_hash=uuid.uuid4().bytes,
        expires_at=at + timedelta(days=7),
    )
    WebAuthnCredential.objects.create(
        user=shop.owner,
        name="Laptop",
        credential_id=f"key {number}".encode(),
        public_key=b"k",
        aaguid="",
    )


def _member(place: World, role: str) -> User:
    """A person of the store, whom nobody has asked for a second factor."""
    user = person("helper")
    join(place.shop.store, user, role)
    return user


def _developed(place: World, number: int, parts: int) -> None:
    shop = place.shop
    create_api_key(shop.store, "test")
    create_agent_credential(shop.store, "test")
    App(Cast(_member(place, Role.OWNER), shop)).tokens()
    asked = EndpointRequest(
        url=f"https://1.1.1.1/{number}", subscribed_events=["payment_intent.completed"]
    )
    made = register_endpoint(shop.access(), asked).endpoint
    for _ in range(parts):
        send_test(made, None, clock.real_now())


def _governed(place: World, number: int, parts: int) -> None:
    """Records that staff see."""
    at = clock.real_now()
    asset = Asset.objects.get(pk="SETH")
    make.service_coins("SETH", 10**18)
    Withdrawal.objects.create(
        reference=uuid.uuid4().hex,
        asset=asset,
        mode=asset.mode,
        amount_atomic=10**18,
        to_address=make.fresh_address(),
        reason="Salaries",
        requested_by=make.clerk("finance"),
        requested_at=at,
    )
    RowFailure.objects.create(
        job="payments.expire_due",
        row_id=f"row {number}",
        tries=3,
        error="Refused",
        since=at,
        not_before=at,
    )
    UnknownTransaction.objects.create(
        chain_id="sepolia",
        from_address=world.HOT_WALLET,
        nonce=number,
        tx_hash=f"0x{uuid.uuid4().hex * 2}",
        value_atomic=1,
        found_at=at,
    )


def _partnered(place: World, number: int, parts: int) -> None:
    other = shop_of(person("partner"), "Partner")
    request_access(other.access(), PlatformAccess(reason="A market hall"))
    account = create_account(
        place.cast.strangers.access(), AccountRequest(name=f"Corner Shop {number}")
    )[0]
    submit_verification(account, VerificationRequest(**VERIFICATION))
    add_document(place.shop.store, f"register-{number}.pdf", small_pdf())
    set_store_cap(account, "SETH", daily_atomic=10**18)
    request_report(
        place.shop.access(),
        ReportRequest(
            report_type="merchant_statement",
            start_date="2026-01-01",
            end_date=f"2026-01-0{number + 2}",
        ),
    )


# Sales last: what was called last is what the list of calls begins with, and has keys.
PARTS = (_traded, _billed, _paid_out, _staffed, _developed, _governed, _partnered, _sold)
