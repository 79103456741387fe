"""Drawing on a mandate: the settlement's row with its key first, then the mandate's lock with its
caps, and the debit, in one transaction.

What is checked with the lock can't change before the debit, so no number of simultaneous draws gets
past a cap or a balance. The statements are written once: an agent that pays per call makes them all
day.
"""

import secrets
import uuid
from datetime import datetime

from django.db import IntegrityError
from psycopg.types.json import Jsonb

from apps.access import operations
from apps.access.access import Access
from apps.access.waiting_period import StillNew
from apps.agents.models import AuthorizationProvider, Mandate, Settlement
from apps.agents.requests.mandates import SettlementRequest
from apps.agents.services import authorize
from apps.agents.services.mandates import change_status, find_mandate, status_at
from apps.agents.services.tokens import require_active
from apps.agents.states import MANDATE
from apps.chain.networks.families import stored
from apps.core import clock, jobs
from apps.core.db.constraints import constraint_of
from apps.core.db.sql import Statement
from apps.core.errors import Failure, RefusalKind
from apps.core.idempotency import make_once
from apps.core.messages.invalid import OF_BODIES, Invalid
from apps.core.process.failpoints import failpoint
from apps.ledger import movements
from apps.ledger.posting import InsufficientBalance
from apps.payouts.services.destinations import check_credential
from apps.stores.staff.suspensions import PayoutsSuspended, refuse_payout

NONCE_BYTES = 16
_NONCE_CONSTRAINT = "settlement_nonce_once"
# column -> attribute
_COLUMNS = {str(field.column): field.attname for field in Settlement._meta.concrete_fields}
_KEYS = Statement(
    "SELECT id FROM agents_settlement WHERE credential_id = %(credential_id)s AND idempotency_key ="
    " %(key)s"
)
# The same with what staff have set, in one question.
_START = Statement("""
SELECT (SELECT id FROM agents_settlement WHERE credential_id = %(credential_id)s
        AND idempotency_key = %(key)s),
    coalesce(s.authorization_provider, 'none'), coalesce(s.x402_dispatch, false)
FROM (VALUES (1)) AS one LEFT JOIN agents_agentsettings s ON s.store_id = %(store_id)s
""")
_INSERT = Statement(f"""
WITH made AS (
    INSERT INTO agents_settlement ({", ".join(_COLUMNS)})
    VALUES ({", ".join(f"%({column})s" for column in _COLUMNS)})
    RETURNING id, status, created_at
)
INSERT INTO agents_settlementstep (settlement_id, from_status, to_status, at, note)
SELECT id, NULL, status, created_at, '' FROM made RETURNING settlement_id
""")  # noqa: S608  # only names of columns are put in
# Lock, caps and debit in one: anyone who had to wait for the row is measured against what it has
# become.
_SPEND = Statement("""
UPDATE agents_mandate m
SET spent_atomic = m.spent_atomic + %(amount)s::numeric,
    updated_at = CASE WHEN %(amount)s::numeric > 0 THEN %(at)s::timestamptz ELSE m.updated_at END
FROM stores_store s
WHERE m.id = %(mandate_id)s AND s.id = m.store_id AND m.status = 'active'
  AND m.spent_atomic + %(amount)s::numeric <= m.total_cap_atomic
  AND (m.per_call_cap_atomic IS NULL OR %(amount)s::numeric <= m.per_call_cap_atomic)
RETURNING m.expires_at, s.test_offset_seconds, m.spent_atomic = m.total_cap_atomic
""")


class AssetMismatch(Failure):
    code = "asset_mismatch"
    message = "The mandate is in another asset"


class NonceReused(Failure):
    code = "nonce_reused"
    message = "The nonce was used before on this mandate"


