"""Making a payout: what is asked for is checked (orders), then the record with its key and the
reserved coins, in one transaction.

`caps` are further limits (an agent's); they are checked under the same lock as those that staff
set.
"""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from django.conf import settings

from apps.access import operations
from apps.access.access import Access
from apps.assets.models import AcceptedAsset
from apps.assets.selectors import price_of
from apps.chain.networks.base import Address
from apps.chain.networks.families import shown_address
from apps.core import clock, jobs
from apps.core.db.constraints import refused_by
from apps.core.db.sql import insert
from apps.core.errors import Failure
from apps.core.idempotency import make_once
from apps.core.messages.fields import Invalid
from apps.core.models import Viewer
from apps.core.money import Amount, Fiat
from apps.core.process.failpoints import failpoint
from apps.core.text.wording import Worded
from apps.ledger import movements
from apps.ledger.posting import InsufficientBalance
from apps.payments.services.own_fees import said_of_missing
from apps.payouts import states
from apps.payouts.models import Payout, PayoutSettings, PayoutTransition, PaysNetworkFee
from apps.payouts.requests import Bank, PayoutRequest, RawAddress
from apps.payouts.services import approvals, moves
from apps.payouts.services.approvals import WAITING, AmountsToApprove, Maker, in_words, judge
from apps.payouts.services.caps import Cap, check_caps
from apps.payouts.services.destinations import title
from apps.payouts.services.known_addresses import KnownAddress, check_known, known_address
from apps.payouts.services.offramp import offramp_name
from apps.payouts.services.orders import PayoutOrder, Priced, Target, order_of, refuse_unread
from apps.payouts.services.terms import PayoutTerms, terms_of
from apps.stores.models import Store
from apps.stores.staff.suspensions import PayoutsSuspended, refuse_payout


class FailsTooOften(Failure):
    field = "destination"
    message = "Payouts to this destination have failed too often; try again in a day"


class Insufficient(Failure):
    field = "amount_atomic"
    message = "Insufficient available balance"


def create_payout(
    access: Access,
    request: PayoutRequest,
    key: str,
    *,
    caller: str = "",
    caps: Iterable[Cap] = (),
    agent_credential_id: uuid.UUID | None = None,
) -> tuple[Payout, bool]:
    """Calls make_payout, for any kind of caller. Raises what operations.check refuses with, and
    NotSaved, too."""
    check_may(access, is_bank=isinstance(request.target, Bank))
    maker = approvals.maker_of(access)

    def make() -> tuple[Payout, bool]:
        is_person_s = access.user is not None or access.sends_anywhere_from is not None
        if is_person_s and isinstance(request.target, RawAddress):
            check_known(access, known_address(access, request.target.address, access.now()))
        return make_payout(
            access,
            request,
            key,
            store=access.store,
            maker=maker,
            caller=caller,
            caps=caps,
            agent_credential_id=agent_credential_id,
        )

    return _made_before_or(access, caller, key, make)


@dataclass(frozen=True)
class ForeseenPayout:
    """An order with what it will be judged by: read once, for the review and for the payout.
    `known` is what the store knows of its address; a bank has none."""

    request: PayoutRequest
    order: PayoutOrder
    terms: PayoutTerms
    known: KnownAddress | None

    @property
    def lookalike(self) -> str | None:
        return None if self.known is None else self.known.lookalike

    def is_new(self, at: datetime) -> bool:
        """True if nothing was paid there before, or it was saved lately."""
        saved = self.order.target.destination
        if saved is not None:
            return saved.cools_until > at
        return self.known is not None and self.known.is_new


def foresee_payout(
    access: Access, request: PayoutRequest, priced: Priced | None = None
) -> ForeseenPayout:
    """Preview for a page before a code is asked for. Raises what create_payout would refuse before
    caps and the balance decide."""
    refuse_payout(access.store)
    order = order_of(access, access.store, request, priced)
    target = order.target
    if not target.is_bank:
        operations.foresee(access, operations.PAYOUT)
    at = access.now()
    known = None if target.address is None else known_address(access, target.address, at)
    if target.destination is None and known is not None:
        check_known(access, known)
    terms = terms_of(access, access.store, order.amount.asset.pk, at, target.address)
    return ForeseenPayout(request, order, terms, known)


