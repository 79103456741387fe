"""The first page: what to do next, what the store has, and what came in last."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.urls import reverse

from apps.access import second_factor
from apps.access.access import Access
from apps.access.models import ApiKey
from apps.assets.models import Asset
from apps.assets.selectors import current_rate
from apps.billing.selectors import owed
from apps.core import clock, money, tenancy
from apps.core.models import Mode
from apps.dashboard.plumbing import PageRequest, show
from apps.ledger.selectors import Balance, balances
from apps.payments.models import Payment
from apps.payments.selectors import payments_seen_by
from apps.stores import roles
from apps.stores.models import User
from apps.webhooks.models import Endpoint

RECENT = 6


@dataclass(frozen=True)
class Step:
    """A line of the set-up list; `permission` is what its page needs. Without a `url` the explanation says it all."""

    title: str
    explanation: str
    action: str
    url: str
    permission: str
    is_done: bool


@dataclass(frozen=True)
class Holding:
    """A balance with its asset; `worth_cents` in the settlement currency, None without a current rate."""

    asset: Asset
    balance: Balance
    worth_cents: int | None


def index(request: PageRequest) -> HttpResponse:
    access = request.access
    with tenancy.also([access.store], Mode.values):
        every = _steps(access, request.person)
    steps = [one for one in every if one.is_done or roles.may(request.member.role, one.permission)]
    recent = list(payments_seen_by(access)[:RECENT])
    context = {
        "steps": steps,
        "is_ready": every[-1].is_done,
        "next_step": next((one for one in steps if not one.is_done), None),
        "done_count": sum(one.is_done for one in steps),
        "holdings": _holdings(access),
        "payments": recent,
        "owed": owed(access, access.now()),
    }
    return show(request, "dashboard/home.html", context)


def _steps(access: Access, person: User) -> list[Step]:
    store_id = access.store_id
    payments, completed = Payment.objects.filter(store_id=store_id), Payment.Status.COMPLETED
    keys = ApiKey.objects.filter(store_id=store_id, revoked_at=None)
    endpoints = Endpoint.objects.filter(store_id=store_id, deleted_at=None)
    create, settled = reverse("dashboard:payment_create"), payments.filter(status__in=[completed, Payment.Status.REFUNDED])
    return [
        Step(
            "Take a test payment",
            "Make a payment link in test mode, open it and let the test panel pay it. No money moves.",
            "Create a test payment",
            create,
            roles.PAY,
            settled.filter(mode=Mode.TEST).exists(),
        ),
        Step(
            "Connect your shop",
            "An API key lets your server create payments. A test key works at once and can't touch money. Done with its first call.",
            "See your API keys" if keys.exists() else "Create an API key",
            reverse("dashboard:keys") if keys.exists() else reverse("dashboard:key_create"),
            roles.DEVELOP,
            keys.exclude(last_used_at=None).exists(),
        ),
        Step(
            "Hear when a payment completes",
            "A webhook endpoint is told of every payment the moment it changes, so that you can ship.",
            "Add a webhook endpoint",
            reverse("dashboard:webhook_endpoint_create"),
            roles.DEVELOP,
            endpoints.exists(),
        ),
        Step(
            "Protect your sign-in",
            "With an authenticator app nobody gets in with your password alone.",
            "Set up an authenticator app",
            reverse("dashboard:security"),
            roles.VIEW,
            second_factor.confirmed(person) is not None,
        ),
        Step(
            "Take your first live payment",
            "Send a real payment link." if access.is_live else "Switch to live mode beside the store's name and send a real payment link.",
            "Create a live payment",
            create if access.is_live else "",
            roles.PAY,
            settled.filter(mode=Mode.LIVE).exists(),
        ),
    ]


def _holdings(access: Access) -> list[Holding]:
    """Every asset of which there is something, the one worth most first."""
    held = {asset_id: one for asset_id, one in balances(access.store_id, access.mode).items() if one.total_atomic}
    assets = Asset.objects.filter(pk__in=held).select_related("chain")
    rows = [_holding(access, asset, held[asset.pk]) for asset in assets]
    return sorted(rows, key=lambda one: (-(one.worth_cents or 0), one.asset.position))


def _holding(access: Access, asset: Asset, balance: Balance) -> Holding:
    rate = current_rate(asset.pk, access.store.settlement_currency, clock.real_now())
    worth = None if rate is None else money.cents_for_atomic(balance.total_atomic, rate.rate, asset.atomic_decimals)
    return Holding(asset, balance, worth)
