"""Mandates: issued once through the store's provider, read with their state of this moment, revoked
by the merchant, ended by time."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet, Sum

from apps.access import operations
from apps.access.access import Access
from apps.agents import states
from apps.agents.models import AgentSettings, Mandate, MandateStep
from apps.agents.providers.base import Authorizer, Envelope, MandateDetails, Question
from apps.agents.requests.mandates import MandateRequest
from apps.agents.services import authorize
from apps.agents.services.tokens import asset_for
from apps.assets.models import Asset
from apps.core import clock
from apps.core.db import locks
from apps.core.db.prepared_reads import Rows
from apps.core.errors import NotFound
from apps.core.idempotency import once
from apps.core.machine import Change, Step
from apps.core.messages.fields import is_uuid
from apps.core.messages.invalid import OF_BODIES, Invalid
from apps.core.rows import Job
from apps.stores.auditing import audit

LOOKS_AT = (Mandate,)
LIST_MAX = 100
JOB = Job("agents.expire_mandates", limit=500)
_OWN = "credential_id = %(credential_id)s AND store_id = %(store_id)s AND mode = %(mode)s"
_BY_REF = Rows(Mandate, f"WHERE {_OWN} AND mandate_ref = %(ref)s")
_BY_ID = Rows(Mandate, f"WHERE {_OWN} AND id = %(id)s::uuid")


class MandateNotFound(NotFound):
    code = "not_found"


def create_mandate(
    access: Access, request: MandateRequest, envelope: Envelope | None
) -> tuple[Mandate, bool]:
    """The mandate of this reference, and whether this call made it.

    Raises MandateRequired without a provider, AuthorizationDenied, AuthorizationUnavailable, or
    what a wrong asset raises.
    """
    provider = _provider_for(access)
    rows = _with_ref(access, request.mandate_ref)
    earlier = rows.first()
    if earlier is not None:
        return earlier, False
    mandate = _unsaved(access, request, asset_for(access.mode, request.asset_id))
    question = authorize.question(
        access,
        _details(mandate),
        envelope,
        asset_id=mandate.asset_id,
        amount_atomic=mandate.total_cap_atomic,
        scope=mandate.scope,
    )
    if not provider.is_local:
        authorize.ask(provider, question)
    return once(rows, lambda: _issue(mandate, provider, question))


def answer_unread(access: Access, refusal: Invalid, *, ref: object, asset_id: object) -> Mandate:
    """Answer to a body that isn't a MandateRequest, in the order of the contract: permission, the
    mandate of a known reference, the asset, everything else. Raises what create_mandate does, or
    the refusal."""
    _provider_for(access)
    earlier = (
        _with_ref(access, ref).first()
        if isinstance(ref, str) and refusal.field != "mandate_ref"
        else None
    )
    if earlier is not None:
        return earlier
    if (
        refusal.rule not in OF_BODIES
        and isinstance(asset_id, str)
        and refusal.field not in ("mandate_ref", "asset_id")
    ):
        asset_for(access.mode, asset_id)
    raise refusal


def _provider_for(access: Access) -> Authorizer:
    operations.check(access, operations.MANDATE)
    return authorize.require_provider(access.store)


def _with_ref(access: Access, ref: str) -> "QuerySet[Mandate]":
    rows: QuerySet[Mandate] = Mandate.objects.visible_to(access).filter(
        credential_id=access.credential_id, mandate_ref=ref
    )
    return rows.select_related("asset")


def _unsaved(access: Access, request: MandateRequest, asset: Asset) -> Mandate:
    at = access.now()
    return Mandate(
        store=access.store,
        mode=access.mode,
        created_at=at,
        updated_at=at,
        credential=authorize.agent_of(access),
        asset=asset,
        mandate_ref=request.mandate_ref,
        scope=request.scope,
        total_cap_atomic=request.total_cap_atomic,
        per_call_cap_atomic=request.per_call_cap_atomic,
        authorization_provider=AgentSettings.of(access.store).authorization_provider,
        expires_at=at + timedelta(seconds=request.expires_in_seconds),
    )


def _details(mandate: Mandate) -> MandateDetails:
    per_call = mandate.per_call_cap_atomic
    return MandateDetails(
        mandate_ref=mandate.mandate_ref,
        per_call_cap_atomic=None if per_call is None else str(per_call),
        expires_at=mandate.expires_at.isoformat(),
    )


def _issue(mandate: Mandate, provider: Authorizer, question: Question) -> Mandate:
    """Insert it; a local provider is asked under a lock, so that what was issued today can't grow
    meanwhile."""
    mandate.save(force_insert=True)
    if provider.is_local:
        locks.hold_in_transaction(
            locks.LockKind.MANDATES, f"{mandate.store_id}:{mandate.mode}:{mandate.asset_id}"
        )
        authorize.ask(provider, replace(question, issued_today_atomic=_issued_today(mandate)))
    MandateStep.objects.create(mandate=mandate, to_status=mandate.status, at=mandate.created_at)
    audit.record(
        "mandate.issued",
        store=mandate.store_id,
        mode=mandate.mode,
        target=mandate,
        name=mandate.mandate_ref,
        details={"asset_id": mandate.asset_id, "total_cap_atomic": str(mandate.total_cap_atomic)},
    )
    return mandate


def _issued_today(mandate: Mandate) -> int:
    """Sum of the store's other mandates of the asset that were issued this UTC day."""
    day = mandate.created_at.replace(hour=0, minute=0, second=0, microsecond=0)
    rows = Mandate.objects.filter(
        store_id=mandate.store_id, mode=mandate.mode, asset_id=mandate.asset_id, created_at__gte=day
    )
    total = rows.exclude(pk=mandate.pk).aggregate(total=Sum("total_cap_atomic"))["total"]
    return int(total or 0)


