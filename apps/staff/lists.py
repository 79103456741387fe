"""Lists of the staff site: columns in people's units, searches and filters that an index serves."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, cast

from django.contrib import admin
from django.db.models import (
    DateTimeField,
    ExpressionWrapper,
    F,
    Field,
    ForeignKey,
    IntegerField,
    Model,
    Q,
    QuerySet,
    UUIDField,
    Value,
)
from django.db.models.lookups import GreaterThan
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core import clock, emails, ids, money
from apps.core.models import Mode
from apps.core.searching import SearchTerm
from apps.core.templatetags.tillgate import (
    badge,
    email_text,
    fiat,
    moment,
    shorten,
    status_words,
    url_text,
)
from apps.core.text.countries import country_name
from apps.core.text.words import code_words
from apps.staff.plumbing import times
from apps.staff.plumbing.paging import is_by_key

FOUND_MAX = 200
_EMAIL = re.compile(r"\S+@\S+")
STORES_MAX = 20
_CODE_MAX = 36  # of an ID, which stays whole
NOTHING = "—"
Column = Callable[[Any, Any], Any]


# --- columns --------------------------------------------------------------------------------------


def _at(row: Any, path: str) -> Any:
    for name in path.split("__"):
        row = getattr(row, name, None)
    return row


def _column(show: Column, description: str) -> Column:
    return admin.display(description=description, empty_value=NOTHING)(show)


def number(show: Column) -> Column:
    """A column of figures: they are in line, at the end of their cell."""
    show.is_number = True  # type: ignore[attr-defined]  # read by staff_rows
    return show


def when(path: str, description: str) -> Column:
    """A time with its zone."""
    return _column(lambda _, row: moment(_at(row, path)) or None, description)


def made(path: str, description: str) -> Column:
    """Time of making, by the row's ID, which the list is in the order of. Below it what the row
    itself says, where that is the time of a test clock."""

    def show(_: Any, row: Any) -> SafeString | str | None:
        return times.made_text(row, _at(row, path)) or None

    show.is_order = True  # type: ignore[attr-defined]  # read by a test of all lists
    return _column(show, description)


def by_store(path: str, description: str) -> Column:
    """A time of the store's own, marked as a test clock's."""
    return _column(lambda _, row: times.store_text(row, _at(row, path)) or None, description)


def tells_mode(show: Column) -> Column:
    """A column that says of a row that it is only a test."""
    show.tells_mode = True  # type: ignore[attr-defined]  # read by a test of all lists
    return show


def store(
    path: str = "store", description: str = "Store", *, mode: str = "mode", nobody: str = NOTHING
) -> Column:
    """Store of the row, with a mark for test mode. `mode` is where its mode is, `nobody` whose it
    is without a store."""

    def show(_: Any, row: Any) -> SafeString:
        return with_mode(str(_at(row, path) or nobody), _at(row, mode))

    return tells_mode(_column(show, description))


def mode(description: str = "Mode") -> Column:
    return tells_mode(_column(lambda _, row: Mode(row.mode).label, description))


def chain(path: str = "chain", description: str = "Chain") -> Column:
    """A network, and that its coins are only for tests: the list selects it as well."""

    def show(_: Any, row: Any) -> SafeString | None:
        network = _at(row, path)
        return None if network is None else with_mode(network.name, network.mode)

    return tells_mode(_column(show, description))


def with_mode(text: Any, which: str | None) -> SafeString:
    """A name, or what is made of one, and behind it that it is only a test."""
    name = format_html('<bdi class="name">{}</bdi>', text)
    return (
        format_html('{} <span class="badge wait">Test</span>', name) if which == Mode.TEST else name
    )


def status() -> Column:
    """In words and a color, by the badges of the page's noun."""
    return _column(lambda page, row: badge(page.noun, str(row.status)), "Status")


