"""The audit log for staff: what was done, by whom and to what, in words and coins, with links to
what IDs are of. What the log has is beside it, small; nothing here changes it.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Concat
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.assets.audit_details import Coins, DetailTexts, all_coins, coin_of
from apps.assets.models import Asset
from apps.core.messages.fields import is_uuid
from apps.core.staff import lists
from apps.core.staff.codes import code_or_text
from apps.core.staff.labels import record_name, sentence
from apps.core.staff.pages import ReadOnly
from apps.ledger.models import Movement
from apps.payments.models import Payment, Refund
from apps.payouts.models import Destination
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
_FIELDS = (
    "at",
    "act",
    "on",
    "shop",
    "mode",
    "who",
    "address",
    "reason",
    "what_else",
    "request_id",
)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    list_display = ["done", "act", "actor", "target", "why", "address"]
    search_fields = ["id", "store_id"]
    search_help_text = "Store ID, or number of the entry"
    done = lists.when("at", "Time")
    why = lists.text("reason", "Reason")
    ordering = ["-id"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Those that this entry has something for."""
        has_value = {
            "on": obj is None or obj.target_type or obj.target_name,
            "shop": obj is None or obj.store_id,
            "what_else": obj is None or obj.details,
        }
        return [name for name in _FIELDS if has_value.get(name, True)]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return _FIELDS

    def get_queryset(self, request: HttpRequest) -> "QuerySet[AuditEntry]":
        """With the name of an asset where the log has its ID."""
        assets = Asset.objects.filter(pk=OuterRef("target_name"))
        coin_name = Concat("coin_symbol", Value(" on "), "chain__name")
        rows: QuerySet[AuditEntry] = super().get_queryset(request)
        return rows.annotate(asset_name=Subquery(assets.values(full_name=coin_name)))

    @admin.display(description="What", empty_value=lists.NOTHING)
    def target(self, row: Any) -> str | None:
        return row.asset_name or row.target_name or None

    @admin.display(description="Action")
    def act(self, row: AuditEntry) -> SafeString:
        return format_html('{} <bdi class="code worth">{}</bdi>', row.title, row.action)

    @admin.display(description="Who")
    def actor(self, row: AuditEntry) -> SafeString:
        return format_html('<bdi class="name">{}</bdi>', row.actor_name or "Tillgate")

    @admin.display(description="Store")
    def shop(self, row: AuditEntry) -> SafeString | None:
        return _links(Store, [str(row.store_id)])[0] if row.store_id else None

    @admin.display(description="Who")
    def who(self, row: AuditEntry) -> SafeString:
        kind = _ACTORS.get(row.actor_kind)
        if kind is not None and is_uuid(row.actor_id):
            return _links(kind, [row.actor_id], row.actor_name)[0]
        return _named(row.actor_name or "Tillgate", " ".join([row.actor_kind, row.actor_id]))

    @admin.display(description="What")
    def on(self, row: Any) -> SafeString | None:
        name = row.asset_name or row.target_name
        if not row.target_type:
            return _named(name) if name else None
        model = _model_called(row.target_type)
        if model is None:
            return _named(name, row.target_id)
        return _links(model, [row.target_id], name)[0]

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
        parts = _links(model, ids)
    else:
        parts = [_text(texts, name, item) for item in items] or [_named(texts.text(name, value))]
    return format_html_join("", "<div>{}</div>", ((part,) for part in parts))


def _text(texts: DetailTexts, name: str, value: Any) -> SafeString:
    text = texts.text(name, value)
    is_of_coins = name in texts.coins or (name.endswith("_atomic") and texts.coin is not None)
    if not is_of_coins or value in (None, ""):
        return _named(text)
    sides = value if isinstance(value, list) else [value]
    raw = " → ".join("None" if side is None else str(side) for side in sides)
    return _named(text, f"{raw} atomic units")


def _model_called(name: str) -> type[Model] | None:
    """That of a name that the log has kept, which says nothing of the app; None when there is no
    such record any more."""
    models = (model for model in apps.get_models() if model._meta.model_name == name)
    return next(models, None)


def _coin_of_target(row: AuditEntry, coins: Coins) -> Asset | None:
    """Of what was acted on, where the details don't name it."""
    model = _model_called(row.target_type)
    page = admin.site._registry.get(model) if model is not None else None
    record = _rows(page, [row.target_id]).first() if page is not None else None
    asset_id = getattr(record, "source_asset_id", None) or getattr(record, "asset_id", None)
    return coins.get(str(asset_id))


def _links(model: type[Model], ids: Sequence[str], name: str = "") -> list[SafeString]:
    """What people call these records, linked to their pages; what has no page, or is gone, has the
    name that the log gave it."""
    page: Any = admin.site._registry.get(model)
    noun = sentence(record_name(model._meta))
    rows = {str(row.pk): row for row in _rows(page, ids)} if page is not None else {}
    url = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    return [
        format_html(
            '<a href="{}">{} {}</a> <bdi class="code worth">{}</bdi>',
            reverse(url, args=[id]),
            noun,
            _title(page, rows[id]),
            id,
        )
        if id in rows
        else _named(f"{noun} {name}".strip(), id)
        for id in ids
    ]


def _title(page: Any, row: Model) -> str:
    """Two people may have the same name."""
    return row.email if isinstance(row, User) else str(page.title_of(row))


def _rows(page: Any, ids: Sequence[str]) -> "QuerySet[Any]":
    """Without the columns that nobody sees, some of which web may not read."""
    with_coin = [field.name for field in page.opts.fields if field.name == "asset"]
    everything: QuerySet[Any] = page.model._base_manager.all()
    rows = everything.filter(pk__in=ids).defer(*(page.exclude or ()))
    return rows.select_related(*with_coin) if with_coin else rows


def _named(text: str, raw: object = "") -> SafeString:
    if not raw:
        return format_html('<bdi class="name">{}</bdi>', code_or_text(text))
    return format_html('<bdi class="name">{}</bdi> <bdi class="code worth">{}</bdi>', text, raw)
