"""The figures of an invoice: lines less discount, by category and rate, plus tax on each group.

One group per category and rate (EN 16931): its tax is its base times its rate, rounded half up
once. Where prices hold the tax, it is taken out of the group's price, so that the customer pays the
price to the cent; then base and tax may be a cent from the rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.billing.models import DiscountType, TaxRate
from apps.billing.requests import AMOUNT_CENTS_MAX
from apps.core.messages.fields import Invalid
from apps.core.money import BASIS_POINTS, CENTS, text_from_cents
from apps.payments.units import WHOLE_UNIT_CURRENCIES

REASON_MAX = 300


@dataclass(frozen=True)
class Charge:
    """Rate, category and reason that a line is charged by."""

    category: str
    rate_bps: int
    is_inclusive: bool = False
    name: str = ""
    reason: str = ""
    reason_code: str = ""

    @classmethod
    def of(cls, rate: TaxRate) -> "Charge":
        return cls(
            rate.category, rate.rate_bps, rate.inclusive, rate.name, rate.reason, rate.reason_code
        )

    @classmethod
    def plain(cls, rate_bps: int) -> "Charge":
        """An invoice's own rate, of which nothing else is known."""
        return cls("S" if rate_bps else "Z", rate_bps)

    @property
    def group(self) -> tuple[str, int]:
        return self.category, self.rate_bps


@dataclass(frozen=True)
class PricedLine:
    """`charge` None: nothing is said about its tax."""

    quantity: int
    unit_amount_cents: int
    charge: Charge | None = None

    @property
    def amount_cents(self) -> int:
        return self.quantity * self.unit_amount_cents


@dataclass(frozen=True)
class Totals:
    subtotal_cents: int
    discount_cents: int
    tax_cents: int

    @property
    def total_cents(self) -> int:
        return self.subtotal_cents - self.discount_cents + self.tax_cents

    def columns(self) -> dict[str, int]:
        return {
            "subtotal_cents": self.subtotal_cents,
            "discount_cents": self.discount_cents,
            "tax_cents": self.tax_cents,
            "total_cents": self.total_cents,
        }


@dataclass(frozen=True)
class TaxGroup:
    """The lines of one category and rate; `net_cents` before the discount."""

    charge: Charge
    net_cents: int
    discount_cents: int
    tax_cents: int

    @property
    def base_cents(self) -> int:
        return self.net_cents - self.discount_cents

    def with_other(self, other: "TaxGroup") -> "TaxGroup":
        charge = _joined([self.charge, other.charge])
        return TaxGroup(
            replace(charge, is_inclusive=True),
            self.net_cents + other.net_cents,
            self.discount_cents + other.discount_cents,
            self.tax_cents + other.tax_cents,
        )


@dataclass(frozen=True)
class Figures:
    """`included_cents`: of each line, the tax that its price holds."""

    totals: Totals
    groups: tuple[TaxGroup, ...]
    included_cents: tuple[int, ...]


def smallest_cents(currency: str) -> int:
    """The smallest amount that a currency has."""
    return CENTS if currency in WHOLE_UNIT_CURRENCIES else 1


def count(
    lines: Sequence[PricedLine],
    currency: str,
    discount_type: str | None = None,
    discount_value: int | None = None,
) -> Figures:
    """A discount lowers prices as they are written: those that hold tax, with it. Raises Invalid
    when they amount to too much."""
    step = smallest_cents(currency)
    amounts = [line.amount_cents for line in lines]
    discount = _discount(sum(amounts), discount_type, discount_value or 0, step)
    grouped = _grouped(lines)
    parts = shares(
        min(discount, sum(amounts)),
        [sum(amounts[n] for n in numbers) for numbers in grouped.values()],
        step,
    )
    included = [0] * len(lines)
    groups = []
    plain_discount = 0
    for (key, numbers), part in zip(grouped.items(), parts, strict=True):
        own = [amounts[n] for n in numbers]
        charges = [charge for n in numbers if (charge := lines[n].charge) is not None]
        if key is None:
            plain_discount = part
            continue
        group, taken = _group(_joined(charges), own, part, step)
        groups.append(group)
        for n, cents in zip(numbers, taken, strict=True):
            included[n] = cents
    totals = Totals(
        sum(amounts) - sum(included),
        plain_discount + sum(group.discount_cents for group in groups),
        sum(group.tax_cents for group in groups),
    )
    if max(sum(amounts), totals.total_cents) > AMOUNT_CENTS_MAX:
        raise Invalid("total", "at_most", maximum=text_from_cents(AMOUNT_CENTS_MAX))
    return Figures(totals, _merged(groups), tuple(included))


