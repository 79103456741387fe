"""Steps of a store before its first live payment, for all its people together.

Which steps depends on how it sells; what is done is read from the database, what was skipped from
the store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import QuerySet, UUIDField
from django.utils.translation import gettext

from apps.access.access import Access
from apps.access.models import ApiKey
from apps.core.db import tenancy
from apps.core.db.sql import BlankParameter, Statement, statement_of_names
from apps.core.models import Mode
from apps.dashboard import go_live_steps as steps
from apps.dashboard.go_live_steps import Asking, GoLiveStep, StepOf, StoreFact
from apps.links.models import PaymentLink, Till
from apps.payments.models import Payment
from apps.payouts.models import Destination
from apps.platforms.models import OnboardingLink
from apps.stores import roles
from apps.stores.models import Member, Store, User, WayOfSelling
from apps.webhooks.models import Endpoint

_MONEY = (
    steps.second_factor_step,
    steps.business_step,
    steps.payout_destination_step,
)
# How a store sells: the steps that its people are asked for, in their order. The last one is that
# it was paid for real.
STEPS: Mapping[str, Sequence[StepOf]] = {
    WayOfSelling.LINKS: (
        steps.test_payment_step,
        steps.payment_link_step,
        *_MONEY,
        steps.live_payment_step,
    ),
    WayOfSelling.WEBSITE: (
        steps.test_payment_step,
        steps.website_step,
        steps.endpoint_step,
        *_MONEY,
        steps.live_payment_step,
    ),
    WayOfSelling.PLATFORM: (
        steps.platform_access_step,
        steps.sub_merchant_step,
        steps.onboarding_link_step,
        steps.platform_call_step,
        steps.endpoint_step,
        *_MONEY,
        steps.platform_live_payment_step,
    ),
}


@dataclass(frozen=True)
class Setup:
    """The setup list of a person: `skipped` is what its store left out of it. `way` is empty
    until it is known how the store sells; `is_ready` when it was paid for real."""

    way: str
    steps: Sequence[GoLiveStep]
    skipped: Sequence[GoLiveStep]
    is_ready: bool
    is_asking: bool

    @property
    def next_step(self) -> GoLiveStep | None:
        """The first that can be worked on now, else the first that waits."""
        left = [step for step in self.steps if not step.is_done]
        return next(iter(sorted(left, key=lambda step: step.is_waiting)), None)

    @property
    def done_count(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def way_words(self) -> str:
        return gettext(str(WayOfSelling(self.way).label)) if self.way else ""


def setup_of(access: Access, member: Member, person: User) -> Setup:
    """Setup of a store for its way of selling: done steps and open ones, in either mode."""
    store = access.store
    with tenancy.also([store], Mode.values):
        facts = _facts_of(store)
        way = store.way_of_selling or _way_seen(store, facts)
        asking = Asking(access, person, facts)
        every = [make(asking) for make in STEPS[way or WayOfSelling.LINKS]]
    own = [step for step in every if step.is_done or roles.may(member.role, step.permission)]
    left_out = set(store.skipped_steps)
    is_ready = every[-1].is_done
    listed = [step for step in own if step.is_done or step.name not in left_out]
    is_open = not is_ready and not all(step.is_done for step in listed)
    return Setup(
        way,
        steps=listed,
        skipped=[step for step in own if not step.is_done and step.name in left_out],
        is_ready=is_ready,
        is_asking=is_open and not way and roles.may(member.role, roles.MANAGE),
    )


def way_of(access: Access) -> str:
    """How the store sells, as its people said or as what they did tells; empty when neither is
    known."""
    store = access.store
    if store.way_of_selling:
        return store.way_of_selling
    with tenancy.also([store], Mode.values):
        return _way_seen(store, _facts_of(store))


def _facts_of(store: Store) -> set[str]:
    return {name for (name,) in _asking().rows(store_id=store.pk)}


def _way_seen(store: Store, facts: set[str]) -> str:
    """Of a store whose people haven't said: what they have done tells."""
    if store.is_platform:
        return WayOfSelling.PLATFORM
    return WayOfSelling.WEBSITE if facts & {StoreFact.USED_KEY, StoreFact.ENDPOINT} else ""


@cache
def _asking() -> Statement:
    """Says the name of each that the store has."""
    store_id = BlankParameter("store_id", UUIDField())
    is_paid = {"status__in": [Payment.Status.COMPLETED, Payment.Status.REFUNDED]}
    paid = Payment.objects.filter(store_id=store_id, **is_paid)
    keys = ApiKey.objects.filter(store_id=store_id, revoked_at=None)
    of_accounts = Payment.objects.filter(platform_id=store_id, mode=Mode.LIVE, **is_paid)
    kinds: dict[str, QuerySet[Any]] = {
        StoreFact.TEST_PAYMENT: paid.filter(mode=Mode.TEST),
        StoreFact.LIVE_PAYMENT: paid.filter(mode=Mode.LIVE),
        StoreFact.KEY: keys,
        StoreFact.USED_KEY: keys.exclude(last_used_at=None),
        StoreFact.ENDPOINT: Endpoint.objects.filter(store_id=store_id, deleted_at=None),
        StoreFact.DESTINATION: Destination.objects.filter(
            store_id=store_id, mode=Mode.LIVE, removed_at=None
        ),
        StoreFact.PAYMENT_LINK: PaymentLink.objects.filter(store_id=store_id),
        StoreFact.TILL: Till.objects.filter(store_id=store_id),
        StoreFact.SUB_MERCHANT: Store.objects.filter(platform_id=store_id),
        StoreFact.ONBOARDING_LINK: OnboardingLink.objects.filter(store_id=store_id),
        StoreFact.LIVE_PAYMENT_OF_ACCOUNT: of_accounts,
    }
    return statement_of_names(kinds, limit=1)


def first_mode(store: Store) -> str:
    """The mode in which somebody sees the store who has chosen none in it yet: live once it has
    been paid live."""
    paid = Payment.objects.filter(
        store=store,
        mode=Mode.LIVE,
        status__in=[Payment.Status.COMPLETED, Payment.Status.REFUNDED],
    )
    with tenancy.also([store], [Mode.LIVE]):
        return Mode.LIVE if paid.exists() else Mode.TEST
