"""Four eyes: one member of staff asks for something, another approves exactly that, and it is done
in the same transaction.

What was asked is bound by its digest. When the target has changed meanwhile, or a week has passed,
nothing is done (decision 136).
"""

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction

from apps.core import crypto
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure
from apps.core.ids import new_id
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.models import StaffRequest, User
from apps.stores.staff.emails import StaffEmail, tell, tell_deciders
from apps.stores.staff_roles import StaffOperation

LIFETIME = timedelta(days=7)
_State = StaffRequest.State
Facts = Mapping[str, Any]


class StaffRequestRefused(Failure):
    """The text says why."""


class AlreadyAsked(StaffRequestRefused):
    message = "Somebody has asked for this already: it waits among the staff requests"


@dataclass(frozen=True)
class RequestKind:
    """A thing that takes two.

    `before` reads the target under its lock, by what is wanted; `carry_out` does it. Both may raise
    a Failure.
    """

    name: str
    title: str
    operation: StaffOperation
    before: Callable[[Facts], Facts]
    carry_out: Callable[[StaffRequest, Facts, datetime], object]
    moves_money: bool = False  # then an approval needs a reason of its own


@dataclass(frozen=True)
class Proposal:
    """The content of a request for two. `lines` are (what, before, after) as people read them;
    `secrets` are sealed and never shown."""

    target_id: str
    name: str
    facts: Facts
    lines: list[tuple[str, str, str]]
    reason: str
    secrets: Mapping[str, str] = field(default_factory=dict)


class Content(msgspec.Struct, frozen=True):
    """Content sealed by its digest."""

    # The stored text says "wanted", which digests of open requests cover.
    facts: Facts = msgspec.field(name="wanted")
    before: Facts
    lines: list[tuple[str, str, str]]


def content_of(request: StaffRequest) -> Content:
    """Raises StaffRequestRefused for what isn't what was asked for."""
    if _digest(request.content) != request.digest:
        raise StaffRequestRefused("This is not what was asked for: its digest is another")
    return msgspec.json.decode(request.content, type=Content)


def secrets_of(request: StaffRequest) -> dict[str, str]:
    secrets: dict[str, str] = (
        json.loads(crypto.decrypt(request.sealed, request.place)) if request.sealed else {}
    )
    return secrets


def ask(kind: RequestKind, wish: Proposal, staff: User, at: datetime) -> StaffRequest:
    """Nothing happens yet; those who may approve it are notified. Raises StaffForbidden,
    StaffRequestRefused and what `before` raises."""
    staff_roles.check(staff, kind.operation)
    if not wish.reason.strip():
        raise StaffRequestRefused("This takes two members of staff: give a reason")
    with transaction.atomic():
        waiting = StaffRequest.objects.filter(
            kind=kind.name, target_id=wish.target_id, state=_State.PENDING
        )
        _expire(waiting, at)
        if waiting.exists():
            raise AlreadyAsked
        content = _canonical(
            {"wanted": wish.facts, "before": kind.before(wish.facts), "lines": wish.lines}
        )
        row = StaffRequest(
            id=new_id(),
            kind=kind.name,
            target_id=wish.target_id,
            name=wish.name[:200],
            content=content,
            digest=_digest(content),
            reason=wish.reason.strip()[:500],
            asked_by=staff,
            asked_at=at,
            expires_at=at + LIFETIME,
        )
        row.sealed = (
            crypto.encrypt(json.dumps(dict(wish.secrets)), row.place) if wish.secrets else ""
        )
        with refused_by("staff_request_one_waits", AlreadyAsked):
            row.save(force_insert=True)
        _note("asked", kind, row, row.reason)
        _tell_approvers(kind, row)
    return row


