"""What a store has to do before it is paid for real, step by step, whoever of its people does
it."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import QuerySet, UUIDField
from django.urls import reverse

from apps.access import second_factor
from apps.access.access import Access
from apps.access.models import ApiKey, KeyType
from apps.core.db import tenancy
from apps.core.db.sql import Blank, Statement, statement_of_names
from apps.core.models import Mode
from apps.payments.models import Payment
from apps.payouts.models import Destination
from apps.stores import roles
from apps.stores.models import User, Verification
from apps.stores.selectors import latest_verification
from apps.webhooks.models import Endpoint

_SWITCH = "Switch to live mode"
# What a store may have of what is asked about.
TEST_PAYMENT = "test payment"
LIVE_PAYMENT = "live payment"
KEY = "key"
USED_KEY = "used key"
ENDPOINT = "endpoint"
DESTINATION = "live destination"


@dataclass(frozen=True)
class GoLiveStep:
    """A line of the set-up list; `permission` is what its page needs. `switches_to` is the mode
    that its button changes to on the way to the page. One that `is_waiting` is with us: there is
    nothing to do about it."""

    title: str
    explanation: str
    action: str
    url: str
    permission: str
    is_done: bool
    curl: str = ""
    hint: str = ""
    switches_to: str = ""
    is_waiting: bool = False


def steps_of(access: Access, person: User) -> list[GoLiveStep]:
    """All of them, of both modes; the last one is the first live payment."""
    with tenancy.also([access.store], Mode.values):
        facts = {name for (name,) in _asking().rows(store_id=access.store_id)}
        return [
            _test_payment(facts),
            _first_call(access, facts),
            _endpoint(facts),
            _second_factor(person),
            _business(access),
            _payout_destination(access, facts),
            _live_payment(access, facts),
        ]


@cache
def _asking() -> Statement:
    """Says the name of each that the store has."""
    store_id = Blank("store_id", UUIDField())
    paid = Payment.objects.filter(
        store_id=store_id, status__in=[Payment.Status.COMPLETED, Payment.Status.REFUNDED]
    )
    keys = ApiKey.objects.filter(store_id=store_id, revoked_at=None)
    destinations = Destination.objects.filter(store_id=store_id, mode=Mode.LIVE, removed_at=None)
    kinds: dict[str, QuerySet[Any]] = {
        TEST_PAYMENT: paid.filter(mode=Mode.TEST),
        LIVE_PAYMENT: paid.filter(mode=Mode.LIVE),
        KEY: keys,
        USED_KEY: keys.exclude(last_used_at=None),
        ENDPOINT: Endpoint.objects.filter(store_id=store_id, deleted_at=None),
        DESTINATION: destinations,
    }
    return statement_of_names(kinds, limit=1)


def _test_payment(facts: set[str]) -> GoLiveStep:
    return GoLiveStep(
        "Take a test payment",
        "Create a one-time link in test mode, open it, and pay it from the test panel. No money"
        " moves.",
        "Create one-time link",
        reverse("dashboard:payment_create"),
        roles.PAY,
        TEST_PAYMENT in facts,
    )


def _first_call(access: Access, facts: set[str]) -> GoLiveStep:
    keys = ApiKey.objects.filter(store_id=access.store_id, revoked_at=None)
    secret = keys.filter(mode=Mode.TEST, key_type=KeyType.SECRET)
    key = secret.order_by("-created_at", "-id").first() if KEY in facts else None
    hidden = f"{key.prefix}…{key.last_four}" if key else "YOUR_TEST_KEY"
    return GoLiveStep(
        "Make your first API call",
        "Your server creates payments with an API key. A test key works right away and can’t touch"
        " real money.",
        "View API keys" if KEY in facts else "Create an API key",
        reverse("dashboard:keys" if KEY in facts else "dashboard:key_create"),
        roles.DEVELOP,
        USED_KEY in facts,
        curl=curl(hidden),
        hint=(
            f"Put your whole key in place of {hidden}. Keys are shown once; if it’s lost, create"
            " another."
            if key
            else ""
        ),
    )


def curl(secret: str) -> str:
    """A call that makes a payment, to be pasted into a terminal."""
    body = json.dumps(
        {"payment_intent": {"amount": "4.20", "currency": "EUR", "title": "Flat white"}}
    )
    return (
        f"curl {settings.PUBLIC_URL}/api/v2/payments \\\n  -u '{secret}:' \\\n  -H 'Content-Type:"
        f" application/json' \\\n  -d '{body}'"
    )


def _endpoint(facts: set[str]) -> GoLiveStep:
    return GoLiveStep(
        "Add a webhook endpoint",
        "We notify your server the moment a payment changes, so you can ship.",
        "Add endpoint",
        reverse("dashboard:webhook_endpoint_create"),
        roles.DEVELOP,
        ENDPOINT in facts,
    )


def _second_factor(person: User) -> GoLiveStep:
    return GoLiveStep(
        "Protect your sign-in",
        "With an authenticator app, nobody gets in with your password alone.",
        "Set up authenticator",
        reverse("dashboard:security"),
        roles.VIEW,
        second_factor.confirmed(person) is not None,
    )


def _business(access: Access) -> GoLiveStep:
    """What became of it, and what waits for it."""
    latest = latest_verification(access.store)
    status = "" if latest is None else latest.status
    by_status: dict[str, tuple[str, str]] = {
        Verification.Status.PENDING: (
            "We’re reviewing your details. Bank payouts start when we’re done.",
            "View status",
        ),
        Verification.Status.REJECTED: (
            "We couldn’t verify your details. Bank payouts stay off until then.",
            "Review details",
        ),
    }
    explanation, action = by_status.get(
        status, ("Needed before money can go to a bank account.", "Start verification")
    )
    url = reverse("dashboard:verification")
    is_done = access.store.kyc_confirmed_at is not None
    return GoLiveStep(
        "Verify your business",
        explanation,
        action,
        url,
        roles.MANAGE,
        is_done,
        is_waiting=status == Verification.Status.PENDING,
    )


def _payout_destination(access: Access, facts: set[str]) -> GoLiveStep:
    return GoLiveStep(
        "Add a payout destination",
        "For live payouts: a wallet, or a bank account once your business is verified.",
        "Add destination" if access.is_live else _SWITCH,
        reverse("dashboard:payout_destinations"),
        roles.MOVE_MONEY,
        DESTINATION in facts,
        switches_to="" if access.is_live else Mode.LIVE,
    )


def _live_payment(access: Access, facts: set[str]) -> GoLiveStep:
    return GoLiveStep(
        "Take your first live payment",
        "Send a customer a one-time link in live mode.",
        "Create one-time link" if access.is_live else _SWITCH,
        reverse("dashboard:payment_create" if access.is_live else "dashboard:home"),
        roles.PAY,
        LIVE_PAYMENT in facts,
        switches_to="" if access.is_live else Mode.LIVE,
    )
