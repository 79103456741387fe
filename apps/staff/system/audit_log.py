"""The audit log for staff: what was done, by whom and to what, in words and coins, with links to
what IDs are of. What the log has is beside it, small; nothing here changes it.
"""

import re
from typing import Any, ClassVar

from django.apps import apps
from django.contrib import admin
from django.db.models import Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Concat
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from apps.assets.audit_details import Coins, DetailTexts, all_coins, coin_of
from apps.assets.models import Asset
from apps.core.messages.fields import is_uuid
from apps.ledger.models import Movement
from apps.payments.models import Payment, Refund
from apps.payouts.models import Destination
from apps.staff import lists
from apps.staff.pages import ReadOnly
from apps.staff.plumbing.codes import with_emails
from apps.staff.plumbing.record_links import named, record_links, rows_with
from apps.stores.models import AuditEntry, StaffRequest, Store, User

# Whose ID a detail is.
_MODELS: dict[str, type[Model]] = {
    "account": Store,
    "asked_by": User,
    "crypto_payout_detail_id": Destination,
    "decided_by": User,
    "fiat_payout_detail_id": Destination,
    "movement": Movement,
    "payment": Payment,
    "refunds": Refund,
    "request": StaffRequest,
    "staff": User,
}
_LINKS_MAX = 50
# How the log calls who acted, where it is a record of its own.
_ACTORS: dict[str, type[Model]] = {"person": User, "staff": User}
_ADDRESS = re.compile(r"(0x[0-9a-fA-F]{40})")
_FIELDS = (
    "at",
    "act",
    "on",
    "shop",
    "mode",
    "who",
    "ip_address",
    "reason",
    "what_else",
    "request_id",
)


class AuditEntryAdmin(ReadOnly):
    model = AuditEntry
    names = ("audit log entry", "audit log entries")
    listed_as = "Audit log"
    labels: ClassVar = {"actor_kind": "Actor type"}
    list_display = ["done", "act", "actor", "of_store", "target", "why"]
    search_fields = ["id", "store_id"]
    search_help_text = "Store ID, or number of the entry"
    done = lists.when("at", "Time")
    of_store = lists.store("store_name")
    why = lists.text("reason", "Reason")
    ordering = ["-id"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Those that this entry has something for."""
        has_value = {
            "on": obj is None or obj.target_type or obj.target_name,
            "shop": obj is None or obj.store_id,
            "ip_address": obj is None or obj.address,
            "what_else": obj is None or obj.details,
        }
        return [name for name in _FIELDS if has_value.get(name, True)]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return _FIELDS

    def get_queryset(self, request: HttpRequest) -> "QuerySet[AuditEntry]":
        """With the names of the store, and of an asset, where the log has their IDs."""
        stores = Store.objects.filter(pk=OuterRef("store_id"))
        assets = Asset.objects.filter(pk=OuterRef("target_name"))
        coin_name = Concat("coin_symbol", Value(" on "), "chain__name")
        rows: QuerySet[AuditEntry] = super().get_queryset(request)
        return rows.annotate(
            asset_name=Subquery(assets.values(full_name=coin_name)),
            store_name=Subquery(stores.values("name")),
        )

    @admin.display(description="What", empty_value=lists.NOTHING)
    def target(self, row: Any) -> SafeString | None:
        name = row.asset_name or row.target_name
        return _with_short_addresses(name) if name else None

    @admin.display(description="Action")
    def act(self, row: AuditEntry) -> SafeString:
        return format_html('{} <bdi class="code worth">{}</bdi>', row.title, row.action)

    @admin.display(description="Who")
    def actor(self, row: AuditEntry) -> SafeString:
        return named(row.actor_name or "Tillgate", row.address)

    @admin.display(description="IP address")
    def ip_address(self, row: AuditEntry) -> str:
        return row.address

    @admin.display(description="Store")
    def shop(self, row: AuditEntry) -> SafeString | None:
        return record_links(Store, [str(row.store_id)])[0] if row.store_id else None

    @admin.display(description="Who")
    def who(self, row: AuditEntry) -> SafeString:
        kind = _ACTORS.get(row.actor_kind)
        if kind is not None and is_uuid(row.actor_id):
            return record_links(kind, [row.actor_id], row.actor_name)[0]
        return named(row.actor_name or "Tillgate", " ".join([row.actor_kind, row.actor_id]))

    @admin.display(description="What")
    def on(self, row: Any) -> SafeString | None:
        name = row.asset_name or row.target_name
        if not row.target_type:
            return named(name) if name else None
        model = _model_called(row.target_type)
        if model is None:
            return named(name, row.target_id)
        return record_links(model, [row.target_id], name)[0]

    @admin.display(description="Details")
    def what_else(self, row: AuditEntry) -> SafeString | None:
        if not row.details:
            return None
        coins = all_coins()
        subject = row.target_name if row.target_name in coins else row.target_id
        coin = coin_of(row.details, coins, subject) or _coin_of_target(row, coins)
        texts = DetailTexts(coins, coin)
        pairs = (
            (texts.label(name), _detail(texts, name, row.details[name])) for name in row.details
        )
        lines = format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", pairs)
        return format_html('<dl class="fields">{}</dl>', lines)


def _detail(texts: DetailTexts, name: str, value: Any) -> SafeString:
    """In words, with links to the records that it names, and beside it what the log has."""
    model = _MODELS.get(name)
    items = value if isinstance(value, list) and not texts.is_change(name, value) else [value]
    ids = [str(item) for item in items][:_LINKS_MAX]
    if model is not None and all(is_uuid(id) or id.isdecimal() for id in ids):
        parts = record_links(model, ids)
    else:
        parts = [_text(texts, name, item) for item in items] or [named(texts.text(name, value))]
    return format_html_join("", "<div>{}</div>", ((part,) for part in parts))


def _text(texts: DetailTexts, name: str, value: Any) -> SafeString:
    text = texts.text(name, value)
    is_of_coins = name in texts.coins or (name.endswith("_atomic") and texts.coin is not None)
    if not is_of_coins or value in (None, ""):
        return named(text)
    sides = value if isinstance(value, list) else [value]
    raw = " → ".join("None" if side is None else str(side) for side in sides)
    return named(text, f"{raw} atomic units")


def _model_called(name: str) -> type[Model] | None:
    """That of a name that the log has kept, which says nothing of the app; None when there is no
    such record any more."""
    models = (model for model in apps.get_models() if model._meta.model_name == name)
    return next(models, None)


def _coin_of_target(row: AuditEntry, coins: Coins) -> Asset | None:
    """Of what was acted on, where the details don't name it."""
    model = _model_called(row.target_type)
    page = admin.site._registry.get(model) if model is not None else None
    record = rows_with(page, [row.target_id]).first() if page is not None else None
    asset_id = getattr(record, "source_asset_id", None) or getattr(record, "asset_id", None)
    return coins.get(str(asset_id))


def _with_short_addresses(text: str) -> SafeString:
    """The addresses in it by their ends, as elsewhere."""
    parts = _ADDRESS.split(text)
    words = (
        lists.by_its_ends(part) if number % 2 else with_emails(part)
        for number, part in enumerate(parts)
    )
    return format_html('<bdi class="name">{}</bdi>', mark_safe("".join(words)))  # noqa: S308  escaped
