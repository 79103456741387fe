"""Drawing on a mandate: the settlement's row with its key first, then the mandate's lock with its
caps, and the debit, in one transaction.

What is checked with the lock can't change before the debit, so no number of simultaneous draws gets
past a cap or a balance. The statements are written once: an agent that pays per call makes them all
day.
"""

import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
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
# The same with what staff have set, and whether the asset is active, in one question.
_START = Statement("""
SELECT (SELECT id FROM agents_settlement WHERE credential_id = %(credential_id)s
        AND idempotency_key = %(key)s),
    coalesce(s.authorization_provider, 'none'), coalesce(s.x402_dispatch, false),
    EXISTS (SELECT 1 FROM assets_asset a JOIN assets_chain c ON c.id = a.chain_id
        WHERE a.id = %(asset_id)s AND a.is_active AND c.mode = %(mode)s)
FROM (VALUES (1)) AS one LEFT JOIN agents_agentsettings s ON s.store_id = %(store_id)s
""")
# The row with its key first, of which the rest is made; then lock, caps and debit in one: anyone
# who had to wait for the mandate is measured against what it has become.
_INSERT_AND_SPEND = Statement(f"""
WITH made AS (
    INSERT INTO agents_settlement ({", ".join(_COLUMNS)})
    VALUES ({", ".join(f"%({column})s" for column in _COLUMNS)})
    RETURNING id, status, created_at, mandate_id, amount_atomic
), step AS (
    INSERT INTO agents_settlementstep (settlement_id, from_status, to_status, at, note)
    SELECT id, NULL, status, created_at, '' FROM made
)
UPDATE agents_mandate m
SET spent_atomic = m.spent_atomic + made.amount_atomic,
    updated_at = CASE WHEN made.amount_atomic > 0 THEN made.created_at ELSE m.updated_at END
FROM made, stores_store s
WHERE m.id = made.mandate_id AND s.id = m.store_id AND m.status = 'active'
  AND m.spent_atomic + made.amount_atomic <= m.total_cap_atomic
  AND (m.per_call_cap_atomic IS NULL OR made.amount_atomic <= m.per_call_cap_atomic)
RETURNING m.expires_at, s.test_offset_seconds, m.spent_atomic = m.total_cap_atomic
""")  # noqa: S608  # only names of columns are put in


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
    start = _start(access, key, request.asset_id)
    if start.earlier is not None:
        return start.earlier, False
    settlement = _unsaved(access, request, key, start)
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
    start = _start(access, key)
    if start.earlier is not None:
        return start.earlier
    if (
        refusal.rule not in OF_BODIES
        and isinstance(asset_id, str)
        and refusal.field not in ("amount_atomic", "asset_id")
    ):
        require_active(access.mode, asset_id)
    raise refusal


@dataclass(frozen=True)
class _Start:
    """The settlement that a key has made, whether the store's draws are sent on the chain, and
    whether the asset is an active one of the mode."""

    earlier: Settlement | None
    is_sending: bool
    is_asset_active: bool


def _start(access: Access, key: str, asset_id: str = "") -> _Start:
    """Raises what operations.check does, or MandateRequired."""
    operations.check(access, operations.SETTLEMENT)
    ((settlement_id, provider, is_sending, is_asset_active),) = _START.rows(
        credential_id=access.credential_id,
        key=key,
        store_id=access.store_id,
        asset_id=asset_id if asset_id.isprintable() else "",
        mode=access.mode,
    )
    if provider == AuthorizationProvider.NONE:
        raise authorize.MandateRequired
    earlier = None if settlement_id is None else _settlement(settlement_id)
    return _Start(earlier, is_sending, is_asset_active)


def _earlier(access: Access, key: str) -> Settlement | None:
    """The settlement that the key has made."""
    rows = _KEYS.rows(credential_id=access.credential_id, key=key)
    return _settlement(rows[0][0]) if rows else None


def _settlement(settlement_id: uuid.UUID) -> Settlement:
    settlement: Settlement = Settlement.objects.select_related("mandate").get(pk=settlement_id)
    return settlement


def _unsaved(access: Access, request: SettlementRequest, key: str, start: _Start) -> Settlement:
    refuse_payout(access.store)
    if not start.is_asset_active:
        require_active(access.mode, request.asset_id)
    mandate = find_mandate(access, request.mandate_ref)
    if mandate.asset_id != request.asset_id:
        raise AssetMismatch
    at = access.now()
    is_dispatched = start.is_sending and access.is_live and request.amount_atomic > 0
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
    values["requirements"] = (
        None if settlement.requirements is None else Jsonb(settlement.requirements)
    )
    at = _insert_and_spend(settlement, values)
    settlement._state.adding = False
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


def _insert_and_spend(settlement: Settlement, values: Mapping[str, object]) -> datetime:
    """Write the row, then take the amount from the mandate, which stays locked, and tell when.
    Raises MandateRequired or SpendCapExceeded."""
    mandate = settlement.mandate
    amount = settlement.amount_atomic
    spent = _INSERT_AND_SPEND.rows(**values)
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
