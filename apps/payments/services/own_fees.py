"""Fees on what came to merchants' own wallets: taken from what the store has here of the same coin,
as far as it reaches; the rest stays due, and is invoiced (decision 764)."""

import uuid

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from apps.core import clock
from apps.core.models import Viewer
from apps.core.rows import Job
from apps.ledger import keys, movements
from apps.ledger.chart import AVAILABLE, OWN_FEES_DUE
from apps.ledger.models import Account, Movement
from apps.ledger.posting import locked_balance
from apps.ledger.selectors import balance_of, collectable_fees, own_balances
from apps.stores.auditing import audit
from apps.stores.models import Store, User

JOB = Job("payments.collect_own_fees", limit=500)
IN_OWN_WALLET = gettext_noop(
    "Insufficient available balance. Coins in your own wallet are not held here: send those from"
    " that wallet"
)


def said_of_missing(viewer: Viewer, asset_id: str) -> str:
    """The sentence for a store that has too little of an asset here, whose coins of it came to its
    own wallet; empty for any other."""
    own = own_balances(viewer.store_id, viewer.mode).get(asset_id)
    return IN_OWN_WALLET if own is not None and own.total_atomic else ""


def collect_own_fees() -> int:
    """Of every store and coin that has both; how many there were."""

    return JOB.each(lambda: collectable_fees()[: JOB.limit], _collect)


def _collect(account_id: int) -> None:
    account = Account.objects.select_related("store").get(pk=account_id)
    store = account.store
    assert store is not None  # by the chart
    of_store = (store.pk, account.mode, account.asset_id)
    with transaction.atomic():
        due = locked_balance(*of_store, OWN_FEES_DUE)
        amount = min(due, locked_balance(*of_store, AVAILABLE))
        if amount <= 0:
            return
        # The lock of what is due keeps two from having one number.
        number = Movement.objects.filter(
            key__startswith=keys.OWN_FEES.of(store.pk, account.asset_id, "")
        ).count()
        movements.own_fees_collected(
            number=number + 1,
            store_id=store.pk,
            mode=account.mode,
            asset_id=account.asset_id,
            amount_atomic=amount,
            at=clock.now(store, account.mode),
        )


def note_paid(
    store: Store,
    mode: str,
    asset_id: str,
    amount_atomic: int,
    *,
    invoice: str,
    staff: User,
    reason: str,
) -> bool:
    """The merchant has paid an invoice for fees: they are due no more. True if this call noted it.

    Raises InsufficientBalance for more than is due. It moves nothing that the service holds.
    """
    with transaction.atomic():
        posted = movements.own_fees_paid(
            invoice=invoice,
            staff_id=staff.pk,
            reason=reason,
            store_id=store.pk,
            mode=mode,
            asset_id=asset_id,
            amount_atomic=amount_atomic,
            at=clock.now(store, mode),
        )
        if posted.is_new:
            audit.record(
                "own_fees.paid",
                store=store,
                mode=mode,
                name=asset_id,
                reason=reason,
                details={"amount_atomic": amount_atomic, "invoice": invoice, "staff": staff.pk},
            )
    return posted.is_new


def debtors(mode: str) -> "QuerySet[Store]":
    """The stores that have ever owed such fees in a mode."""
    rows = Account.objects.filter(mode=mode, kind=OWN_FEES_DUE)
    return Store.objects.filter(pk__in=rows.values("store_id")).order_by("name", "pk")


def due_of(store_id: uuid.UUID, mode: str) -> dict[str, int]:
    """Fees that are due, by asset."""
    rows = Account.objects.filter(store_id=store_id, mode=mode, kind=OWN_FEES_DUE)
    found = {row.asset_id: balance_of(row.pk) for row in rows}
    return {asset_id: amount for asset_id, amount in found.items() if amount}
