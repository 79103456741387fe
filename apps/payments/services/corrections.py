"""Corrections of the books: one member of staff asks for it, another approves it, and it is booked
against the treasury, once."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from apps.assets.models import Asset, Rate
from apps.assets.selectors import current_rate
from apps.core import clock, money
from apps.core.db import locks
from apps.core.errors import Failure
from apps.core.messages.fields import is_uuid
from apps.core.rows import Job
from apps.core.text.regions import in_english
from apps.core.text.words import code_words
from apps.ledger import movements
from apps.ledger.chart import CHART, HELD, STORE, TREASURY
from apps.ledger.movements.own import correction_key
from apps.ledger.posting import InsufficientBalance, may_post
from apps.ledger.selectors import account_balance, is_posted
from apps.payments.models import Payment
from apps.payments.services.treasury import AlreadyBooked
from apps.stores import staff_roles
from apps.stores.models import StaffRequest, Store, User, WorkerOrder
from apps.stores.staff import four_eyes, worker_orders
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind
from apps.stores.staff.worker_orders import OrderKind

_CURRENCY = "EUR"  # in which an account that is nobody's is shown


class NotCorrected(Failure):
    """The text says why."""


class AboveLimit(Failure):
    message = (
        "Above CORRECTIONS_DAY_CENTS, or without a rate: an operator books it with the command"
        " treasury correct"
    )


@dataclass(frozen=True)
class Correction:
    """Credit (or, below zero, debit) an account against the treasury; what is held, for the payment
    it is held for.

    `key` books it once, however often somebody asks.
    """

    key: str
    asset: Asset
    kind: str
    store: Store | None
    amount_atomic: int
    payment: Payment | None = None


def request_correction(
    correction: Correction, reason: str, staff: User, at: datetime
) -> StaffRequest:
    """Nothing is booked yet. Raises NotCorrected, AlreadyBooked, or what four_eyes.ask raises."""
    return four_eyes.ask(CORRECTION, wish_of(correction, reason), staff, at)


def correct(
    correction: Correction, reason: str, staff: User, second: User, at: datetime
) -> StaffRequest:
    """Both steps for two who are named to an operator's command."""
    return four_eyes.at_once(CORRECTION, wish_of(correction, reason), staff, second, at)


def wish_of(correction: Correction, reason: str) -> Proposal:
    """Raises NotCorrected."""
    _refuse(correction)
    asset = correction.asset
    store = correction.store
    payment = correction.payment
    facts = {
        "key": correction.key,
        "mode": asset.mode,
        "asset": asset.pk,
        "account": correction.kind,
        "store": str(store.pk) if store else None,
        "amount_atomic": str(correction.amount_atomic),
        "payment": str(payment.pk) if payment else None,
    }
    before = account_balance(store.pk if store else None, asset.mode, asset.pk, correction.kind)
    owner = f"{store.name}'s" if store else "the service's"
    summary = f"{owner} account {code_words(correction.kind)}, {asset.full_name}" + (
        f" for payment {payment.reference}" if payment else ""
    )
    currency = store.settlement_currency if store else _CURRENCY
    rate = current_rate(asset.pk, currency, clock.real_now())
    lines = [
        (
            f"Account: {summary}",
            _text(asset, before, rate),
            _text(asset, before + correction.amount_atomic, rate),
        ),
        ("Amount, below zero a debit", "", _text(asset, correction.amount_atomic, rate)),
    ]
    return Proposal(correction.key[:100], f"Correction of {summary}", facts, lines, reason)


def _refuse(correction: Correction) -> None:
    store = correction.store
    payment = correction.payment
    if not correction.key or len(correction.key) > 100:
        raise NotCorrected("A correction's key has at most 100 characters")
    if correction.amount_atomic == 0:
        raise NotCorrected("A correction is of more than nothing")
    if (
        correction.kind not in CHART
        or correction.kind == TREASURY
        or (CHART[correction.kind].owner == STORE) != (store is not None)
    ):
        raise NotCorrected(f"{correction.kind} can't be corrected")
    if (correction.kind == HELD) != (payment is not None):
        raise NotCorrected("what is held is corrected for its payment, and nothing else is")
    if payment is not None and (
        store is None or payment.store_id != store.pk or payment.mode != correction.asset.mode
    ):
        raise NotCorrected("the payment is another store's, or of the other mode")


def _text(asset: Asset, amount_atomic: int, rate: Rate | None) -> str:
    """Coins, what they are worth now, and the exact number."""
    coins = f"{money.amount_text(amount_atomic, asset.atomic_decimals)} {asset.coin_symbol}"
    if rate is None:
        return f"{coins} ({amount_atomic} atomic units)"
    cents = money.cents_for_atomic(amount_atomic, rate.rate, asset.atomic_decimals)
    sign = money.MINUS if cents < 0 else ""
    worth = in_english(money.Fiat(abs(cents), rate.currency))
    return f"{coins}, {sign}{worth} ({amount_atomic} atomic units)"


