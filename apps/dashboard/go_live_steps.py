"""Each step of the setup list: what it is called, where it is done, and whether it is."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.conf import settings
from django.db.models import UUIDField
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.access.access import Access
from apps.access.factors import second_factor
from apps.access.models import ApiKey, KeyType
from apps.core.db.prepared_reads import Query
from apps.core.db.sql import BlankParameter
from apps.core.models import Mode
from apps.platforms.models import AccessRequest
from apps.platforms.services.access_requests import latest_request
from apps.stores import roles
from apps.stores.models import User, Verification
from apps.stores.selectors import latest_verification

_SWITCH = gettext_noop("Switch to live mode")


class StoreFact:
    """Facts about a store that steps depend on."""

    TEST_PAYMENT = "test payment"
    LIVE_PAYMENT = "live payment"
    KEY = "key"
    USED_KEY = "used key"
    ENDPOINT = "endpoint"
    DESTINATION = "live destination"
    PAYMENT_LINK = "payment link"
    TILL = "till"
    SUB_MERCHANT = "sub-merchant"
    ONBOARDING_LINK = "onboarding link"
    LIVE_PAYMENT_OF_ACCOUNT = "live payment of a sub-merchant"


@dataclass(frozen=True)
class Asking:
    """A reader of the list, and the facts there are."""

    access: Access
    person: User
    facts: Collection[str]


@dataclass(frozen=True)
class GoLiveStep:
    """A line of the set-up list; `permission` is what its page needs. `switches_to` is the mode
    that its button changes to on the way to the page. One that `is_waiting` is with us: there is
    nothing to do about it."""

    name: str
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


StepOf = Callable[[Asking], GoLiveStep]


def test_payment_step(asking: Asking) -> GoLiveStep:
    return GoLiveStep(
        "test_payment",
        gettext("Take a test payment"),
        gettext(
            "Create a one-time link in test mode, open it, and pay it from the test panel. No money"
            " moves."
        ),
        gettext("Create one-time link"),
        reverse("dashboard:payment_create"),
        roles.PAY,
        bool({StoreFact.TEST_PAYMENT, StoreFact.LIVE_PAYMENT} & set(asking.facts)),
    )


def payment_link_step(asking: Asking) -> GoLiveStep:
    return GoLiveStep(
        "payment_link",
        gettext("Create a payment link"),
        gettext(
            "One page that any number of customers can pay: share it, or print its QR code. To sell"
            " at a counter, set up the point of sale instead."
        ),
        gettext("Create payment link"),
        reverse("dashboard:link_create"),
        roles.PAY,
        bool({StoreFact.PAYMENT_LINK, StoreFact.TILL} & set(asking.facts)),
    )


def website_step(asking: Asking) -> GoLiveStep:
    return _call_step(
        asking,
        "website",
        gettext("Connect your website"),
        gettext(
            "Install a shop plugin such as WooCommerce, or let your server call the API. Both need"
            " an API key; a test key can’t touch real money."
        ),
        with_call=True,
    )


def platform_call_step(asking: Asking) -> GoLiveStep:
    return _call_step(
        asking,
        "platform_call",
        gettext("Create a payment for a sub-merchant"),
        gettext(
            "Your server names the sub-merchant in the header X-Service-Account of each API call."
        ),
        with_call=False,
    )


_TEST_KEY = Query(
    lambda: ApiKey.objects.filter(
        store_id=BlankParameter("store_id", UUIDField()),
        revoked_at=None,
        mode=Mode.TEST,
        key_type=KeyType.SECRET,
    ).order_by("-created_at", "-id")[:1]
)


def _call_step(
    asking: Asking, name: str, title: str, explanation: str, *, with_call: bool
) -> GoLiveStep:
    """Done with the first call that a key made; `with_call` shows one."""
    has_key = StoreFact.KEY in asking.facts
    key = _TEST_KEY.first(store_id=asking.access.store_id) if has_key else None
    hidden = f"{key.prefix}…{key.last_four}" if key else "YOUR_TEST_KEY"
    return GoLiveStep(
        name,
        title,
        explanation,
        gettext("View API keys") if has_key else gettext("Create an API key"),
        reverse("dashboard:keys" if has_key else "dashboard:key_create"),
        roles.DEVELOP,
        StoreFact.USED_KEY in asking.facts,
        curl=curl(hidden) if with_call else "",
        hint=(
            gettext(
                "Put your whole key in place of {hidden}. Keys are shown once; if it’s lost, create"
                " another."
            ).format(hidden=hidden)
            if key and with_call
            else ""
        ),
    )


def curl(secret: str) -> str:
    """A call that makes a payment, to be pasted into a terminal."""
    body = json.dumps(
        {"payment_intent": {"amount": "4.20", "currency": "EUR", "title": "Flat white"}}
    )
    return (
        f"curl {settings.PUBLIC_URL}/api/v2/payments \\\n"
        f"  -u '{secret}:' \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d '{body}'"
    )


def endpoint_step(asking: Asking) -> GoLiveStep:
    return GoLiveStep(
        "endpoint",
        gettext("Add a webhook endpoint"),
        gettext(
            "We notify your server the moment a payment changes, so you can ship. Shop plugins add"
            " theirs by themselves."
        ),
        gettext("Add endpoint"),
        reverse("dashboard:webhook_endpoint_create"),
        roles.DEVELOP,
        StoreFact.ENDPOINT in asking.facts,
    )


def second_factor_step(asking: Asking) -> GoLiveStep:
    return GoLiveStep(
        "second_factor",
        gettext("Protect your sign-in"),
        gettext("With an authenticator app, nobody gets in with your password alone."),
        gettext("Set up authenticator"),
        reverse("dashboard:security"),
        roles.VIEW,
        second_factor.confirmed(asking.person) is not None,
    )


def business_step(asking: Asking) -> GoLiveStep:
    """State of the business's verification, and what waits for it."""
    store = asking.access.store
    latest = latest_verification(store)
    status = "" if latest is None else latest.status
    by_status: dict[str, tuple[str, str]] = {
        Verification.Status.PENDING: (
            gettext("We’re reviewing your details. Bank payouts start when we’re done."),
            gettext("View status"),
        ),
        Verification.Status.REJECTED: (
            gettext("We couldn’t verify your details. Bank payouts stay off until then."),
            gettext("Review details"),
        ),
    }
    explanation, action = by_status.get(
        status,
        (gettext("Needed before money can go to a bank account."), gettext("Start verification")),
    )
    return GoLiveStep(
        "business",
        gettext("Verify your business"),
        explanation,
        action,
        reverse("dashboard:verification"),
        roles.MANAGE,
        store.kyc_confirmed_at is not None,
        is_waiting=status == Verification.Status.PENDING,
    )


