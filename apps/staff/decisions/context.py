"""Facts beside a request that takes two: its present value, the people concerned, and earlier
requests.

Each kind reads a bounded number of rows, however much the store has.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.access.factors import lost_factor
from apps.access.members.roles import MEMBER_ROLE
from apps.assets.confirmations import CONFIRMATIONS
from apps.assets.models import Asset, Chain
from apps.assets.selectors import current_rate
from apps.chain.models import SendingHold
from apps.chain.requested_additions import ASSET, NETWORK
from apps.chain.sending import holds
from apps.core import clock, money
from apps.core.templatetags.tillgate import fiat, moment, status_words
from apps.onramp.services.credentials import CARD_NETWORK
from apps.payments.services.corrections import CORRECTION
from apps.payouts.models import Payout
from apps.payouts.services.limits import PAYOUT_LIMITS
from apps.payouts.services.review import RELEASE
from apps.staff.decisions.queues import Section
from apps.staff.payouts import payout_sections, worth_text
from apps.staff.store_facts import store_section
from apps.stores.models import Member, StaffRequest, Store, User
from apps.stores.staff.dispatch import DISPATCH
from apps.stores.staff.four_eyes import Facts
from apps.stores.staff.staffing import ROLES
from apps.stores.staff.suspensions import SUSPENSION
from apps.stores.staff.terms import TERMS
from apps.stores.staff_roles import role_names

EARLIER_MAX = 5
OF_THE_SERVICE = "USD"  # in which coins that are no store's are valued
Pairs = list[tuple[str, Any]]


@dataclass(frozen=True)
class Context:
    """`worth` is what the request is about in money, now; empty where none moves."""

    worth: str
    sections: list[Section]


def context_of(row: StaffRequest, facts: Facts) -> Context:
    worth, sections = _BY_KIND[row.kind](facts)
    return Context(worth, [_timeline(row), *sections, _earlier(row)])


def _timeline(row: StaffRequest) -> Section:
    facts: Pairs = []
    if row.decided_at is not None:
        who = f"{_state(row)} by {row.decided_by}" if row.decided_by else _state(row)
        facts.append(
            (
                moment(row.decided_at),
                f"{who}: {row.decision_reason}" if row.decision_reason else who,
            )
        )
    else:
        facts.append((moment(row.expires_at), "Expires"))
    facts.append((moment(row.asked_at), f"Requested by {row.asked_by}: {row.reason}"))
    return Section("History", facts)


def _state(row: StaffRequest) -> str:
    return status_words("staff_request", row.outcome)


def _earlier(row: StaffRequest) -> Section:
    """Earlier requests of the same kind about the same target, by their index."""
    rows = StaffRequest.objects.filter(
        kind=row.kind, target_id=row.target_id, asked_at__lt=row.asked_at
    )
    newest = rows.select_related("asked_by").order_by("-asked_at")[:EARLIER_MAX]
    facts: Pairs = [
        (
            moment(request.asked_at),
            f"{_state(request)}, requested by {request.asked_by}: {request.reason}",
        )
        for request in newest
    ]
    return Section("Earlier requests", facts, without="No earlier requests about this.")


def _payout(facts: Facts) -> tuple[str, list[Section]]:
    rows = Payout.objects.select_related("store__platform", "asset", "destination", "maker").defer(
        "destination__account_sealed"
    )
    payout = rows.get(pk=facts["payout"])
    return worth_text(payout), payout_sections(payout)


def _correction(facts: Facts) -> tuple[str, list[Section]]:
    asset = Asset.objects.get(pk=facts["asset"])
    store = _store(facts["store"])
    currency = store.settlement_currency if store else OF_THE_SERVICE
    rate = current_rate(asset.pk, currency, clock.real_now())
    if rate is None:
        worth = "No current rate"
    else:
        worth = fiat(
            money.cents_for_atomic(int(facts["amount_atomic"]), rate.rate, asset.atomic_decimals),
            currency,
        )
    return worth, [store_section(store)] if store else []


def _of_store(facts: Facts) -> tuple[str, list[Section]]:
    store = _store(facts["store"])
    return "", [store_section(store)] if store else []


def _of_person(target: Facts) -> tuple[str, list[Section]]:
    person = User.objects.get(pk=target["user"])
    facts: Pairs = [
        ("Email", person.email),
        ("Name", person.name or "—"),
        ("Status", "Active" if person.is_active else "Deactivated"),
        ("Last sign-in", moment(person.last_login) if person.last_login else "Never"),
        ("Stores", Member.objects.filter(user=person).count()),
        ("Staff roles", role_names(person) or "None"),
    ]
    return "", [
        Section(
            "Person", facts, reverse("admin:stores_user_change", args=[person.pk]), "Open person"
        )
    ]


def _of_member(target: Facts) -> tuple[str, list[Section]]:
    """The store, and the person whose role is changed."""
    return "", [*_of_store(target)[1], *_of_person(target)[1]]


def _chain(target: Facts) -> tuple[str, list[Section]]:
    chain = Chain.objects.get(pk=target["chain"])
    assets = chain.assets.filter(is_active=True).values_list("pk", flat=True)
    facts: Pairs = [
        ("Mode", chain.get_mode_display()),
        ("Fewest confirmations", chain.confirmations_floor),
        ("Active assets", ", ".join(assets) or "None"),
    ]
    page = reverse("admin:assets_chain_change", args=[chain.pk])
    return "", [Section("Network", facts, page, "Open network")]


def _new_network(target: Facts) -> tuple[str, list[Section]]:
    """Nothing is known of it that isn't typed in the request."""
    return "", []


def _new_asset(target: Facts) -> tuple[str, list[Section]]:
    return _chain({"chain": target["network"]})


def _sending(target: Facts) -> tuple[str, list[Section]]:
    hold = SendingHold.objects.select_related("chain", "asset__chain", "placed_by").get(
        pk=target["hold"]
    )
    facts: Pairs = [
        ("What", holds.name_of(hold).capitalize()),
        ("Held by", hold.placed_by),
        ("Since", moment(hold.placed_at)),
        ("Reason", hold.reason),
    ]
    return "", [Section("Hold", facts, reverse("admin:sending"), "Sending")]


def _store(id: str | None) -> Store | None:
    return Store.objects.select_related("platform").get(pk=id) if id else None


_BY_KIND: dict[str, Callable[[Facts], tuple[str, list[Section]]]] = {
    RELEASE.name: _payout,
    CORRECTION.name: _correction,
    lost_factor.FACTOR.name: _of_person,
    CARD_NETWORK.name: _of_store,
    DISPATCH.name: _of_store,
    TERMS.name: _of_store,
    PAYOUT_LIMITS.name: _of_store,
    MEMBER_ROLE.name: _of_member,
    CONFIRMATIONS.name: _chain,
    NETWORK.name: _new_network,
    ASSET.name: _new_asset,
    ROLES.name: _of_person,
    holds.LIFT.name: _sending,
    SUSPENSION.name: _of_store,
}
