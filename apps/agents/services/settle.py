"""Drawing on a mandate: the settlement's row with its key first, then the mandate's lock, its caps, and the debit, in one transaction.

What is checked under the lock can't change before the debit, so no number of simultaneous draws gets past a cap or a balance.
"""

import secrets
from typing import Any

from django.db import IntegrityError

from apps.access.access import Access
from apps.agents.models import Mandate, Settlement, SettlementStep
from apps.agents.services import authorize
from apps.agents.services.mandates import RefRequired, change_status, find_mandate, status_at
from apps.agents.services.tokens import asset_for
from apps.core import clock, jobs
from apps.core.errors import Coded
from apps.core.failpoints import failpoint
from apps.core.idempotency import once
from apps.core.literal import AtomicAmount, Field, Invalid, Text
from apps.ledger import movements
from apps.ledger.posting import InsufficientBalance

NONCE_BYTES = 16
_NONCE_CONSTRAINT = "settlement_nonce_once"


class InvalidAmount(Coded):
    code = "invalid_amount"


class AssetMismatch(Coded):
    code = "asset_mismatch"
    message = "The mandate is in another asset"


class NonceReused(Coded):
    code = "nonce_reused"
    message = "The nonce was used before on this mandate"


class SpendCapExceeded(Coded):
    status = 403
    code = "spend_cap_exceeded"
    message = "The amount is above what the mandate allows"


class InsufficientForSettlement(Coded):
    code = "insufficient_balance"
    message = "Insufficient balance"


class Requirements(Field):
    """An object, kept as it came for audit."""

    def check(self, value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Invalid(f"{name} must be an object")
        return value


def create_settlement(access: Access, body: dict[str, Any], key: str) -> tuple[Settlement, bool]:
    """The settlement of this key, and whether this call made it.

    Raises MandateRequired, RefRequired, InvalidAmount, Invalid, MandateNotFound, AssetMismatch, NonceReused, SpendCapExceeded or
    InsufficientForSettlement.
    """
    if not authorize.has_provider(access.store):
        raise authorize.MandateRequired
    rows = Settlement.objects.filter(credential_id=access.credential_id, idempotency_key=key).select_related("mandate")
    earlier = rows.first()
    if earlier is not None:
        return earlier, False
    settlement = _unsaved(access, body, key)
    try:
        return once(rows, lambda: _draw(settlement))
    except InsufficientBalance:
        raise InsufficientForSettlement from None
    except IntegrityError as error:
        if _NONCE_CONSTRAINT in str(error):
            raise NonceReused from None
        raise


def _unsaved(access: Access, body: dict[str, Any], key: str) -> Settlement:
    amount = _amount(body)
    asset = asset_for(access.mode, Text(20, required=True).read(body, "asset_id"))
    ref = Text(255).read(body, "mandate_ref")
    if not ref or not ref.strip():
        raise RefRequired
    mandate = find_mandate(access, ref)
    if mandate.asset_id != asset.pk:
        raise AssetMismatch
    at = access.now()
    pay_to = Text(255).read(body, "pay_to") or None
    return Settlement(
        store=access.store,
        mode=access.mode,
        created_at=at,
        updated_at=at,
        mandate=mandate,
        credential_id=mandate.credential_id,
        asset=asset,
        amount_atomic=amount,
        nonce=Text(255).read(body, "nonce") or secrets.token_hex(NONCE_BYTES),
        pay_to=pay_to,
        payer=Text(255).read(body, "payer"),
        requirements=Requirements().read(body, "requirements"),
        is_dispatched=access.store.x402_dispatch and access.is_live and amount > 0,
        idempotency_key=key,
    )


def _amount(body: dict[str, Any]) -> int:
    try:
        return int(AtomicAmount(required=True).read(body, "amount_atomic"))
    except Invalid as refusal:
        raise InvalidAmount(str(refusal)) from None


def _draw(settlement: Settlement) -> Settlement:
    """Insert, lock, check, debit. What isn't dispatched is submitted at once and stays so."""
    if not settlement.is_dispatched:
        settlement.status = Settlement.Status.SUBMITTED
    settlement.save(force_insert=True)
    SettlementStep.objects.create(settlement=settlement, to_status=settlement.status, at=settlement.created_at)
    mandate = Mandate.objects.select_for_update(no_key=True, of=("self",)).select_related("store").get(pk=settlement.mandate_id)
    at, amount = clock.now(mandate.store, mandate.mode), settlement.amount_atomic
    if status_at(mandate, at) != Mandate.Status.ACTIVE:
        raise authorize.MandateRequired
    if amount > mandate.remaining_atomic or (mandate.per_call_cap_atomic is not None and amount > mandate.per_call_cap_atomic):
        raise SpendCapExceeded
    if amount == 0:
        return settlement
    movements.x402_settled(
        store_id=settlement.store_id,
        mode=settlement.mode,
        asset_id=settlement.asset_id,
        settlement_id=settlement.pk,
        amount_atomic=amount,
        at=at,
    )
    Mandate.objects.filter(pk=mandate.pk).update(spent_atomic=mandate.spent_atomic + amount, updated_at=at)
    if amount == mandate.remaining_atomic:
        change_status(mandate, Mandate.Status.EXHAUSTED, at)
    failpoint("settlement.K1")
    if settlement.is_dispatched:
        jobs.enqueue("agents.advance_settlements", settlement.pk)
    return settlement
