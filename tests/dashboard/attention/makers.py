"""Situations that need a person, and the page's words for each."""

from typing import Any

from django.db import transaction

from apps.access.person import sessions
from apps.assets.models import Asset
from apps.audit.grants import WEB
from apps.chain.models import Deposit
from apps.chain.simulated import put
from apps.core import clock
from apps.core.db import tenancy
from apps.core.models import Mode
from apps.dashboard.notices.attention import PER_PAGE
from apps.dashboard.notices.inbox import Inbox
from apps.payments.models import Payment
from apps.payments.selectors import addresses_of
from apps.payments.services.settle import settle_payment
from apps.webhooks.models import Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import auditing, make
from tests.cast import Cast
from tests.dashboard.browse import Browser
from tests.roles import acting_as

DAY = 86_400


def told(browser: Browser) -> list[str]:
    """The titles that the page would show to the person who has signed in; the page itself is
    `only`'s."""
    session = browser.client.session
    member = sessions.member_of(browser.user, session)
    assert browser.user is not None and member is not None
    with acting_as(WEB), tenancy.within(tenancy.of([member.store], list(Mode))):
        lines = Inbox(sessions.access_as(browser.user, member, session)).lines(PER_PAGE)
    return [line.notice.title for line in lines]


def only(browser: Browser) -> Any:
    (line,) = browser.get("attention").context["lines"]
    return line


def books_are_right() -> None:
    assert auditing.breaches() == []


def late(cast: Cast) -> tuple[str, str]:
    made = make.payment(cast.bakery.test, expires_in=300, title="Rye")
    make.advance(cast.bakery.test, 400)
    return made["id"], make.late_deposit(made["id"])


def arrives(
    payment: dict[str, Any],
    asset_id: str = "",
    *,
    sender: str = "",
    share: int = 1,
    part: int = 1,
) -> Deposit:
    """A confirmed deposit at the payment's first address, of its coin or another."""
    row = Payment.objects.select_related("store").get(pk=payment["id"])
    entry = addresses_of(row)[0]
    asset = Asset.objects.get(pk=asset_id) if asset_id else entry.asset
    amount = entry.required_atomic * share // part
    needed = entry.required_confirmations
    at = clock.now(row.store, row.mode)
    with transaction.atomic():
        deposit, _ = put(
            entry.address_id,
            asset,
            "arrived",
            amount_atomic=amount,
            confirmations=needed,
            status="confirmed",
            at=at,
        )
        if sender:
            Deposit.objects.filter(pk=deposit.pk).update(from_address=sender)
    settle_payment(row.pk)
    return deposit


def endpoint_in_error(cast: Cast) -> Endpoint:
    asked = EndpointRequest(
        url="https://1.1.1.1/hook", subscribed_events=["payment_intent.completed"]
    )
    made = register_endpoint(cast.bakery.access(), asked).endpoint
    Endpoint.objects.filter(pk=made.pk).update(status="error", disabled_at=clock.real_now())
    return made