def short(path: str, description: str, *, chain: str = "") -> Column:
    """An address or hash by its ends; the whole is in its title. `chain` is where the network is
    that it is on, which is named below."""

    def show(_: Any, row: Any) -> SafeString | None:
        value = _at(row, path)
        if not value:
            return None
        network = _at(row, chain).name if chain else ""
        return by_its_ends(str(value), network)

    return _column(show, description)


def by_its_ends(value: str, below: str = "") -> SafeString:
    ends = format_html('<bdi class="code" title="{}">{}</bdi>', value, shorten(value))
    return format_html('{} <span class="worth below">{}</span>', ends, below) if below else ends


def text(path: str, description: str) -> Column:
    """Text that a stranger may have written; an email address breaks between its parts."""

    def show(_: Any, row: Any) -> SafeString | None:
        value = _at(row, path)
        if value in (None, ""):
            return None
        words = email_text(value) if _EMAIL.fullmatch(str(value)) else value
        return format_html('<bdi class="name" title="{}">{}</bdi>', value, words)

    return _column(show, description)


def url(path: str, description: str) -> Column:
    """Whole, and breaking between its parts."""

    def show(_: Any, row: Any) -> SafeString | None:
        value = _at(row, path)
        return format_html('<bdi class="name">{}</bdi>', url_text(value)) if value else None

    return _column(show, description)


def clipped(path: str, description: str) -> Column:
    """A long name of ours on one line, without its middle: its end tells it from its neighbors. The
    whole is in its title, and on a phone, which has no titles, in its place."""

    def show(_: Any, row: Any) -> SafeString | None:
        value = str(_at(row, path) or "")
        if not value:
            return None
        middle = format_html('<span class="middle">{}</span>', value[17:-12])
        cut = format_html('{}<span class="cut">…</span>{}{}', value[:17], middle, value[-12:])
        text = cut if len(value) > _CODE_MAX else value
        return format_html('<bdi class="code clip" title="{}">{}</bdi>', value, text)

    return _column(show, description)


def asset(path: str = "asset") -> Column:
    """`ETH on Ethereum Sepolia`: the list selects its chain as well."""
    return _column(lambda _, row: getattr(_at(row, path), "full_name", None), "Asset")


def coins(
    path: str = "amount_atomic",
    asset: str = "asset",
    description: str = "Amount",
    *,
    rate: str = "rate_now",
) -> Column:
    """With the coin's symbol, and about what it is worth where the row knows (`rate`,
    `rate_currency`)."""

    def show(_: Any, row: Any) -> SafeString | None:
        value = _at(row, path)
        coin = _at(row, asset)
        if value is None:
            return None
        return (
            format_html("{} atomic units", value)
            if coin is None
            else worth(int(value), coin, row, rate)
        )

    return number(_column(show, description))


def coins_text(row: Any, coin: Any = None) -> str:
    """The amount of a row that has one, with its coin; empty while nobody knows which coin."""
    coin = coin or row.asset
    return (
        f"{money.amount_text(row.amount_atomic, coin.atomic_decimals)} {coin.coin_symbol}"
        if coin
        else ""
    )


def worth(atomic: int, coin: Any, row: Any, rate_name: str = "rate_now") -> SafeString:
    """An amount, and about its value by the rate that the query has put on the row."""
    amount = f"{money.amount_text(atomic, coin.atomic_decimals)} {coin.coin_symbol}"
    rate: Decimal | None = getattr(row, rate_name, None)
    if rate is None:
        return format_html('<bdi class="amount">{}</bdi>', amount)
    value = _about_worth(money.cents_for_atomic(atomic, rate, coin.atomic_decimals), atomic, row)
    return format_html('<bdi class="amount">{}</bdi> <span class="worth">{}</span>', amount, value)


def _about_worth(cents: int, atomic: int, row: Any) -> str:
    """Nothing is worth exactly nothing."""
    if atomic == 0:
        return fiat(0, row.rate_currency)
    return about(cents, row.rate_currency) if cents else less_than_a_cent(row.rate_currency)