def payout_destination_step(asking: Asking) -> GoLiveStep:
    is_live = asking.access.is_live
    return GoLiveStep(
        "payout_destination",
        gettext("Add a payout destination"),
        gettext("For live payouts: a wallet, or a bank account once your business is verified."),
        gettext("Add destination") if is_live else gettext(_SWITCH),
        reverse("dashboard:payout_destinations"),
        roles.MOVE_MONEY,
        StoreFact.DESTINATION in asking.facts,
        switches_to="" if is_live else Mode.LIVE,
    )


def live_payment_step(asking: Asking) -> GoLiveStep:
    is_live = asking.access.is_live
    return GoLiveStep(
        "live_payment",
        gettext("Take your first live payment"),
        gettext("Send a customer a one-time link in live mode."),
        gettext("Create one-time link") if is_live else gettext(_SWITCH),
        reverse("dashboard:payment_create" if is_live else "dashboard:home"),
        roles.PAY,
        StoreFact.LIVE_PAYMENT in asking.facts,
        switches_to="" if is_live else Mode.LIVE,
    )


def platform_access_step(asking: Asking) -> GoLiveStep:
    latest = latest_request(asking.access)
    is_pending = latest is not None and latest.status == AccessRequest.Status.PENDING
    return GoLiveStep(
        "platform_access",
        gettext("Become a platform"),
        gettext("We’re reviewing your request.")
        if is_pending
        else gettext(
            "Tell us about your platform. Once approved, you open accounts for other merchants."
        ),
        gettext("View request") if is_pending else gettext("Request access"),
        reverse("dashboard:platform"),
        roles.MANAGE,
        asking.access.store.is_platform,
        is_waiting=is_pending,
    )


def sub_merchant_step(asking: Asking) -> GoLiveStep:
    is_platform = asking.access.store.is_platform
    return GoLiveStep(
        "sub_merchant",
        gettext("Add a sub-merchant"),
        gettext("Its account takes payments of its own; your fee is a share of each."),
        gettext("Add sub-merchant"),
        reverse(f"dashboard:{'platform_account_create' if is_platform else 'platform'}"),
        roles.MANAGE,
        StoreFact.SUB_MERCHANT in asking.facts,
    )


def onboarding_link_step(asking: Asking) -> GoLiveStep:
    is_platform = asking.access.store.is_platform
    return GoLiveStep(
        "onboarding_link",
        gettext("Send an onboarding link"),
        gettext(
            "The sub-merchant submits its business details and payout destination with it. Create"
            " it on the sub-merchant’s page."
        ),
        gettext("View sub-merchants"),
        reverse(f"dashboard:{'platform_accounts' if is_platform else 'platform'}"),
        roles.MANAGE,
        StoreFact.ONBOARDING_LINK in asking.facts,
    )


def platform_live_payment_step(asking: Asking) -> GoLiveStep:
    is_live = asking.access.is_live
    is_platform = asking.access.store.is_platform
    page = "platform_payments" if is_platform else "platform"
    return GoLiveStep(
        "platform_live_payment",
        gettext("First live payment of a sub-merchant"),
        gettext("It appears under Platform payments, and your fee in your own balance."),
        gettext("View platform payments") if is_live else gettext(_SWITCH),
        reverse(f"dashboard:{page}" if is_live else "dashboard:home"),
        roles.VIEW,
        bool({StoreFact.LIVE_PAYMENT_OF_ACCOUNT, StoreFact.LIVE_PAYMENT} & set(asking.facts)),
        switches_to="" if is_live else Mode.LIVE,
    )
