"""Links from one record of the staff site to others that it names by their IDs."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core.text.words import sentence
from apps.staff.plumbing.codes import code_or_text
from apps.stores.models import User


def record_links(model: type[Model], ids: Sequence[str], name: str = "") -> list[SafeString]:
    """Names of these records, linked to their pages; without a page, or when gone, the known
    name."""
    page: Any = admin.site._registry.get(model)
    rows = {str(row.pk): row for row in rows_with(page, ids)} if page is not None else {}
    url = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    return [
        format_html(
            '<a href="{}">{}</a> <bdi class="code worth">{}</bdi>',
            reverse(url, args=[id]),
            _title(page, rows[id]),
            id,
        )
        if id in rows
        else named(f"{_noun(model)} {name}".strip(), id)
        for id in ids
    ]


def rows_with(page: Any, ids: Sequence[str]) -> "QuerySet[Any]":
    """Without the columns that nobody sees, some of which web may not read."""
    with_coin = [field.name for field in page.opts.fields if field.name == "asset"]
    everything: QuerySet[Any] = page.model._base_manager.all()
    rows = everything.filter(pk__in=ids).defer(*(page.exclude or ()))
    return rows.select_related(*with_coin) if with_coin else rows


def named(text: str, raw: object = "") -> SafeString:
    """A name, and below it what the product itself has."""
    if not raw:
        return format_html('<bdi class="name">{}</bdi>', code_or_text(text))
    return format_html('<bdi class="name">{}</bdi> <bdi class="code worth">{}</bdi>', text, raw)


def _title(page: Any, row: Model) -> str:
    """Two people may have the same name, and an email address says that it is a person's."""
    return row.email if isinstance(row, User) else f"{_noun(type(row))} {page.title_of(row)}"


def _noun(model: type[Model]) -> str:
    page: Any = admin.site._registry.get(model)
    return sentence(page.singular() if page is not None else str(model._meta.verbose_name))