def about(cents: int, currency: str) -> str:
    """`≈ €36.00`: the sign stays on the line of its amount."""
    return f"≈\N{NO-BREAK SPACE}{fiat(cents, currency)}"


def less_than_a_cent(currency: str) -> str:
    return f"<\N{NO-BREAK SPACE}{fiat(1, currency)}"


def yes_or_no(value: bool) -> SafeString | str:
    """A no is seldom bad news: it is only quieter than a yes."""
    return "Yes" if value else format_html('<span class="no">{}</span>', "No")


def figure(path: str, description: str) -> Column:
    """A plain number."""
    return number(_column(lambda _, row: _at(row, path), description))


def flag(path: str, description: str) -> Column:
    """Yes or no."""
    return _column(lambda _, row: yes_or_no(bool(_at(row, path))), description)


def words(path: str, description: str) -> Column:
    """A name of ours, as a sentence begins."""
    return _column(lambda _, row: code_words(str(_at(row, path))), description)


def country(path: str = "country", description: str = "Country") -> Column:
    return _column(lambda _, row: country_name(_at(row, path) or "") or None, description)


def price(path: str, currency: str, description: str = "Amount") -> Column:
    """Fiat."""
    return number(
        _column(lambda _, row: fiat(int(_at(row, path)), _at(row, currency)), description)
    )


def is_submitted_in_real_time(row: Any) -> bool:
    """True if no test clock moved the time at which it was submitted."""
    own, real = row.submitted_at, row.submitted_real_at
    return own is not None and real is not None and abs(own - real) < times.SAME_TIME


# --- filters --------------------------------------------------------------------------------------