def create_foreseen(
    access: Access, foreseen: ForeseenPayout, key: str, *, caller: str
) -> tuple[Payout, bool]:
    """The payout that a page has shown, once its code was taken. Raises what create_payout
    does."""
    check_may(access, is_bank=foreseen.order.target.is_bank)
    asker = _Asker(approvals.maker_of(access), caller, key)

    def make() -> tuple[Payout, bool]:
        return _place(access, access.store, foreseen.order, asker, terms=foreseen.terms)

    return _made_before_or(access, caller, key, make)


def check_may(access: Access, *, is_bank: bool) -> None:
    operations.check(access, operations.BANK_PAYOUT if is_bank else operations.PAYOUT)


def answer_unread(
    access: Access, refusal: Invalid, key: str, *, asset_id: object, is_bank: bool, caller: str
) -> Payout:
    """Answer to a body that isn't a PayoutRequest, in the order of the contract: permission, the
    payout of a used key, the asset, everything else. Raises what create_payout does, or the
    refusal."""
    check_may(access, is_bank=is_bank)
    earlier = earlier_payout(access, caller, key)
    if earlier is None:
        refuse_unread(access, refusal, asset_id)
    return earlier


def make_payout(
    viewer: Viewer,
    request: PayoutRequest,
    key: str,
    *,
    maker: Maker,
    store: Store | None = None,
    caller: str = "",
    caps: Iterable[Cap] = (),
    agent_credential_id: uuid.UUID | None = None,
) -> tuple[Payout, bool]:
    """The payout of this key, and whether this call made it.

    `store` is the viewer's, where it was read a moment ago. For what has been allowed already.
    Raises Failure, or what `caps` refuse with.
    """
    owner = store or Store.objects.get(pk=viewer.store_id)

    def make() -> tuple[Payout, bool]:
        order = order_of(viewer, owner, request)
        if agent_credential_id is not None:
            order = replace(order, agent_credential_id=agent_credential_id)
        return _place(viewer, owner, order, _Asker(maker, caller, key), caps=caps)

    return _made_before_or(viewer, caller, key, make)


def _made_before_or(
    viewer: Viewer, caller: str, key: str, make: Callable[[], tuple[Payout, bool]]
) -> tuple[Payout, bool]:
    """Payout of a key: a caller who asks again gets what was made, whatever has changed since;
    where `make` isn't refused, the unique key tells."""
    try:
        return make()
    except Failure:
        earlier = earlier_payout(viewer, caller, key)
        if earlier is None:
            raise
        return earlier, False


def earlier_payout(viewer: Viewer, caller: str, key: str) -> Payout | None:
    """Payout made with the key."""
    rows = Payout.objects.visible_to(viewer).filter(idempotency_caller=caller, idempotency_key=key)
    payout: Payout | None = rows.select_related("asset__chain").first()
    return payout


def place(
    viewer: Viewer,
    store: Store,
    order: PayoutOrder,
    key: str,
    *,
    maker: Maker,
    caller: str = "",
    caps: Iterable[Cap] = (),
) -> tuple[Payout, bool]:
    """Make the payout of a checked order, within the caps and the balance. Raises Insufficient,
    PayoutsSuspended, or what a cap refuses with."""
    if (earlier := earlier_payout(viewer, caller, key)) is not None:
        return earlier, False
    return _place(viewer, store, order, _Asker(maker, caller, key), caps=caps)


@dataclass(frozen=True)
class _Asker:
    """The caller, and their key."""

    maker: Maker
    caller: str
    key: str


def _place(
    viewer: Viewer,
    store: Store,
    order: PayoutOrder,
    asker: _Asker,
    *,
    caps: Iterable[Cap] = (),
    terms: PayoutTerms | None = None,
) -> tuple[Payout, bool]:
    refuse_payout(store)
    at = clock.now(store, viewer.mode)
    terms = terms or terms_of(viewer, store, order.amount.asset.pk, at, order.target.address)
    make = partial(_make, viewer, store, order, terms, [*caps, terms.cap], asker, at)
    try:
        return make_once(lambda: earlier_payout(viewer, asker.caller, asker.key), make)
    except InsufficientBalance:
        raise Insufficient(said_of_missing(viewer, order.amount.asset.pk)) from None


