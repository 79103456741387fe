"""Totals of an invoice, against an independent calculation in fractions: all categories, mixed
rates, discounts with half cents, prices with and without their tax, ten currencies."""

import random
from fractions import Fraction

import pytest

from apps.billing.models import TaxCategory
from apps.billing.models.tax import UNTAXED, WITH_REASON
from apps.billing.requests import AMOUNT_CENTS_MAX
from apps.billing.taxes.counting import Charge, Figures, PricedLine, count, shares
from apps.core.messages.fields import Invalid
from apps.stores.models import Currency

RATES = (500, 550, 700, 810, 1000, 1900, 2000, 2100, 2550, 2700)


def charge(random_: random.Random, *, is_inclusive: bool) -> Charge | None:
    category = random_.choice([*TaxCategory.values, "S", "S", "S", None])
    if category is None:
        return None
    if category in UNTAXED:
        return Charge(category, 0, reason="Why" if category in WITH_REASON else "")
    return Charge(category, random_.choice(RATES), is_inclusive)


def rounded(exact: Fraction, step: int) -> int:
    """Half up, as a person would: whole steps, and one more from the half on."""
    whole, rest = divmod(exact, step)
    return int(whole + (1 if 2 * rest >= step else 0)) * step


def drawn(seed: int) -> tuple[list[PricedLine], str, str | None, int | None]:
    random_ = random.Random(seed)  # nothing secret
    currency = random_.choice(Currency.values)
    step = 100 if currency == "JPY" else 1
    is_inclusive = random_.random() < 0.5
    lines = [
        PricedLine(
            random_.choice((1, 1, 2, 3, 7, 1000)),
            random_.choice((0, 1, 5, 99, 999, 1250, 123_45)) * step,
            charge(random_, is_inclusive=is_inclusive),
        )
        for _ in range(random_.randint(1, 8))
    ]
    kind = random_.choice((None, "percent", "amount"))
    value = random_.randint(0, 100) if kind == "percent" else random_.choice((0, 1, 50, 9999))
    return lines, currency, kind, None if kind is None else value


@pytest.mark.parametrize("part", range(10))
def test_every_figure_of_a_drawn_invoice_is_the_independent_one(part: int) -> None:
    for seed in range(part * 200, part * 200 + 200):
        lines, currency, kind, value = drawn(seed)
        check(count(lines, currency, kind, value), lines, currency, kind, value)


def check(
    figures: Figures,
    lines: list[PricedLine],
    currency: str,
    kind: str | None,
    value: int | None,
) -> None:
    step = 100 if currency == "JPY" else 1
    totals = figures.totals
    written = sum(line.quantity * line.unit_amount_cents for line in lines)
    discount = {
        None: 0,
        "percent": rounded(Fraction(written * (value or 0), 100), step),
        "amount": rounded(Fraction(value or 0), step),
    }[kind]
    payable = written - min(written, discount)
    added = sum(group.tax_cents for group in figures.groups if not group.charge.is_inclusive)
    # Whoever pays prices that hold their tax pays these prices.
    assert totals.total_cents == payable + added
    for group in figures.groups:
        nets = sum(
            line.amount_cents - included
            for line, included in zip(lines, figures.included_cents, strict=True)
            if line.charge is not None and line.charge.group == group.charge.group
        )
        assert group.net_cents == nets
        exact = Fraction(group.base_cents * group.charge.rate_bps, 10_000)
        if group.charge.is_inclusive:
            assert abs(group.tax_cents - exact) <= step
        else:
            assert group.tax_cents == rounded(exact, step)
        assert 0 <= group.discount_cents <= group.net_cents
        assert group.base_cents % step == group.tax_cents % step == 0
    keys = [group.charge.group for group in figures.groups]
    assert len(set(keys)) == len(keys)
    untaxed = [
        line.amount_cents - included
        for line, included in zip(lines, figures.included_cents, strict=True)
        if line.charge is None
    ]
    assert totals.subtotal_cents == sum(group.net_cents for group in figures.groups) + sum(untaxed)
    assert totals.tax_cents == sum(group.tax_cents for group in figures.groups)


def test_a_rate_is_rounded_once_and_not_line_by_line() -> None:
    tenth = PricedLine(1, 5, Charge("S", 1000))
    assert count([tenth] * 3, "EUR").totals.tax_cents == 2  # 1.5, where each line alone has 0.5


def test_half_a_cent_of_a_discount_is_one_and_belongs_to_one_rate() -> None:
    lines = [PricedLine(1, 5, Charge("S", 1900)), PricedLine(1, 5, Charge("S", 700))]
    figures = count(lines, "EUR", "percent", 50)
    assert figures.totals.discount_cents == 5
    assert [group.discount_cents for group in figures.groups] == [3, 2]


def test_a_price_that_holds_its_tax_is_paid_to_the_cent() -> None:
    """9.99 at 19% has no base whose rounded tax adds up to it."""
    figures = count([PricedLine(1, 999, Charge("S", 1900, is_inclusive=True))], "EUR")
    assert (figures.totals.subtotal_cents, figures.totals.tax_cents) == (839, 160)
    assert figures.totals.total_cents == 999


def test_prices_with_and_without_their_tax_make_one_group_of_their_rate() -> None:
    lines = [
        PricedLine(1, 11900, Charge("S", 1900, is_inclusive=True)),
        PricedLine(1, 10000, Charge("S", 1900)),
    ]
    (group,) = count(lines, "EUR").groups
    assert (group.base_cents, group.tax_cents) == (20000, 3800)


def test_one_group_has_the_reasons_of_all_its_lines() -> None:
    lines = [
        PricedLine(1, 100, Charge("E", 0, reason="Teaching")),
        PricedLine(1, 100, Charge("E", 0, reason="Insurance")),
        PricedLine(1, 100, Charge("E", 0, reason="Teaching")),
    ]
    (group,) = count(lines, "EUR").groups
    assert group.charge.reason == "Teaching; Insurance"


def test_yen_have_no_part_of_a_yen() -> None:
    figures = count([PricedLine(1, 105_00, Charge("S", 1000, is_inclusive=True))], "JPY")
    assert figures.totals.tax_cents == 10_00


def test_an_invoice_of_too_much_is_refused() -> None:
    with pytest.raises(Invalid):
        count([PricedLine(1, AMOUNT_CENTS_MAX, Charge("S", 1900))], "EUR")


@pytest.mark.parametrize(
    ("total", "weights", "parts"),
    [
        (1, [1, 1, 1], [1, 0, 0]),
        (100, [1, 2, 4], [14, 29, 57]),
        (0, [0, 0], [0, 0]),
        (7, [0, 7], [0, 7]),
    ],
)
def test_what_is_shared_adds_up(total: int, weights: list[int], parts: list[int]) -> None:
    assert shares(total, weights, 1) == parts