def choices(
    column: str, title: str, values: Iterable[tuple[str, str]]
) -> type[admin.SimpleListFilter]:
    """A filter of known values: Django's own would ask a table for all the values that it has."""
    choice_values = tuple(values)

    class Choices(admin.SimpleListFilter):
        parameter_name = column

        def lookups(self, request: Any, model_admin: Any) -> Sequence[tuple[str, str]]:
            return choice_values

        def queryset(self, request: Any, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
            value = self.value()
            return (
                queryset.filter(**{column: value})
                if value in {name for name, _ in choice_values}
                else queryset
            )

    Choices.title = title
    return Choices


MODE = choices("mode", "mode", Mode.choices)


class StatusFilter(admin.ChoicesFieldListFilter):
    """In the words of the badges in the list."""

    def choices(self, changelist: Any) -> Any:
        noun = changelist.model_admin.noun
        words = {str(label): status_words(noun, value) for value, label in self.field.flatchoices}
        for choice in super().choices(changelist):
            yield {**choice, "display": words.get(str(choice["display"]), choice["display"])}


class AssetFilter(admin.RelatedFieldListFilter):
    """By coin: `ETH on Ethereum Sepolia` instead of the ID."""

    def field_choices(self, field: Any, request: Any, model_admin: Any) -> list[tuple[str, Any]]:
        rows = field.related_model._base_manager.select_related("chain")
        return sorted(((row.pk, row.full_name) for row in rows), key=lambda item: item[1])


def present(column: str, title: str, is_set: str, is_empty: str) -> type[admin.SimpleListFilter]:
    """Filter for a value in a nullable column."""

    class Present(admin.SimpleListFilter):
        parameter_name = f"{column}__isempty"

        def lookups(self, request: Any, model_admin: Any) -> Sequence[tuple[str, str]]:
            return (("0", is_set), ("1", is_empty))

        def queryset(self, request: Any, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
            value = self.value()
            return (
                queryset.filter(**{f"{column}__isnull": value == "1"})
                if value in ("0", "1")
                else queryset
            )

    Present.title = title
    return Present


def since(column: str) -> type[admin.SimpleListFilter]:
    """The newest of a table that is too long to be sorted. A search looks at all of it."""
    days = {"1": "Last 24 hours", "7": "Last 7 days", "30": "Last 30 days"}

    class Since(admin.SimpleListFilter):
        title = "period"
        parameter_name = "days"

        def lookups(self, request: Any, model_admin: Any) -> Sequence[tuple[str, str]]:
            return (*days.items(), ("all", "Any time"))

        def value(self) -> str:
            return super().value() or "7"

        def choices(self, changelist: Any) -> Any:
            """Without "All": a list without a choice is that of seven days."""
            options = super().choices(changelist)
            next(iter(options))
            yield from options

        def queryset(self, request: Any, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
            value = self.value()
            if value not in days or request.GET.get("q", "").strip():
                return queryset
            first = _ago(days=int(value))
            if not is_by_key(queryset):
                return queryset.filter(**{f"{column}__gt": first})
            queryset = queryset.filter(pk__gte=ids.first_id(first))
            if getattr(queryset.model, "HAS_DAYS", False):
                return queryset.filter(**{f"{column}__gt": first})
            # No index of times serves a sum: beneath the policies PostgreSQL expects so few rows
            # that it would read and sort all of the period in place of the newest.
            at = ExpressionWrapper(F(column) + Value(timedelta()), output_field=DateTimeField())
            return queryset.filter(GreaterThan(at, first))

    return Since


def _ago(**passed: int) -> datetime:
    return clock.real_now() - timedelta(**passed)


# --- search ---------------------------------------------------------------------------------------


def found_by(rows: "QuerySet[Any]", columns: Iterable[str], typed: str) -> "QuerySet[Any]":
    """The rows that one of these columns finds, the first that finds any: each is asked alone, so
    that its index answers.

    A column is compared whole; `^name` by its beginning, `store` by the store's id or the beginning
    of its name.
    """
    term = SearchTerm.of(typed)
    for column in columns:
        condition = _condition(rows.model, column, term)
        if condition is None:
            continue
        keys = list(
            rows.model._base_manager.filter(condition).values_list("pk", flat=True)[:FOUND_MAX]
        )
        if keys:
            return rows.filter(pk__in=keys)
    return rows.none()


def _condition(model: type[Model], column: str, term: SearchTerm) -> Q | None:
    """None when the column can't hold what was typed."""
    typed = term.text
    if column.startswith("^"):
        return term.begins(column[1:])
    field = _field(model, column)
    if column == "store" or column.endswith("__store"):
        return (
            Q(**{f"{column}_id": term.id})
            if term.id
            else Q(**{f"{column}_id__in": _stores(field, term)})
        )
    if isinstance(field, ForeignKey):
        field = field.target_field
    if isinstance(field, UUIDField):
        return Q(**{column: term.id}) if term.id else None
    if isinstance(field, IntegerField):
        return (
            Q(**{column: int(typed)})
            if typed.isascii() and typed.isdigit() and len(typed) < 19
            else None
        )
    if column.endswith("email_key"):
        return Q(**{f"{column}__in": {typed.lower(), emails.canonical(typed)}}) | term.begins(
            column
        )
    if column == "tx_hash" and any(
        column_field.name == "chain" for column_field in model._meta.fields
    ):
        return Q(tx_hash=term.tx_hash, chain__in=_of_chain(model)) if term.tx_hash else None
    return Q(**{column: term.tx_hash or term.address or typed})


def _field(model: type[Model], path: str) -> "Field[Any, Any] | Any":
    field: Any = None
    for name in path.split("__"):
        field = model._meta.get_field(name)
        model = field.related_model or model
    return field


def _of_chain(model: type[Model]) -> "QuerySet[Any]":
    """All of them: hashes are indexed by chain."""
    chains: Any = _field(model, "chain").related_model
    return cast("QuerySet[Any]", chains._base_manager.all())


def _stores(field: Any, term: SearchTerm) -> list[Any]:
    matches = field.related_model._base_manager.filter(term.begins("name"))
    return list(matches.values_list("pk", flat=True)[:STORES_MAX])
