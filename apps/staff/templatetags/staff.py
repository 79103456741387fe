"""Display of the staff site's lists and records."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from django import template
from django.contrib import admin
from django.contrib.admin.helpers import AdminReadonlyField, Fieldset
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import FieldDoesNotExist
from django.db.models import DecimalField, ForeignKey, IntegerField, Model
from django.urls import NoReverseMatch, reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince

from apps.core.text.words import sentence
from apps.staff.plumbing.codes import code_or_text, heading_text, with_settings
from apps.staff.plumbing.values import named

register = template.Library()


# When a record began, by what its column is called.
_BEGINNINGS = ("created_at", "requested_at", "submitted_at", "detected_at", "found_at", "at")
# The box that chooses all rows; a phone, which shows no other heads, has its words beside it.
_ALL_ROWS = '<label class="all-rows">{} <span class="words">Select all</span></label>'
# What a value has that takes more than a line: names with values, a table, or what was sent.
_WIDE = ('class="fields"', 'class="lines', "<pre")
# The sign of nothing in a cell; a phone leaves such a line out.
_BLANK = re.compile(r"<t[dh][^>]*>[—-]?</t[dh]>")


class Header(TypedDict):
    """Visible parts of Django's own header."""

    text: str
    class_attrib: SafeString


@dataclass(frozen=True)
class ListColumn:
    text: str
    label: str
    attributes: SafeString
    is_number: bool


@dataclass(frozen=True)
class ListTable:
    columns: list[ListColumn]
    rows: list[SafeString]


@register.simple_tag
def staff_rows(page: ChangeList, headers: Sequence[Header], results: Sequence[Any]) -> ListTable:
    """Django's cells, with what a phone needs beside them, and numbers in line."""
    columns = [
        _list_column(page, str(name), header)
        for name, header in zip(page.list_display, headers, strict=True)
    ]
    return ListTable(columns, [_list_row(columns, list(result)) for result in results])


def _list_column(page: ChangeList, name: str, header: Header) -> ListColumn:
    model_admin: Any = page.model_admin
    is_column = not hasattr(model_admin, name)
    is_number = _is_number(page, name)
    kind = mark_safe(' class="number"') if is_number else header["class_attrib"]
    text = model_admin.label_of(name) if is_column else header["text"]
    if name == "action_checkbox":
        return ListColumn(format_html(_ALL_ROWS, text), "", kind, is_number)
    label = conditional_escape(text[:1].upper() + text[1:])
    return ListColumn(label, label, kind, is_number)


def _is_number(page: ChangeList, name: str) -> bool:
    method = getattr(page.model_admin, name, None)
    if method is not None:
        return bool(getattr(method, "is_number", False))
    return isinstance(page.model._meta.get_field(name), IntegerField | DecimalField)


def _list_row(columns: list[ListColumn], cells: list[str]) -> SafeString:
    last = len(cells) - 1
    return mark_safe(  # noqa: S308  Django's own cells, and labels that are escaped
        "".join(
            _list_cell(column, cell, is_last=number == last)
            for number, (column, cell) in enumerate(zip(columns, cells, strict=True))
        )
    )


def _list_cell(column: ListColumn, cell: str, *, is_last: bool) -> str:
    kinds = "number " if column.is_number else ""
    if _BLANK.fullmatch(cell):
        kinds += "blank "
    if is_last and ('class="badge' in cell or "<a " in cell):
        kinds += "beside "  # on a phone: beside what the row is called
    return cell.replace(' class="', f' data-label="{column.label}" class="{kinds}', 1)


@register.filter
def figure_class(name: str) -> str:
    """Of a column of a record's parts: amounts and counts are in line."""
    return (
        "number"
        if name.endswith(
            ("_cents", "_atomic", "_count", "quantity", "_rate", "confirmations", "position")
        )
        else ""
    )


@register.filter
def record_title(row: Model) -> str:
    page: Any = admin.site.get_model_admin(type(row))
    return str(page.title_of(row))


@register.filter
def record_heading(row: Model) -> str:
    page: Any = admin.site.get_model_admin(type(row))
    return str(page.heading_of(row))


