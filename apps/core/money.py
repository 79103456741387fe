"""The only Decimal arithmetic. What a customer must pay rounds up, fees round down, worth rounds
half-even to the cent.

Atomic amounts and cents are ints; a rate is fiat per coin with 18 places. Where an amount travels
with its unit it is a `Fiat` or an `Amount`: they refuse to be added to or compared with one of
another currency or asset.
"""

import re
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Generic, NewType, Protocol, TypeVar

WIDE = Context(prec=120)
CENTS = 100
BASIS_POINTS = 10_000
DIGITS_MAX = 59
MINUS = "\N{MINUS SIGN}"
RATE_MIN = Decimal(10) ** -12
RATE_MAX = Decimal(10) ** 12
_PLAIN_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)


AssetId = NewType("AssetId", str)
Bps = NewType("Bps", int)  # basis points: hundredths of a percent


class UnitMismatch(Exception):
    """Amounts of two currencies or two assets meet: a bug of ours, never a caller's."""


@dataclass(frozen=True, slots=True)
class Fiat:
    """An amount of money."""

    cents: int
    currency: str

    def __add__(self, other: "Fiat") -> "Fiat":
        return Fiat(self.cents + self._same(other), self.currency)

    def __sub__(self, other: "Fiat") -> "Fiat":
        return Fiat(self.cents - self._same(other), self.currency)

    def __lt__(self, other: "Fiat") -> bool:
        return self.cents < self._same(other)

    def __le__(self, other: "Fiat") -> bool:
        return self.cents <= self._same(other)

    def __str__(self) -> str:
        return f"{text_from_cents(self.cents)} {self.currency}"

    def _same(self, other: "Fiat") -> int:
        if other.currency != self.currency:
            raise UnitMismatch(f"{self} and {other}")
        return other.cents


@dataclass(frozen=True, slots=True)
class Unit:
    """An asset as money needs it: its identity, and the decimals of its atomic unit."""

    id: AssetId
    atomic_decimals: int


class Coin(Protocol):
    """An asset, whatever else it knows of itself."""

    @property
    def unit(self) -> Unit: ...


CoinT = TypeVar("CoinT", bound=Coin)


