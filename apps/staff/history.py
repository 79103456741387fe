"""Acts of members of staff on a record: its lines of the audit log, and the requests about it with
their outcome, newest first. Of a store, all that was done to it and to what it has."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Model, Q

from apps.core.acting import ActorKind
from apps.core.templatetags.tillgate import status_words
from apps.stores.models import AuditEntry, StaffRequest, Store
from apps.stores.settings import setting_label
from apps.stores.staff import suspensions

SHOWN_MAX = 200
LOOKED_AT_MAX = 5_000  # of a store's newest lines, which its own people write, too
_SAID_ELSEWHERE = "staff_request."  # the request itself is in the list


@dataclass(frozen=True)
class StaffAction:
    """`details` are (what, before, after); `by` is who, `reason` why."""

    at: datetime
    by: str
    what: str
    reason: str
    details: list[tuple[str, str, str]]


def done_to(row: Model) -> list[StaffAction]:
    """At most SHOWN_MAX of them; the audit log has all."""
    deeds = [*_lines(row), *_requests(row)]
    return sorted(deeds, key=lambda deed: deed.at, reverse=True)[:SHOWN_MAX]


def _lines(row: Model) -> Iterator[StaffAction]:
    by_staff = AuditEntry.objects.filter(actor_kind=ActorKind.STAFF).order_by("-id")
    about = Q(target_id=str(row.pk), target_type=row._meta.model_name or "")
    entries = {entry.pk: entry for entry in by_staff.filter(about)[:SHOWN_MAX]}
    if isinstance(row, Store):
        newest = AuditEntry.objects.filter(store_id=row.pk).order_by("-id").values("pk")
        of_store = by_staff.filter(pk__in=newest[:LOOKED_AT_MAX])
        entries |= {entry.pk: entry for entry in of_store[:SHOWN_MAX]}
    for entry in entries.values():
        if not entry.action.startswith(_SAID_ELSEWHERE):
            yield _of_entry(entry, row)


def _of_entry(entry: AuditEntry, row: Model) -> StaffAction:
    is_own = entry.target_id == str(row.pk)
    name = "" if is_own or not entry.target_name else f": {entry.target_name}"
    message = entry.details.get("message")
    what = str(message) if isinstance(message, str) and message else f"{entry.title}{name}"
    reason = entry.reason if entry.reason and entry.reason not in what else ""
    return StaffAction(entry.at, entry.actor_name, what, reason, list(_changes(entry)))


def _changes(entry: AuditEntry) -> Iterator[tuple[str, str, str]]:
    for name, value in entry.details.items():
        if isinstance(value, list) and len(value) == 2 and name != "changed":
            yield setting_label(name), _text(value[0]), _text(value[1])


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "On" if value else "Off"
    return "None" if value in (None, "", []) else str(value)


def _requests(row: Model) -> Iterator[StaffAction]:
    """Requests about a record: their time, their author and their outcome."""
    targets = [str(row.pk), *(suspensions.targets_of(row) if isinstance(row, Store) else ())]
    rows = StaffRequest.objects.filter(target_id__in=targets)
    newest = rows.select_related("asked_by", "decided_by").order_by("-asked_at")
    for request in islice(newest[:SHOWN_MAX], SHOWN_MAX):
        asked_by = str(request.asked_by)
        yield StaffAction(
            request.asked_at, asked_by, f"Requested: {request.name}", request.reason, []
        )
        if request.decided_at is not None:
            words = status_words("staff_request", request.outcome)
            by = str(request.decided_by) if request.decided_by is not None else "Tillgate"
            what = f"{words}: {request.name}"
            yield StaffAction(request.decided_at, by, what, request.decision_reason, [])
