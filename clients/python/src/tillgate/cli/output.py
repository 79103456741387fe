"""Output: a table for people, JSON for programs."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])
CELL_MAX = 60


def json_option(function: Function) -> Function:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def plain(value: object) -> str:
    """Text without what steers a terminal: other people can write titles and references."""
    text = "" if value is None else str(value)
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def print_json(value: Any, *, on_one_line: bool = False) -> None:
    click.echo(json.dumps(value, indent=None if on_one_line else 2))


def print_table(rows: Sequence[Sequence[object]], headings: Sequence[str]) -> None:
    cells = [[_short(plain(one)) for one in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(headings, *cells, strict=True)]
    for line in [list(headings), *cells]:
        padded = [
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ]
        click.echo("  ".join(padded).rstrip())


def print_fields(fields: dict[str, object]) -> None:
    longest = max(map(len, fields))
    for name, value in fields.items():
        click.echo(f"{name.ljust(longest)}  {plain(value) or '-'}")


def _short(text: str) -> str:
    return text if len(text) <= CELL_MAX else text[: CELL_MAX - 1] + "…"


def _width(text: str) -> int:
    """Columns of a terminal."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(one) > 0 for one in text)