def find_mandate(access: Access, reference: str) -> Mandate:
    """The credential's mandate with this id or reference. Raises MandateNotFound."""
    own = {"credential_id": access.credential_id, "store_id": access.store_id, "mode": access.mode}
    rows = _BY_REF.read(ref=reference, **own) or (
        _BY_ID.read(id=reference, **own) if is_uuid(reference) else []
    )
    if not rows:
        raise MandateNotFound
    rows[0].store = access.store
    return rows[0]


def status_at(mandate: Mandate, now: datetime) -> str:
    """Its status at a moment of its store's clock: time ends a mandate whether or not a job has
    noted it."""
    if mandate.status in states.LASTING and mandate.expires_at <= now:
        return Mandate.Status.EXPIRED
    return mandate.status


def revoke_mandate(mandate: Mandate, *, by: Access | None = None) -> Mandate:
    """The merchant's word: nothing is drawn on it any more. One that has ended stays as it is."""
    operations.check(by, operations.MANDATE_REVOKE)
    with transaction.atomic():
        locked: Mandate = (
            Mandate.objects.select_for_update(no_key=True, of=("self",))
            .select_related("store", "asset")
            .get(pk=mandate.pk)
        )
        at = clock.now(locked.store, locked.mode)
        if status_at(locked, at) in states.LASTING:
            change_status(locked, Mandate.Status.REVOKED, at, revoked_at=at)
            audit.record(
                "mandate.revoked",
                store=locked.store_id,
                mode=locked.mode,
                target=locked,
                name=locked.mandate_ref,
            )
    return locked


def change_status(mandate: Mandate, to: str, at: datetime, **changes: object) -> None:
    """Move a locked mandate and keep the step."""
    states.MANDATE.change_locked(mandate, Step(to), at=at, updated_at=at, **changes)


@states.MANDATE.recorder
def _record(changes: Sequence[Change[Mandate, Step]]) -> None:
    for change in changes:
        MandateStep.objects.create(
            mandate=change.row,
            from_status=change.before,
            to_status=change.step.status,
            at=change.at,
        )


def expire_mandates() -> int:
    """The sweep: note the end of what time has ended; how many were looked at."""
    real = clock.real_now()
    rows = Mandate.objects.filter(status__in=states.LASTING, expires_at__lte=real)
    due = rows.order_by("expires_at").values_list("pk", flat=True)
    return JOB.walk(due, _expire)


def _expire(mandate_id: uuid.UUID) -> None:
    with transaction.atomic():
        mandate = (
            Mandate.objects.select_for_update(no_key=True, of=("self",))
            .select_related("store")
            .get(pk=mandate_id)
        )
        if mandate.status in states.LASTING and mandate.expires_at <= clock.now(
            mandate.store, mandate.mode
        ):
            change_status(mandate, Mandate.Status.EXPIRED, mandate.expires_at)


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """The next end of a mandate of the store's test mode."""
    rows = _lasting(store_id)
    if after is not None:
        rows = rows.filter(expires_at__gt=after)
    moment: datetime | None = (
        rows.order_by("expires_at").values_list("expires_at", flat=True).first()
    )
    return moment


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    for mandate_id in list(
        _lasting(store_id)
        .filter(expires_at__lte=now)
        .order_by("expires_at")
        .values_list("pk", flat=True)
    ):
        _expire(mandate_id)


def _lasting(store_id: uuid.UUID) -> "QuerySet[Mandate]":
    return Mandate.objects.filter(store_id=store_id, mode="test", status__in=states.LASTING)