class SpendCapExceeded(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "spend_cap_exceeded"
    message = "The amount is above what the mandate allows"


class InsufficientForSettlement(Failure):
    code = "insufficient_balance"
    message = "Insufficient balance"


_OF_CONSTRAINT: dict[str, type[Failure]] = {
    _NONCE_CONSTRAINT: NonceReused,
    PayoutsSuspended.constraint: PayoutsSuspended,
}


def create_settlement(
    access: Access, request: SettlementRequest, key: str
) -> tuple[Settlement, bool]:
    """The settlement of this key, and whether this call made it.

    Raises MandateRequired, MandateNotFound, AssetMismatch, NonceReused, SpendCapExceeded,
    InsufficientForSettlement, PayoutsSuspended, or what a wrong asset raises.
    """
    earlier, is_sending = _start(access, key)
    if earlier is not None:
        return earlier, False
    settlement = _unsaved(access, request, key, is_sending=is_sending)
    try:
        return make_once(lambda: _earlier(access, key), lambda: _draw(settlement))
    except InsufficientBalance:
        raise InsufficientForSettlement from None
    except IntegrityError as error:
        refusal = _OF_CONSTRAINT.get(constraint_of(error))
        if refusal is None:
            raise
        raise refusal from None


def answer_unread(access: Access, refusal: Invalid, key: str, *, asset_id: object) -> Settlement:
    """Answer to a body that isn't a SettlementRequest, in the order of the contract: permission,
    the settlement of a used key, the asset, the amount. Raises what create_settlement does, or the
    refusal."""
    earlier, _ = _start(access, key)
    if earlier is not None:
        return earlier
    if (
        refusal.rule not in OF_BODIES
        and isinstance(asset_id, str)
        and refusal.field not in ("amount_atomic", "asset_id")
    ):
        require_active(access.mode, asset_id)
    raise refusal


def _start(access: Access, key: str) -> tuple[Settlement | None, bool]:
    """The settlement that the key has made, and whether the store's draws are sent on the chain.
    Raises what operations.check does, or MandateRequired."""
    operations.check(access, operations.SETTLEMENT)
    ((settlement_id, provider, is_sending),) = _START.rows(
        credential_id=access.credential_id, key=key, store_id=access.store_id
    )
    if provider == AuthorizationProvider.NONE:
        raise authorize.MandateRequired
    return None if settlement_id is None else _settlement(settlement_id), is_sending


def _earlier(access: Access, key: str) -> Settlement | None:
    """The settlement that the key has made."""
    rows = _KEYS.rows(credential_id=access.credential_id, key=key)
    return _settlement(rows[0][0]) if rows else None


def _settlement(settlement_id: uuid.UUID) -> Settlement:
    settlement: Settlement = Settlement.objects.select_related("mandate").get(pk=settlement_id)
    return settlement


def _unsaved(
    access: Access, request: SettlementRequest, key: str, *, is_sending: bool
) -> Settlement:
    refuse_payout(access.store)
    require_active(access.mode, request.asset_id)
    mandate = find_mandate(access, request.mandate_ref)
    if mandate.asset_id != request.asset_id:
        raise AssetMismatch
    at = access.now()
    is_dispatched = is_sending and access.is_live and request.amount_atomic > 0
    if is_dispatched and request.pay_to:
        _check_recipient(access, stored(request.pay_to))
    return Settlement(
        store=access.store,
        mode=access.mode,
        created_at=at,
        updated_at=at,
        mandate=mandate,
        credential_id=mandate.credential_id,
        asset_id=request.asset_id,
        amount_atomic=request.amount_atomic,
        nonce=request.nonce or secrets.token_hex(NONCE_BYTES),
        pay_to=request.pay_to,
        payer=request.payer,
        requirements=request.requirements,
        is_dispatched=is_dispatched,
        status=Settlement.Status.PENDING if is_dispatched else Settlement.Status.SUBMITTED,
        idempotency_key=key,
    )


def _check_recipient(access: Access, address: str) -> None:
    """A new agent sends coins only to an address that the store knows. Raises
    authorize.AuthorizationDenied."""
    try:
        check_credential(access, address)
    except StillNew as refusal:
        raise authorize.AuthorizationDenied(refusal.text) from None


def _draw(settlement: Settlement) -> Settlement:
    """Insert, spend, debit. What isn't dispatched is submitted at once and stays so."""
    values: dict[str, object] = {
        column: getattr(settlement, name) for column, name in _COLUMNS.items()
    }
    _INSERT.rows(
        **values
        | {
            "requirements": (
                None if settlement.requirements is None else Jsonb(settlement.requirements)
            )
        }
    )
    settlement._state.adding = False
    at = _spend(settlement)
    if not settlement.amount_atomic:
        return settlement
    movements.x402_settled(
        store_id=settlement.store_id,
        mode=settlement.mode,
        asset_id=settlement.asset_id,
        settlement_id=settlement.pk,
        amount_atomic=settlement.amount_atomic,
        at=at,
    )
    failpoint("settlement.K1")
    if settlement.is_dispatched:
        jobs.enqueue("agents.advance_settlements", mode=settlement.mode)
    return settlement


def _spend(settlement: Settlement) -> datetime:
    """Take the amount from the mandate, which stays locked, and tell when. Raises MandateRequired
    or SpendCapExceeded."""
    mandate = settlement.mandate
    amount = settlement.amount_atomic
    spent = _SPEND.rows(mandate_id=mandate.pk, amount=amount, at=settlement.created_at)
    if not spent:
        mandate.refresh_from_db(fields=["status", "expires_at"])
        is_over = (
            status_at(mandate, clock.now(settlement.store, settlement.mode))
            != Mandate.Status.ACTIVE
        )
        raise authorize.MandateRequired if is_over else SpendCapExceeded
    MANDATE.show(mandate, Mandate.Status.ACTIVE)
    mandate.expires_at, settlement.store.test_offset_seconds, is_exhausted = spent[0]
    # Anyone who has waited for the lock may have come too late.
    at = clock.now(settlement.store, settlement.mode)
    if status_at(mandate, at) != Mandate.Status.ACTIVE:
        raise authorize.MandateRequired
    if is_exhausted and amount:
        change_status(mandate, Mandate.Status.EXHAUSTED, at)
    return at
