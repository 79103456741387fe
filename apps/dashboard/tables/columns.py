"""Columns of the usual kinds: a text, a sum, a number, a day or moment; each by one getter, for the
page and the file alike."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.utils.html import format_html

from apps.core import clock, money
from apps.core.templatetags.tillgate import count
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.lists import Column

Get = Callable[[Any], Any]


def text_column(key: str, label: str, get: Get, *, is_default: bool = True) -> Column:
    return Column(
        key, label, lambda row: list_cells.words(get(row)), {key: get}, is_default=is_default
    )


def number_column(key: str, label: str, get: Get, *, is_default: bool = True) -> Column:
    return Column(
        key, label, lambda row: count(get(row)), {key: get}, is_number=True, is_default=is_default
    )


def cents_column(
    key: str,
    label: str,
    cents: Get,
    currency: Get,
    *,
    is_default: bool = True,
    on_phone: bool = False,
) -> Column:
    """The file has the sum alone; which column says the currency is the list's business."""
    csv: Mapping[str, Get] = {
        key: lambda row: "" if cents(row) is None else money.text_from_cents(cents(row))
    }
    cell = lambda row: list_cells.cents(cents(row), currency(row))  # noqa: E731
    return Column(key, label, cell, csv, is_number=True, is_default=is_default, on_phone=on_phone)


def time_column(
    key: str,
    label: str,
    get: Callable[[Any], datetime | None],
    *,
    name: str,
    is_default: bool = False,
    on_phone: bool = False,
) -> Column:
    """`name` is what the file calls it."""
    csv = {name: lambda row: clock.iso(get(row))}
    return Column(
        key,
        label,
        lambda row: list_cells.time(get(row)),
        csv,
        is_default=is_default,
        on_phone=on_phone,
    )


def day_column(
    key: str,
    label: str,
    get: Callable[[Any], datetime | None],
    *,
    name: str,
    is_default: bool = True,
    on_phone: bool = False,
) -> Column:
    """The day on the page, the moment in the file."""

    return Column(
        key,
        label,
        lambda row: list_cells.day(get(row)),
        {name: lambda row: clock.iso(get(row))},
        is_default=is_default,
        on_phone=on_phone,
        phone_label=label if on_phone else "",
    )


def id_column(get: Get) -> Column:
    """Column of the ID with the mode, by which records are matched: the last of every list."""
    csv: Mapping[str, Get] = {"mode": lambda row: get(row).mode, "id": lambda row: get(row).pk}
    return Column(
        "id",
        "ID",
        lambda row: format_html('<span class="mono small">{}</span>', get(row).pk),
        csv,
        is_default=False,
    )
