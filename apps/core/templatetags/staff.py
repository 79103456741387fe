"""How records of the staff site are shown."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.admin.helpers import AdminReadonlyField, Fieldset
from django.contrib.admin.utils import display_for_field
from django.core.exceptions import FieldDoesNotExist
from django.db.models import BooleanField, ForeignKey, JSONField, Model
from django.template.defaultfilters import linebreaksbr
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
    row, column = _column(field)
    return column is not None and getattr(row, column.name) in (None, "", [], {})


def _column(field: AdminReadonlyField) -> tuple[Any, Any]:
    """Whose column it is: the record's, or that of a row beside it (`companions`)."""
    record = field.form.instance
    for row in (record, *getattr(record, "companions", ())):
        try:
            return row, row._meta.get_field(field.field["name"])
        except FieldDoesNotExist:
            continue
    return record, None


@register.filter
def staff_value(field: AdminReadonlyField) -> Any:
    """What a record has in a field, in people's units. Switches, and what isn't a column, are as
    the site shows them."""
    row, column = _column(field)
    if column is None or _is_empty(field):
        return field.contents()
    if isinstance(column, (BooleanField, JSONField)):
        value = getattr(row, column.name)
        return linebreaksbr(display_for_field(value, column, field.empty_value_display))
    if isinstance(column, ForeignKey):
        return _link(getattr(row, column.name))
    return shown(row, column.name)


def _link(other: Model) -> str:
    page = f"admin:{other._meta.app_label}_{other._meta.model_name}_change"
    try:
        return format_html('<a href="{}">{}</a>', reverse(page, args=[other.pk]), named(other))
    except NoReverseMatch:
        return named(other)