def approve(
    kind: RequestKind,
    request_id: uuid.UUID,
    staff: User,
    at: datetime,
    *,
    digest: str,
    reason: str = "",
) -> StaffRequest:
    """Do what was asked, as `digest` says the approver has seen it. Raises StaffForbidden,
    StaffRequestRefused, what the act raises."""
    with transaction.atomic():
        row = _open(kind, request_id, at)
        staff_roles.check(staff, kind.operation)
        if staff.pk == row.asked_by_id:
            raise StaffRequestRefused("A second member of staff approves it, not the one who asked")
        if not staff_roles.may(row.asked_by, kind.operation):
            raise StaffRequestRefused("Whoever asked may not ask for it any more: reject it")
        if kind.moves_money and not reason.strip():
            raise StaffRequestRefused("This approval needs a reason")
        content = content_of(row)
        if digest != row.digest:
            raise StaffRequestRefused("This has changed since you reviewed it: check it again")
        if _canonical(kind.before(content.facts)) != _canonical(content.before):
            raise StaffRequestRefused(
                "It has changed since it was asked for: reject this, and ask again"
            )
        secrets = row.sealed
        row.sealed = ""
        _decide(row, _State.APPROVED, staff, at, reason)
        row.sealed = secrets  # of this copy alone: what carries it out may need them
        kind.carry_out(row, content.facts, at)
        _note("approved", kind, row, reason)
        _tell_asker(kind, row, "approved")
    return row


def reject(
    kind: RequestKind, request_id: uuid.UUID, staff: User, at: datetime, *, reason: str = ""
) -> StaffRequest:
    """Reject it. The person who asked may take it back. Raises StaffForbidden or
    StaffRequestRefused."""
    with transaction.atomic():
        row = _open(kind, request_id, at)
        is_own = staff.pk == row.asked_by_id
        if not is_own:
            staff_roles.check(staff, kind.operation)
        row.sealed = ""
        _decide(row, _State.REJECTED, staff, at, reason)
        _note("rejected", kind, row, reason)
        if not is_own:
            _tell_asker(kind, row, "rejected")
    return row


def at_once(
    kind: RequestKind, wish: Proposal, staff: User, second: User, at: datetime
) -> StaffRequest:
    """Both steps for two who are named to an operator's command."""
    with transaction.atomic():
        row = ask(kind, wish, staff, at)
        return approve(kind, row.pk, second, at, digest=row.digest, reason=wish.reason)


def expire_due(at: datetime) -> int:
    """Expires requests of a week ago, and returns their number."""
    return _expire(StaffRequest.objects.filter(state=_State.PENDING), at)


def _expire(rows: Any, at: datetime) -> int:
    return int(
        rows.filter(expires_at__lte=at).update(state=_State.EXPIRED, decided_at=at, sealed="")
    )


def _open(kind: RequestKind, request_id: uuid.UUID, at: datetime) -> StaffRequest:
    row = (
        StaffRequest.objects.select_for_update(of=("self",))
        .select_related("asked_by")
        .filter(pk=request_id, kind=kind.name)
        .first()
    )
    if row is None:
        raise StaffRequestRefused("There is no such request")
    if row.state != _State.PENDING:
        raise StaffRequestRefused(f"The request is {row.state} already")
    if at >= row.expires_at:
        raise StaffRequestRefused("The request has expired: ask again")
    return row


def _decide(row: StaffRequest, state: str, staff: User, at: datetime, reason: str) -> None:
    row.state = state
    row.decided_by = staff
    row.decided_at = at
    row.decision_reason = reason.strip()[:500]
    row.save(update_fields=["state", "decided_by", "decided_at", "decision_reason", "sealed"])


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def _note(action: str, kind: RequestKind, row: StaffRequest, reason: str) -> None:
    """Both people by id and address: a command's actor is neither."""
    details = {
        "kind": kind.name,
        "digest": row.digest,
        "asked_by": row.asked_by_id,
        "asked_by_email": row.asked_by.email,
    }
    if row.decided_by is not None:
        details |= {"decided_by": row.decided_by.pk, "decided_by_email": row.decided_by.email}
    audit.record(
        f"staff_request.{action}", target=row, name=row.name, reason=reason, details=details
    )


def _tell_approvers(kind: RequestKind, row: StaffRequest) -> None:
    text = f"{row.asked_by} requested it. The request expires in seven days."
    tell_deciders(kind.operation, row.asked_by, _email(kind, row, "needs a second approval", text))


def _tell_asker(kind: RequestKind, row: StaffRequest, outcome: str) -> None:
    tell(
        row.asked_by,
        _email(kind, row, f"was {outcome}", f"{row.decided_by} {outcome} your request."),
    )


def _email(kind: RequestKind, row: StaffRequest, outcome: str, text: str) -> StaffEmail:
    reason = row.decision_reason if row.decided_by else row.reason
    path = f"/admin/stores/staffrequest/{row.pk}/decide/"
    return StaffEmail(
        f"staff_request:{row.pk}:{row.state}",
        f"{kind.title} {outcome}",
        text,
        row.name,
        reason,
        path,
    )
