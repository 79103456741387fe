"""Requests of members of staff, one of each kind: how it is asked for, how often it was done, how
its target changes meanwhile."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.access.factors import lost_factor, second_factor
from apps.access.members import roles as member_roles
from apps.assets import confirmations
from apps.assets.models import Asset, Chain
from apps.chain import additions, requested_additions
from apps.chain.models import SendingHold
from apps.chain.sending import holds
from apps.core import clock
from apps.ledger import movements
from apps.ledger.models import Movement
from apps.onramp.models import Credential
from apps.onramp.services import credentials
from apps.payments.services import corrections
from apps.payouts.models import Payout
from apps.payouts.services import limits, review
from apps.payouts.services.caps import set_store_cap
from apps.staff.decisions.kinds import KINDS
from apps.stores.models import AuditEntry, Member, StaffRequest, Store, User, WorkerOrder
from apps.stores.services import change_store
from apps.stores.settings import write_settings
from apps.stores.staff import dispatch, four_eyes, staffing, suspensions, terms
from apps.stores.staff.four_eyes import RequestKind
from tests import make
from tests.cast import Cast

GNOSIS = additions.NetworkFacts(
    id="gnosis",
    name="Gnosis",
    symbol="GNO",
    number=100,
    mode="live",
    confirmations=20,
    confirmations_floor=5,
    block_seconds=5.0,
    fee_symbol="xDAI",
)
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@dataclass(frozen=True)
class Wish:
    """One kind: how it is asked for, how often it was done, and how somebody else changes its
    target meanwhile. Neither changes the rows that it was made with, only the database."""

    ask: Callable[[User], Any]
    done: Callable[[], int]
    change: Callable[[], object]


def _payout(cast: Cast) -> Wish:
    shop = cast.bakery
    make.store_coins(shop.store, "SETH", 10**18)
    change_store(shop.store, payout_review_threshold_cents=0)
    row = Payout.objects.get(pk=make.payout(shop.test, 10**17)["id"])
    return Wish(
        lambda staff: review.approve_payout(row, "Their supplier", staff),
        lambda: row.transitions.filter(from_status="requires_review", to_status="pending").count(),
        lambda: Payout.objects.filter(pk=row.pk).update(destination_address=make.fresh_address()),
    )


def _correction(cast: Cast) -> Wish:
    store = cast.bakery.store
    asset = Asset.objects.select_related("chain").get(pk="SETH")
    wanted = corrections.Correction(uuid.uuid4().hex, asset, "available", store, 7)
    book: dict[str, Any] = {
        "key": wanted.key,
        "mode": "test",
        "asset_id": "SETH",
        "kind": "available",
        "store_id": store.pk,
        "amount_atomic": 7,
        "reason": "x",
    }
    return Wish(
        lambda staff: corrections.request_correction(wanted, "Goodwill", staff, clock.real_now()),
        lambda: Movement.objects.filter(key=f"correction:{wanted.key}", reason="Goodwill").count(),
        lambda: movements.correction(staff_id=cast.alice.pk, at=clock.real_now(), **book),
    )


def _factor(cast: Cast) -> Wish:
    second_factor.switch_on(cast.alice, SECRET)

    def another() -> None:
        second_factor.take_off(cast.alice)
        second_factor.switch_on(cast.alice, SECRET)

    taken_off = AuditEntry.objects.filter(
        action="second_factor.removed", actor_kind="staff", target_id=str(cast.alice.pk)
    )
    return Wish(
        lambda staff: lost_factor.request_removal(
            cast.alice, "Showed her passport", staff, clock.real_now()
        ),
        lambda: taken_off.count() or int(second_factor.confirmed(cast.alice) is None),
        another,
    )


def _network(cast: Cast) -> Wish:
    row = Credential(provider="onramper", mode="test", store=cast.bakery.store)
    credentials.keep_secrets(row, api_key="pk_test_0123456789abcdef")
    change = credentials.CredentialChange(
        row, row.provider, row.mode, None, webhook_secret="whsec-new"
    )
    changed = AuditEntry.objects.filter(action="card_credential.changed", target_id=str(row.pk))
    return Wish(
        lambda staff: credentials.request_change(change, "A new contract", staff, clock.real_now()),
        changed.count,
        lambda: Credential.objects.filter(pk=row.pk).update(api_key_hint="pk_other…"),
    )


def _dispatch(cast: Cast) -> Wish:
    store = cast.bakery.store
    return Wish(
        lambda staff: dispatch.request_dispatch(
            store, {"x402_dispatch": True}, "Their contract", staff, clock.real_now()
        ),
        lambda: AuditEntry.objects.filter(
            store_id=store.pk, details__x402_dispatch=[False, True]
        ).count(),
        lambda: write_settings(
            Store.objects.get(pk=store.pk), {"authorization_url": "https://elsewhere.example"}
        ),
    )


def _terms(cast: Cast) -> Wish:
    store = cast.bakery.store
    return Wish(
        lambda staff: terms.request_terms(
            store, {"fee_fraction": Decimal("0.02")}, "Their contract", staff, clock.real_now()
        ),
        lambda: AuditEntry.objects.filter(
            store_id=store.pk, details__fee_fraction=["0.01000000", "0.02"]
        ).count(),
        lambda: write_settings(
            Store.objects.get(pk=store.pk), {"payout_review_threshold_cents": 500}
        ),
    )


def _member_role(cast: Cast) -> Wish:
    store = cast.bakery.store
    return Wish(
        lambda staff: member_roles.request_role(
            store, cast.bob, "admin", "The owner is ill", staff, clock.real_now()
        ),
        lambda: AuditEntry.objects.filter(
            store_id=store.pk, details__role=["developer", "admin"]
        ).count(),
        lambda: Member.objects.filter(store=store, user=cast.bob).update(role="viewer"),
    )


def _confirmations(cast: Cast) -> Wish:
    chain = Chain.objects.get(pk="polygon")
    return Wish(
        lambda staff: confirmations.request_confirmations(
            chain, 64, "Blocks are final sooner", staff, clock.real_now()
        ),
        lambda: AuditEntry.objects.filter(
            target_id="polygon", details__required_confirmations=[128, 64]
        ).count(),
        lambda: Chain.objects.filter(pk="polygon").update(required_confirmations=100),
    )


def _added_network(cast: Cast) -> Wish:
    """A worker adds it; what is carried out here is the order."""
    return Wish(
        lambda staff: requested_additions.request_network(
            GNOSIS, "Asked for by many", staff, clock.real_now()
        ),
        WorkerOrder.objects.filter(kind="addition").count,
        lambda: additions.add_network(GNOSIS),
    )


def _added_asset(cast: Cast) -> Wish:
    facts = additions.AssetFacts(
        "POL_EURC", "polygon", "EURC", "Euro Coin", 6, "1", contract="0x" + "12" * 20
    )
    return Wish(
        lambda staff: requested_additions.request_asset(
            facts, "Asked for by many", staff, clock.real_now()
        ),
        WorkerOrder.objects.filter(kind="addition").count,
        lambda: additions.create_asset(facts),
    )


def _roles(cast: Cast) -> Wish:
    return Wish(
        lambda staff: staffing.request_roles(
            cast.charlie, ["finance"], "Joined us", staff, clock.real_now()
        ),
        lambda: AuditEntry.objects.filter(
            target_id=str(cast.charlie.pk), details__roles=["none", "finance"]
        ).count(),
        lambda: staffing.set_roles(User.objects.get(pk=cast.charlie.pk), ["support"]),
    )


def _sending(cast: Cast) -> Wish:
    hold = holds.place(
        None, Asset.objects.get(pk="SETH"), "A doubt", make.clerk("admin"), clock.real_now()
    )
    return Wish(
        lambda staff: holds.request_lift(hold, "The doubt is settled", staff, clock.real_now()),
        lambda: SendingHold.objects.filter(pk=hold.pk).exclude(lifted_at=None).count(),
        lambda: SendingHold.objects.filter(pk=hold.pk).update(reason="Another doubt"),
    )


def _payout_limits(cast: Cast) -> Wish:
    store = cast.bakery.store
    cap = set_store_cap(store, "SETH", daily_atomic=10**18)
    return Wish(
        lambda staff: limits.request_limits(
            cap, {"daily_atomic": 2 * 10**30}, "Their contract", staff, clock.real_now()
        ),
        lambda: (
            AuditEntry.objects.filter(
                store_id=store.pk, details__daily_atomic=[10**18, 2 * 10**30]
            ).count()
            + AuditEntry.objects.filter(
                store_id=store.pk, details__daily_atomic=[str(10**18), str(2 * 10**30)]
            ).count()
        ),
        lambda: set_store_cap(store, "SETH", daily_atomic=5),
    )


def _suspension(cast: Cast) -> Wish:
    store = cast.bakery.store
    return Wish(
        lambda staff: suspensions.request_suspension(
            store, "payouts", "A report of fraud", staff, clock.real_now()
        ),
        lambda: AuditEntry.objects.filter(
            store_id=store.pk, action="store.changed", reason="A report of fraud"
        ).count(),
        lambda: change_store(Store.objects.get(pk=store.pk), payouts_suspended_at=clock.real_now()),
    )


WISHES: dict[str, Callable[[Cast], Wish]] = {
    "payout": _payout,
    "correction": _correction,
    "second_factor": _factor,
    "card_network": _network,
    "dispatch": _dispatch,
    "store_terms": _terms,
    "payout_limits": _payout_limits,
    "member_role": _member_role,
    "confirmations": _confirmations,
    "network": _added_network,
    "asset": _added_asset,
    "staff_roles": _roles,
    "sending": _sending,
    "suspension": _suspension,
}


def asked_for(
    name: str, cast: Cast, staff: User, wish: Wish | None = None
) -> tuple[RequestKind, StaffRequest, Wish]:
    wish = wish or WISHES[name](cast)
    row = wish.ask(staff)
    assert isinstance(row, StaffRequest) and row.kind == name
    return KINDS[name], row, wish


def approve(kind: RequestKind, row: StaffRequest, staff: User, **options: Any) -> StaffRequest:
    return four_eyes.approve(
        kind,
        row.pk,
        staff,
        options.pop("at", clock.real_now()),
        **{"digest": row.digest, "reason": "Checked", **options},
    )