def _before(facts: Facts) -> Facts:
    """Balances change all the time, and a correction is of an amount: what must not have changed is
    that it isn't booked."""
    if is_posted([correction_key(facts["key"])]):
        raise AlreadyBooked
    return {}


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> None:
    """Carries out a request, or asks a worker to: where people are served, nothing that is written
    proves it."""
    if may_post("correction"):
        _book(request, facts, at)
        return
    worker_orders.place(
        ORDER,
        target_id=str(request.pk),
        store=_store_of(facts),
        mode=facts["mode"],
        name=request.name,
        reason=request.reason,
        staff=request.asked_by,
    )


def _store_of(facts: Facts) -> Store | None:
    return Store.objects.get(pk=facts["store"]) if facts["store"] else None


def _book(request: StaffRequest, facts: Facts, at: datetime) -> None:
    store = facts["store"]
    payment = facts["payment"]
    try:
        with transaction.atomic():
            posted = movements.correction(
                key=facts["key"],
                mode=facts["mode"],
                asset_id=facts["asset"],
                kind=facts["account"],
                store_id=uuid.UUID(store) if store else None,
                amount_atomic=int(facts["amount_atomic"]),
                reason=request.reason,
                staff_id=request.asked_by_id,
                request_id=request.pk,
                at=at,
                payment_id=uuid.UUID(payment) if payment else None,
            )
    except InsufficientBalance:
        raise NotCorrected(
            "the account, or what the payment holds of it, would go below zero"
        ) from None
    if not posted.is_new:
        raise AlreadyBooked


CORRECTION = RequestKind(
    "correction",
    gettext_noop("A ledger correction"),
    staff_roles.CORRECTION,
    _before,
    _carry_out,
    moves_money=True,
)


# --- by a worker ----------------------------------------------------------------------------------


def _decided(order: WorkerOrder) -> tuple[StaffRequest, Facts]:
    """The request behind an order, as two of finance staff have decided it who still may. Raises a
    Failure."""
    rows = StaffRequest.objects.filter(kind=CORRECTION.name, state=StaffRequest.State.APPROVED)
    ids = [order.target_id] if is_uuid(order.target_id) else []
    request = rows.select_related("asked_by", "decided_by").filter(pk__in=ids).first()
    if request is None or request.decided_by is None:
        raise NotCorrected("Nobody has approved it")
    facts = four_eyes.content_of(request).facts
    if (order.mode, str(order.store_id or "")) != (facts["mode"], facts["store"] or ""):
        raise NotCorrected("The order names another account than the request")
    asset = Asset.objects.select_related("chain").get(pk=facts["asset"])
    if asset.mode != facts["mode"]:
        raise NotCorrected("The asset is of the other mode")
    people = {request.asked_by_id: request.asked_by, request.decided_by.pk: request.decided_by}
    if len(people) < 2 or not all(
        person.is_active and staff_roles.may(person, staff_roles.CORRECTION)
        for person in people.values()
    ):
        raise NotCorrected("It takes two members of finance staff, who still are")
    return request, facts


def _describe(order: WorkerOrder) -> str:
    request, facts = _decided(order)
    asset = Asset.objects.get(pk=facts["asset"])
    amount = int(facts["amount_atomic"])
    coins = f"{money.amount_text(amount, asset.atomic_decimals)} {asset.coin_symbol}"
    owner = order.store.name if order.store else "the service"
    people = f"requested by {request.asked_by}, approved by {request.decided_by}"
    return f"{coins} on the account {code_words(facts['account'])} of {owner}, {people}"


def _work(order: WorkerOrder, at: datetime) -> str:
    request, facts = _decided(order)
    locks.hold_in_transaction(locks.LockKind.CORRECTIONS, facts["mode"])
    if facts["mode"] == "live" and facts["store"] and int(facts["amount_atomic"]) > 0:
        _refuse_above_limit(facts, at)
    _book(request, facts, at)
    return "Booked"


def _refuse_above_limit(facts: Facts, at: datetime) -> None:
    """Refuses what is beyond the amount that the web may have workers credit stores with in a day,
    all stores together."""
    done = WorkerOrder.objects.filter(
        kind=ORDER.name, mode="live", is_done=True, ended_at__gt=at - timedelta(days=1)
    ).exclude(store=None)
    requests = StaffRequest.objects.filter(pk__in=list(done.values_list("target_id", flat=True)))
    booked = [four_eyes.content_of(request).facts for request in requests]
    worths = [_worth_cents(one, at) for one in (*booked, facts)]
    if None in worths or sum(filter(None, worths)) > settings.CORRECTIONS_DAY_CENTS:
        raise AboveLimit


def _worth_cents(facts: Facts, at: datetime) -> int | None:
    """In euros at the rate of now; None without one."""
    rate = current_rate(facts["asset"], _CURRENCY, at)
    if rate is None:
        return None
    decimals = Asset.objects.get(pk=facts["asset"]).atomic_decimals
    return max(0, money.cents_for_atomic(int(facts["amount_atomic"]), rate.rate, decimals))


ORDER = OrderKind(
    "correction",
    gettext_noop("A ledger correction"),
    "payments.advance_treasury",
    Job("payments.book_corrections", in_transaction=False),
    staff_roles.ORDER_STOP,
    _describe,
    _work,
)


def book_corrections() -> int:
    """Books the corrections that staff have decided in the web; how many were looked at."""
    return worker_orders.work(ORDER)