def _grouped(lines: Sequence[PricedLine]) -> dict[tuple[str, int, bool] | None, list[int]]:
    """The numbers of the lines that are counted together, in the order of their first."""
    grouped: dict[tuple[str, int, bool] | None, list[int]] = {}
    for n, line in enumerate(lines):
        charge = line.charge
        key = None if charge is None else (*charge.group, charge.is_inclusive)
        grouped.setdefault(key, []).append(n)
    return grouped


def _merged(groups: Sequence[TaxGroup]) -> tuple[TaxGroup, ...]:
    """Prices with and without tax of one rate are one group."""
    merged: dict[tuple[str, int], TaxGroup] = {}
    for group in groups:
        before = merged.get(group.charge.group)
        merged[group.charge.group] = group if before is None else before.with_other(group)
    return tuple(merged.values())


def _joined(charges: Sequence[Charge]) -> Charge:
    """One group has one name and one reason: those of its lines, each once."""
    reasons = dict.fromkeys(charge.reason for charge in charges if charge.reason)
    codes = [charge.reason_code for charge in charges if charge.reason_code]
    return replace(
        charges[0],
        reason="; ".join(reasons)[:REASON_MAX],
        reason_code=codes[0] if codes else "",
    )


def _group(
    charge: Charge, amounts: Sequence[int], discount: int, step: int
) -> tuple[TaxGroup, list[int]]:
    """The group, and the tax that each of its lines holds."""
    amount = sum(amounts)
    if not charge.is_inclusive:
        tax = half_up((amount - discount) * charge.rate_bps, BASIS_POINTS, step)
        return TaxGroup(charge, amount, discount, tax), [0] * len(amounts)
    before = _held(amount, charge.rate_bps, step)
    tax = _held(amount - discount, charge.rate_bps, step)
    net = amount - before
    return TaxGroup(charge, net, net - (amount - discount - tax), tax), shares(
        before, amounts, step
    )


def _held(amount: int, rate_bps: int, step: int) -> int:
    """The tax that an amount holds."""
    return half_up(amount * rate_bps, BASIS_POINTS + rate_bps, step)


def shares(total: int, weights: Sequence[int], step: int) -> list[int]:
    """`total` in proportion to the weights, in whole steps: none gets more than its weight when
    all weigh at least the total, and what rounding leaves goes to the largest remainders."""
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    parts = [total * weight // (whole * step) * step for weight in weights]
    rests = [total * weight - part * whole for weight, part in zip(weights, parts, strict=True)]
    order = sorted(range(len(weights)), key=lambda n: (-rests[n], n))
    for n in order[: (total - sum(parts)) // step]:
        parts[n] += step
    return parts


def _discount(subtotal: int, kind: str | None, value: int, step: int) -> int:
    if kind == DiscountType.PERCENT:
        return half_up(subtotal * value, 100, step)
    return half_up(value, 1, step) if kind == DiscountType.AMOUNT else 0


def half_up(numerator: int, denominator: int, step: int) -> int:
    """numerator / denominator, rounded half up to a multiple of `step`."""
    return (2 * numerator + denominator * step) // (2 * denominator * step) * step
