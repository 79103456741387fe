"""JSON columns for staff: values side by side, names with values, a table of similar lines, or the
original text."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.staff.lists import NOTHING, yes_or_no
from apps.staff.plumbing.codes import code_or_text

_ADDRESS = ("line1", "line2", "postal_code", "city", "state", "country")


@dataclass(frozen=True)
class TableColumn:
    """Of a table within a record; figures are in line."""

    label: str
    is_number: bool = False


def structure(
    value: Sequence[Any] | Mapping[str, Any], label: Callable[[str], str] = str
) -> SafeString:
    """`label` says what a name is called: one that a merchant typed stays as it is."""
    if isinstance(value, Mapping):
        return fields((label(name), leaf(item, label)) for name, item in value.items())
    if any(isinstance(item, dict | list) for item in value):
        numbered = enumerate(value, start=1)
        return fields((str(number), leaf(item, label)) for number, item in numbered)
    return side_by_side(leaf(item, label) for item in value)


def leaf(value: Any, label: Callable[[str], str] = str) -> Any:
    if isinstance(value, bool):
        return yes_or_no(value)
    if value in (None, "", [], {}):
        return NOTHING
    return structure(value, label) if isinstance(value, list | dict) else code_or_text(value)


def fields(pairs: Iterable[tuple[str, Any]]) -> SafeString:
    lines = format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", pairs)
    return format_html('<dl class="fields">{}</dl>', lines)


def side_by_side(items: Iterable[Any]) -> SafeString:
    return format_html(
        '<ul class="list">{}</ul>', format_html_join("", "<li>{}</li>", ((item,) for item in items))
    )


def address_parts(address: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """From the street to the country: the database has them in an order of its own."""
    in_order = sorted(address, key=lambda name: (_rank(name), name))
    return [(name, address[name]) for name in in_order if address[name]]


def _rank(name: str) -> int:
    """Rank of a line of an address; others come last."""
    return _ADDRESS.index(name) if name in _ADDRESS else len(_ADDRESS)


def table(columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]]) -> SafeString:
    """On a phone each row is a small card, whose figures say their column."""
    kinds = ["number" if column.is_number else "" for column in columns]
    heads = format_html_join(
        "",
        '<th scope="col" class="{}">{}</th>',
        ((kind, column.label) for kind, column in zip(kinds, columns, strict=True)),
    )
    lines = (
        format_html_join(
            "",
            '<td class="{}" data-label="{}">{}</td>',
            (
                (kind, column.label, leaf(cell))
                for kind, column, cell in zip(kinds, columns, row, strict=True)
            ),
        )
        for row in rows
    )
    body = format_html_join("", "<tr>{}</tr>", ((line,) for line in lines))
    return format_html(
        '<table class="lines stacks"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>',
        heads,
        body,
    )


def as_sent(value: Any) -> SafeString:
    """Another program's JSON: indented, and otherwise untouched."""
    return format_html(
        '<pre class="code">{}</pre>', json.dumps(value, ensure_ascii=False, indent=2)
    )
