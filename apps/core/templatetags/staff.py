"""How records of the staff site are shown."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.admin.helpers import AdminReadonlyField, Fieldset
from django.core.exceptions import FieldDoesNotExist
from django.db.models import BooleanField, ForeignKey, JSONField, Model
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html

from apps.core.staff.values import named, shown

register = template.Library()


@dataclass(frozen=True)
class RecordLines:
    """The fields of a record: those that say something, and the names of the others."""

    known: list[Any]
    empty: list[str]


@register.simple_tag
def staff_lines(fieldset: Fieldset) -> RecordLines:
    filled: list[Any] = []
    empty: list[str] = []
    for line in fieldset:
        field: Any = next(iter(line))
        if field.is_readonly and _is_empty(field):
            empty.append(field.field["label"])
        else:
            filled.append((line, field))
    return RecordLines(filled, empty)


def _is_empty(field: AdminReadonlyField) -> bool:
    """Of a column. What a page works out itself always says something."""
    column = _column(field)
    return column is not None and getattr(field.form.instance, column.name) in (None, "", [], {})


def _column(field: AdminReadonlyField) -> Any:
    try:
        return field.form.instance._meta.get_field(field.field["name"])
    except FieldDoesNotExist:
        return None


@register.filter
def staff_value(field: AdminReadonlyField) -> Any:
    """What a record has in a field, in people's units. Switches, and what isn't a column, are as
    the site shows them."""
    column = _column(field)
    if column is None or isinstance(column, (BooleanField, JSONField)) or _is_empty(field):
        return field.contents()
    if isinstance(column, ForeignKey):
        return _link(getattr(field.form.instance, column.name))
    return shown(field.form.instance, column.name)


def _link(other: Model) -> str:
    page = f"admin:{other._meta.app_label}_{other._meta.model_name}_change"
    try:
        return format_html('<a href="{}">{}</a>', reverse(page, args=[other.pk]), named(other))
    except NoReverseMatch:
        return named(other)