@register.filter
def has_id_below(row: Model) -> bool:
    """Its heading has a name, and its ID is one that people quote."""
    return isinstance(row.pk, UUID | str) and record_title(row) != str(row.pk)


@register.filter
def is_changed_here(row: Model) -> bool:
    """True if staff change such records, which have a history then."""
    page: Any = admin.site.get_model_admin(type(row))
    return bool(page.is_changed_here)


@register.filter
def record_setting(row: Any) -> list[str]:
    """A record's kind, store and age, where its heading doesn't say so."""
    page: Any = admin.site.get_model_admin(type(row))
    noun = sentence(page.singular())
    store = getattr(row, "store", None) or getattr(row, "store_name", None)
    since = next((getattr(row, name) for name in _BEGINNINGS if hasattr(row, name)), None)
    name = str(store) if store is not None else ""
    is_new = name != "" and name not in record_title(row)
    times = page.since_words(row, since) if since is not None else []
    return [noun] * page.has_name(row) + [name] * is_new + times


register.filter(code_or_text)
register.filter(heading_text)
register.filter(with_settings)


@register.filter
def age(since: datetime, now: datetime) -> str:
    """In the units of Django's timesince, which calls what began just now `0 minutes`."""
    return "less than a minute" if (now - since).total_seconds() < 60 else timesince(since, now)


@dataclass(frozen=True)
class RecordLines:
    """The fields of a record: those that are typed in, those that say something, with their values,
    of these what takes more than a line, and the names of the others."""

    typed: list[Any]
    known: list[Any]
    wide: list[Any]
    empty: list[str]


@register.simple_tag
def staff_lines(fieldset: Fieldset) -> RecordLines:
    lines = RecordLines([], [], [], [])
    for line in fieldset:
        field: Any = next(iter(line))
        if not field.is_readonly:
            lines.typed.append((line, field))
        elif _is_empty(field):
            lines.empty.append(field.field["label"])
        else:
            value = staff_value(field)
            is_wide = any(sign in str(value) for sign in _WIDE)
            (lines.wide if is_wide else lines.known).append((field, value))
    return lines


@register.filter
def part_label(field: Any) -> str:
    """Label before a value on a phone, which shows no heads of columns."""
    label = field.field["label"] if field.is_readonly else field.field.label
    return sentence(str(label))


@register.filter
def bare(label: str) -> SafeString:
    """A label without the colon that Django ends it with."""
    return mark_safe(label.replace(":</label>", "</label>"))  # noqa: S308  Django's own label


def _is_empty(field: AdminReadonlyField) -> bool:
    """Of a column. What a page works out itself always says something."""
    row, column = _column(field)
    if column is None:
        return False
    page: Any = field.model_admin
    says_nothing = page.says_nothing.get(column.name)
    is_blank = getattr(row, column.name) in (None, "", [], {})
    return is_blank or (says_nothing is not None and says_nothing(row))


def _column(field: AdminReadonlyField) -> tuple[Any, Any]:
    """Owner of a column: the record, or a row beside it (`companions`)."""
    record = field.form.instance
    for row in (record, *getattr(record, "companions", ())):
        try:
            return row, row._meta.get_field(field.field["name"])
        except FieldDoesNotExist:
            continue
    return record, None


@register.filter
def staff_value(field: AdminReadonlyField) -> Any:
    """A field's value in people's units. What isn't a column is as the site shows it."""
    row, column = _column(field)
    if column is None:
        return field.contents()
    if _is_empty(field):
        return field.empty_value_display
    page: Any = field.model_admin
    if isinstance(column, ForeignKey) and column.name not in page.value_texts:
        return _link(getattr(row, column.name))
    return page.value_of(row, column.name)


def _link(other: Model) -> str:
    name = code_or_text(named(other))
    page = f"admin:{other._meta.app_label}_{other._meta.model_name}_change"
    try:
        return format_html('<a href="{}">{}</a>', reverse(page, args=[other.pk]), name)
    except NoReverseMatch:
        return conditional_escape(name)