@dataclass(frozen=True, slots=True)
class Amount(Generic[CoinT]):
    """So many atomic units of an asset."""

    asset: CoinT
    atomic: int

    def __add__(self, other: "Amount[CoinT]") -> "Amount[CoinT]":
        return Amount(self.asset, self.atomic + self._same(other))

    def __sub__(self, other: "Amount[CoinT]") -> "Amount[CoinT]":
        return Amount(self.asset, self.atomic - self._same(other))

    def __lt__(self, other: "Amount[CoinT]") -> bool:
        return self.atomic < self._same(other)

    def __le__(self, other: "Amount[CoinT]") -> bool:
        return self.atomic <= self._same(other)

    def after_slippage(self, slippage_bps: Bps) -> "Amount[CoinT]":
        """The least of an estimate that is still taken, rounded down."""
        return Amount(self.asset, self.atomic * (BASIS_POINTS - slippage_bps) // BASIS_POINTS)

    @property
    def coins(self) -> str:
        """As a decimal text, trailing zeros stripped."""
        return decimal_from_atomic(self.atomic, self.asset.unit.atomic_decimals)

    def __str__(self) -> str:
        return f"{self.coins} {self.asset.unit.id}"

    def _same(self, other: "Amount[CoinT]") -> int:
        if other.asset.unit != self.asset.unit:
            raise UnitMismatch(f"{self} and {other}")
        return other.atomic


@dataclass(frozen=True, slots=True)
class CoinPrice(Generic[CoinT]):
    """Price of a coin in a currency."""

    asset: CoinT
    rate: Decimal
    currency: str

    def worth(self, amount: Amount[CoinT]) -> Fiat:
        """Half-even to the cent. Raises UnitMismatch for another asset's."""
        if amount.asset.unit != self.asset.unit:
            raise UnitMismatch(f"{amount} at {self}")
        return Fiat(
            cents_for_atomic(amount.atomic, self.rate, self.asset.unit.atomic_decimals),
            self.currency,
        )

    def __str__(self) -> str:
        return f"{self.rate} {self.currency} for {self.asset.unit.id}"


def exchanged(
    sold: Amount[CoinT], price: CoinPrice[CoinT], bought: CoinPrice[CoinT], spread_bps: Bps = Bps(0)
) -> Amount[CoinT]:
    """Amount of another asset for an amount at two prices in one currency, less a spread; rounded
    down to the atomic unit.

    Raises UnitMismatch for prices in two currencies, or a price that isn't of what is sold.
    """
    if price.asset.unit != sold.asset.unit or price.currency != bought.currency:
        raise UnitMismatch(f"{sold} at {price}, and {bought}")
    coins = Fraction(sold.atomic, 10**sold.asset.unit.atomic_decimals)
    worth = coins * Fraction(price.rate) * (BASIS_POINTS - spread_bps) / BASIS_POINTS
    atomic: int = (
        worth / Fraction(bought.rate) * 10**bought.asset.unit.atomic_decimals
    ).__floor__()
    return Amount(bought.asset, atomic)


def cents_from_text(amount: str) -> int:
    """`12.5` -> 1250. The text has been checked to hold at most two places."""
    whole, _, places = amount.partition(".")
    return int(whole) * CENTS + int(places.ljust(2, "0") or 0)


def text_from_cents(cents: int) -> str:
    """1250 -> `12.50`; always two places."""
    sign = "-" if cents < 0 else ""
    size = abs(cents)
    return f"{sign}{size // CENTS}.{size % CENTS:02d}"


def cents_at(cents: int, rate: Decimal) -> int:
    """Cents of another currency, of which one of theirs is `rate`; half up, as taxes are."""
    return int((cents * rate).quantize(Decimal(1), ROUND_HALF_UP))


def _up(exact: Fraction) -> int:
    return -((-exact.numerator) // exact.denominator)


def atomic_for_cents(cents: int, rate: Decimal, atomic_decimals: int, display_decimals: int) -> int:
    """Coins that are worth `cents` at `rate`, rounded up to the display precision, in atomic
    units."""
    # Whole numbers instead of fractions: every payment asks for each of its coins.
    fiat, coins = rate.as_integer_ratio()
    step: int = 10 ** (atomic_decimals - display_decimals)
    steps: int = -(-(cents * coins * 10**atomic_decimals) // (CENTS * fiat * step))
    return steps * step


def atomic_at_least(cents: int, rate: Decimal, atomic_decimals: int) -> int:
    """The fewest atomic units that are worth `cents` at `rate`."""
    exact = Fraction(cents, CENTS) / Fraction(rate) * 10**atomic_decimals
    return _up(exact)


def cents_for_atomic(amount_atomic: int, rate: Decimal, atomic_decimals: int) -> int:
    """Value of atomic units at `rate`, half-even to the cent."""
    exact = Fraction(amount_atomic, 10**atomic_decimals) * Fraction(rate) * CENTS
    return round(exact)


def cents_at_least(amount_atomic: int, rate: Decimal, atomic_decimals: int) -> int:
    """The fewest cents that buy an amount at `rate`."""
    return _up(Fraction(amount_atomic, 10**atomic_decimals) * Fraction(rate) * CENTS)


def atomic_at_most(cents: int, rate: Decimal, atomic_decimals: int) -> int:
    """Atomic units for cents at `rate`, rounded down."""
    bought: int = (Fraction(cents, CENTS) / Fraction(rate) * 10**atomic_decimals).__floor__()
    return bought


def gross_up_cents(cents: int, fee_bps: Bps) -> int:
    """The charge that leaves `cents` after a fee in basis points, rounded up."""
    return -(-cents * BASIS_POINTS // (BASIS_POINTS - fee_bps))


def with_bps(amount: int, more_bps: Bps) -> int:
    """An amount and so many basis points of it on top, rounded up."""
    return -(-amount * (BASIS_POINTS + more_bps) // BASIS_POINTS)


def gross_up(
    base_atomic: int, fee_fraction: Decimal, atomic_decimals: int, display_decimals: int
) -> int:
    """The total that leaves `base_atomic` after the fee is taken: base / (1 - fee), rounded up to
    the display precision."""
    step: int = 10 ** (atomic_decimals - display_decimals)
    exact = Fraction(base_atomic) / (1 - Fraction(fee_fraction)) / step
    return _up(exact) * step


def part_of(amount_atomic: int, part: Fraction, atomic_decimals: int, display_decimals: int) -> int:
    """A part of an amount that a customer is asked for, rounded up to the display precision."""
    step: int = 10 ** (atomic_decimals - display_decimals)
    return _up(amount_atomic * part / step) * step


def fee_of(amount_atomic: int, fee_fraction: Decimal) -> int:
    """A fee on an amount, rounded down to the atomic unit."""
    fee = Fraction(amount_atomic) * Fraction(fee_fraction)
    return fee.numerator // fee.denominator


def split(
    gross_atomic: int, service_fee_fraction: Decimal, platform_fee_fraction: Decimal
) -> tuple[int, int, int]:
    """(service fee, platform fee, net): each fee rounded down, the merchant has the rest."""
    service = fee_of(gross_atomic, service_fee_fraction)
    platform = fee_of(gross_atomic, platform_fee_fraction)
    return service, platform, gross_atomic - service - platform


def share(amount_atomic: int, part_bps: Bps) -> int:
    """`part_bps` basis points of an amount, rounded down."""
    return amount_atomic * part_bps // BASIS_POINTS


def atomic_from_decimal(text: str, atomic_decimals: int) -> int | None:
    """`0.5` coins -> atomic units; None when the text has more places than the asset."""
    whole, _, places = text.partition(".")
    if len(places) > atomic_decimals:
        return None
    return int((whole or "0") + places.ljust(atomic_decimals, "0"))


def atomic_from_coins(text: str, atomic_decimals: int) -> int | None:
    """Atomic units of a typed amount; None also for what is no number."""
    return atomic_from_decimal(text, atomic_decimals) if is_coins(text) else None


def is_coins(text: str) -> bool:
    """True if it is a number of coins, with a point or without."""
    whole, _, places = text.partition(".")
    return text.isascii() and (whole + places).isdigit() and len(whole + places) <= DIGITS_MAX


def decimal_from_atomic(amount_atomic: int, atomic_decimals: int, *, strip: bool = True) -> str:
    """Atomic units as a decimal text in coins, trailing zeros stripped (or all places kept)."""
    sign = "-" if amount_atomic < 0 else ""
    digits = str(abs(amount_atomic)).rjust(atomic_decimals + 1, "0")
    if not atomic_decimals:
        return sign + digits
    whole = digits[:-atomic_decimals]
    places = digits[-atomic_decimals:]
    places = places.rstrip("0") if strip else places
    return f"{sign}{whole}.{places}" if places else sign + whole


def amount_text(amount_atomic: int, atomic_decimals: int) -> str:
    """Decimal text with separators: staff compare amounts at a glance."""
    sign = MINUS if amount_atomic < 0 else ""
    whole, point, places = decimal_from_atomic(abs(amount_atomic), atomic_decimals).partition(".")
    return f"{sign}{int(whole):,}{point}{places}"


def short_from_atomic(
    amount_atomic: int, atomic_decimals: int, digits: int = 6, *, rounds_down: bool = False
) -> str:
    """Decimal text rounded to so many significant digits, for a list; digits before the point are
    all kept. What somebody may spend rounds down: the figure never exceeds it."""
    exact = Decimal(amount_atomic).scaleb(-atomic_decimals, context=WIDE)
    rounding = ROUND_FLOOR if rounds_down else ROUND_HALF_EVEN
    rounded = Context(prec=max(digits, exact.adjusted() + 1), rounding=rounding).plus(exact)
    text = format(rounded, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def short_rate(rate: Decimal) -> str:
    """A rate as people read it: two places, and more where it takes them to show four digits that
    count."""
    rounded = Context(prec=max(4, rate.adjusted() + 3), rounding=ROUND_HALF_EVEN).plus(rate)
    text = format(rounded, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def rate_text(rate: Decimal) -> str:
    """A rate with all its 18 places."""
    return format(rate.quantize(Decimal(1).scaleb(-18), context=WIDE), "f")


def read_rate(value: object) -> Decimal | None:
    """A rate in somebody else's JSON (int, Decimal or plain text); None for what is no positive,
    believable number."""
    if isinstance(value, str) and not _PLAIN_NUMBER.fullmatch(value):
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    rate = Decimal(value)
    return rate if rate.is_finite() and RATE_MIN <= rate <= RATE_MAX else None


def read_cents(value: object) -> int | None:
    """An amount of money in somebody else's JSON, half-even to the cent; None for what is no
    number, or a negative one."""
    number = _read_number(value)
    return None if number is None else round(Fraction(number) * CENTS)


def read_atomic(value: object, atomic_decimals: int) -> int | None:
    """Coins in somebody else's JSON, rounded down to the atomic unit; None for what is no number,
    or a negative one."""
    number = _read_number(value)
    return None if number is None else int((Fraction(number) * 10**atomic_decimals).__floor__())


def _read_number(value: object) -> Decimal | None:
    if isinstance(value, str) and not _PLAIN_NUMBER.fullmatch(value):
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    number = Decimal(value)
    return number if number.is_finite() and 0 <= number <= RATE_MAX else None


def rate_through(rate: Decimal, cross: Decimal) -> Decimal:
    """A coin in another currency: its rate in one, times what that one is worth in the other."""
    return WIDE.multiply(rate, cross)


def rate_inverted(cross: Decimal) -> Decimal:
    return WIDE.divide(Decimal(1), cross)


def is_rate_agreed(rate: Decimal, other: Decimal) -> bool:
    """True if two rates are the same within two percent."""
    return abs(rate - other) * 50 <= other


def moved_bps(amount: int, other: int) -> int:
    """By how much an amount differs from another one, in basis points of that one, rounded up."""
    return -(-abs(amount - other) * BASIS_POINTS // other) if other else BASIS_POINTS


def is_rate_near(rate: Decimal, other: Decimal) -> bool:
    """True if a rate lies within half of another one."""
    return abs(rate - other) * 2 <= other


def fraction_text(fraction: Decimal) -> str:
    """A decimal fraction without trailing zeros: `0.01`."""
    return format(fraction.normalize(WIDE), "f")


def points_text(fraction: Decimal) -> str:
    """A fraction as percentage points without trailing zeros: 0.015 -> `1.5`."""
    return fraction_text(fraction.scaleb(2, context=WIDE))


def percentage_text(fraction: Decimal) -> str:
    """A fraction as percentage points with at least two places: 0.01 -> `1.00`."""
    points = (fraction * 100).normalize(WIDE)
    exponent = points.as_tuple().exponent
    places = max(2, -exponent if isinstance(exponent, int) else 2)
    return format(points.quantize(Decimal(1).scaleb(-places), context=WIDE), "f")


def fraction_from_percentage(points: str) -> str | None:
    """Percentage points as the text of a fraction: `1.5` -> `0.015`. None unless they are below 100
    with at most six places."""
    if not re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,6})?", points, re.ASCII):
        return None
    return fraction_text(Decimal(points).scaleb(-2, context=WIDE))


def percentage_from_bps(bps: int) -> str:
    """Basis points as percentage points: 50 -> `0.5`."""
    return decimal_from_atomic(bps, 2)
