"""Facts about a store beside a decision about it: its owners, and earlier decisions."""

from typing import Any

from django.urls import reverse

from apps.core.templatetags.tillgate import moment, status_words
from apps.core.text.countries import country_name
from apps.staff.decisions.queues import Section
from apps.stores.models import AuditEntry, Store, Verification

LINES_MAX = 5
LOOKED_AT_MAX = 1_000


def store_section(store: Store) -> Section:
    """Owners and age of a store, and whether its business is known. Two statements."""
    last = Verification.objects.filter(store=store).order_by("-created_at").first()
    facts: list[tuple[str, Any]] = [
        ("Name", store.name),
        ("Country", country_name(store.country) or "Unknown"),
        ("Created", moment(store.created_at)),
        ("Business", _business(store, last)),
        ("Members", store.members.count()),
    ]
    if store.platform is not None:
        facts.append(("Platform", store.platform.name))
    return Section(
        "Store", facts, reverse("admin:stores_store_change", args=[store.pk]), "Open store"
    )


def _business(store: Store, last: Verification | None) -> str:
    name = last.business_legal_name if last is not None else ""
    if store.kyc_confirmed_at is not None:
        return f"Verified: {name}" if name else "Verified"
    if last is None:
        return "Nothing submitted"
    return f"{status_words('verification', last.status)}: {name}"


def decisions(store: Store, *actions: str) -> list[tuple[str, Any]]:
    """The last of these in the store's log, as far back as its last thousand lines."""
    newest = (
        AuditEntry.objects.filter(store_id=store.pk).order_by("-id").values("pk")[:LOOKED_AT_MAX]
    )
    entries = AuditEntry.objects.filter(pk__in=newest, action__in=actions).order_by("-id")[
        :LINES_MAX
    ]
    return [
        (
            moment(entry.at),
            " · ".join(
                text for text in (_done(entry.action), entry.actor_name, entry.reason) if text
            ),
        )
        for entry in entries[:LINES_MAX]
    ]


def _done(action: str) -> str:
    return action.partition(".")[2].replace("_", " ").capitalize()