def _make(
    viewer: Viewer,
    store: Store,
    order: PayoutOrder,
    terms: PayoutTerms,
    limits: list[Cap],
    asker: _Asker,
    at: datetime,
) -> Payout:
    """The record, within every cap and with what it waits for; then its coins are reserved."""
    amount = order.amount
    target = order.target
    check_caps(store.pk, viewer.mode, amount.asset.pk, amount.atomic, limits, at)
    if terms.failures >= settings.PAYOUT_FAILURES_MAX:
        raise FailsTooOften
    saved = target.destination
    bank = target.destination if target.is_bank else None
    where = title(saved) if saved is not None else shown_address(str(target.address))
    text = Worded("{amount} to {destination}", amount=in_words([amount]), destination=where)
    wish = AmountsToApprove([amount], text)
    worth, approval = judge(viewer, terms.above, asker.maker, wish, at)
    waits = approval is not None and approval.status == WAITING
    # It is never pending before somebody else has approved it: the database refuses that.
    payout = Payout(
        status=Payout.Status.REQUIRES_REVIEW if waits else Payout.Status.PENDING,
        review_reason=states.NEEDS_APPROVER if waits else "",
        store=store,
        mode=viewer.mode,
        created_at=at,
        updated_at=at,
        rail=order.rail,
        schedule=order.schedule,
        asset=amount.asset,
        amount_atomic=amount.atomic,
        destination=saved,
        destination_address=target.address,
        is_simulated=False if viewer.mode == "live" else None,
        bears_network_fee=bank is None
        and terms.settings.payout_network_fee == PaysNetworkFee.MERCHANT,
        provider=offramp_name(viewer.mode) if bank is not None else "",
        fiat_currency=None if bank is None else bank.currency,
        agent_credential_id=order.agent_credential_id,
        maker_id=asker.maker.user_id,
        worth_cents=None if worth is None else worth.cents,
        approval=approval,
        idempotency_caller=asker.caller,
        idempotency_key=asker.key,
    )
    with refused_by(PayoutsSuspended.constraint, PayoutsSuspended):
        insert(payout)
    _begin(viewer, order, payout, at, terms)
    return payout


def _begin(
    viewer: Viewer, order: PayoutOrder, payout: Payout, at: datetime, terms: PayoutTerms
) -> None:
    """Its history and its reserved coins, and on to the sending unless somebody has to look
    first."""
    insert(PayoutTransition(payout=payout, to_status=Payout.Status.PENDING, at=at))
    failpoint("payout.K1")
    movements.payout_created(**moves.booking(payout, at))
    if payout.review_reason == states.NEEDS_APPROVER:
        PayoutTransition.objects.create(
            payout=payout,
            from_status=Payout.Status.PENDING,
            to_status=payout.status,
            note=payout.review_reason,
            at=at,
        )
        return
    reason = (
        states.ASSET_STOPPED
        if terms.is_stopped
        else _review_reason(viewer, terms.settings, order, at)
    )
    if reason:
        moves.move(payout, Payout.Status.REQUIRES_REVIEW, at, reason, review_reason=reason)
    else:
        jobs.enqueue("payouts.advance", mode=payout.mode)


def reason_for_review(payout: Payout, at: datetime) -> str:
    """Why staff should look at a payout that somebody has approved; empty when they needn't.
    `store` and `asset` are at hand."""
    if is_stopped(payout):
        return states.ASSET_STOPPED
    address = payout.destination_address
    target = Target(payout.destination, Address(address) if address is not None else None)
    order = PayoutOrder(Amount(payout.asset, payout.amount_atomic), target, payout.rail)
    return _review_reason(payout, PayoutSettings.of(payout.store), order, at)


def is_stopped(payout: Payout) -> bool:
    """The store's asset is stopped for review."""
    rows = AcceptedAsset.objects.filter(
        store=payout.store_id, mode=payout.mode, asset=payout.asset_id
    )
    return rows.exclude(suspended_at=None).exists()


def _review_reason(viewer: Viewer, chosen: PayoutSettings, order: PayoutOrder, at: datetime) -> str:
    """Why a person should look first; empty when nobody needs to."""
    limit = chosen.payout_review_threshold_cents
    currency = chosen.store.settlement_currency
    if limit is not None:
        price = order.price or price_of(order.amount.asset, currency, clock.real_now())
        if price is None or price.worth(order.amount) > Fiat(limit, currency):
            return states.ABOVE_THRESHOLD
    if chosen.review_new_destinations and is_new_target(viewer, order.target, at):
        return states.NEW_DESTINATION
    return ""


def is_new_target(viewer: Viewer, target: Target, at: datetime) -> bool:
    """True if a saved destination is in its waiting period, or nothing has ever been paid to a raw
    address."""
    if target.destination is not None:
        return target.destination.cools_until > at
    return known_address(viewer, str(target.address), at).is_new
