"""The only Decimal arithmetic. What a customer must pay rounds up, fees round down, worth rounds half-even to the cent.

Atomic amounts and cents are ints; a rate is fiat per coin with 18 places.
"""

import re
from decimal import Context, Decimal
from fractions import Fraction

WIDE = Context(prec=120)
CENTS = 100
BASIS_POINTS = 10_000
DIGITS_MAX = 59
RATE_MIN, RATE_MAX = Decimal(10) ** -12, Decimal(10) ** 12
_PLAIN_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)


def cents_from_text(amount: str) -> int:
    """`12.5` -> 1250. The text has been checked to hold at most two places."""
    whole, _, places = amount.partition(".")
    return int(whole) * CENTS + int(places.ljust(2, "0") or 0)


def text_from_cents(cents: int) -> str:
    """1250 -> `12.50`; always two places."""
    sign, size = ("-" if cents < 0 else ""), abs(cents)
    return f"{sign}{size // CENTS}.{size % CENTS:02d}"


def _up(exact: Fraction) -> int:
    return -((-exact.numerator) // exact.denominator)


def atomic_for_cents(cents: int, rate: Decimal, atomic_decimals: int, display_decimals: int) -> int:
    """Coins that are worth `cents` at `rate`, rounded up to the display precision, in atomic units."""
    coins = Fraction(cents, CENTS) / Fraction(rate)
    step: int = 10 ** (atomic_decimals - display_decimals)
    exact = coins * 10**atomic_decimals / step
    return _up(exact) * step


def atomic_at_least(cents: int, rate: Decimal, atomic_decimals: int) -> int:
    """The fewest atomic units that are worth `cents` at `rate`."""
    exact = Fraction(cents, CENTS) / Fraction(rate) * 10**atomic_decimals
    return _up(exact)


def cents_for_atomic(amount_atomic: int, rate: Decimal, atomic_decimals: int) -> int:
    """What atomic units are worth at `rate`, half-even to the cent."""
    exact = Fraction(amount_atomic, 10**atomic_decimals) * Fraction(rate) * CENTS
    return round(exact)


def cents_at_least(amount_atomic: int, rate: Decimal, atomic_decimals: int) -> int:
    """The fewest cents that buy an amount at `rate`."""
    return _up(Fraction(amount_atomic, 10**atomic_decimals) * Fraction(rate) * CENTS)


def atomic_at_most(cents: int, rate: Decimal, atomic_decimals: int) -> int:
    """What cents buy at `rate`, rounded down to the atomic unit."""
    bought: int = (Fraction(cents, CENTS) / Fraction(rate) * 10**atomic_decimals).__floor__()
    return bought


def gross_up_cents(cents: int, fee_bps: int) -> int:
    """The charge that leaves `cents` after a fee in basis points, rounded up."""
    return -(-cents * BASIS_POINTS // (BASIS_POINTS - fee_bps))


def with_bps(amount: int, more_bps: int) -> int:
    """An amount and so many basis points of it on top, rounded up."""
    return -(-amount * (BASIS_POINTS + more_bps) // BASIS_POINTS)


def exchanged(sell_atomic: int, sell_rate: Decimal, sell_decimals: int, buy_rate: Decimal, buy_decimals: int, spread_bps: int) -> int:
    """What an amount buys of another asset at two rates in one currency, less a spread; rounded down to the atomic unit."""
    worth = Fraction(sell_atomic, 10**sell_decimals) * Fraction(sell_rate) * (BASIS_POINTS - spread_bps) / BASIS_POINTS
    bought: int = (worth / Fraction(buy_rate) * 10**buy_decimals).__floor__()
    return bought


def after_slippage(amount_atomic: int, slippage_bps: int) -> int:
    """The least of an estimate that is still taken, rounded down."""
    return amount_atomic * (BASIS_POINTS - slippage_bps) // BASIS_POINTS


def gross_up(base_atomic: int, fee_fraction: Decimal, atomic_decimals: int, display_decimals: int) -> int:
    """The total that leaves `base_atomic` after the fee is taken: base / (1 - fee), rounded up to the display precision."""
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


def split(gross_atomic: int, service_fee_fraction: Decimal, platform_fee_fraction: Decimal) -> tuple[int, int, int]:
    """(service fee, platform fee, net): each fee rounded down, the merchant has the rest."""
    service, platform = fee_of(gross_atomic, service_fee_fraction), fee_of(gross_atomic, platform_fee_fraction)
    return service, platform, gross_atomic - service - platform


def share(amount_atomic: int, part_bps: int) -> int:
    """`part_bps` basis points of an amount, rounded down."""
    return amount_atomic * part_bps // BASIS_POINTS


def atomic_from_decimal(text: str, atomic_decimals: int) -> int | None:
    """`0.5` coins -> atomic units; None when the text has more places than the asset."""
    whole, _, places = text.partition(".")
    if len(places) > atomic_decimals:
        return None
    return int((whole or "0") + places.ljust(atomic_decimals, "0"))


def atomic_from_coins(text: str, atomic_decimals: int) -> int | None:
    """The same of what somebody typed; None also for what is no number."""
    return atomic_from_decimal(text, atomic_decimals) if is_coins(text) else None


def is_coins(text: str) -> bool:
    """Whether it is a number of coins, with a point or without."""
    whole, _, places = text.partition(".")
    return text.isascii() and (whole + places).isdigit() and len(whole + places) <= DIGITS_MAX


def decimal_from_atomic(amount_atomic: int, atomic_decimals: int, *, strip: bool = True) -> str:
    """Atomic units as a decimal text in coins, trailing zeros stripped (or all places kept)."""
    sign, digits = ("-" if amount_atomic < 0 else ""), str(abs(amount_atomic)).rjust(atomic_decimals + 1, "0")
    if not atomic_decimals:
        return sign + digits
    whole, places = digits[:-atomic_decimals], digits[-atomic_decimals:]
    places = places.rstrip("0") if strip else places
    return f"{sign}{whole}.{places}" if places else sign + whole


def rate_text(rate: Decimal) -> str:
    """A rate with all its 18 places."""
    return format(rate.quantize(Decimal(1).scaleb(-18), context=WIDE), "f")


def rate_told(value: object) -> Decimal | None:
    """A rate in somebody else's JSON (int, Decimal or plain text); None for what is no positive, believable number."""
    if isinstance(value, str) and not _PLAIN_NUMBER.fullmatch(value):
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    rate = Decimal(value)
    return rate if rate.is_finite() and RATE_MIN <= rate <= RATE_MAX else None


def cents_told(value: object) -> int | None:
    """An amount of money in somebody else's JSON, half-even to the cent; None for what is no number, or a negative one."""
    number = _told(value)
    return None if number is None else round(Fraction(number) * CENTS)


def atomic_told(value: object, atomic_decimals: int) -> int | None:
    """Coins in somebody else's JSON, rounded down to the atomic unit; None for what is no number, or a negative one."""
    number = _told(value)
    return None if number is None else int((Fraction(number) * 10**atomic_decimals).__floor__())


def _told(value: object) -> Decimal | None:
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
    """Whether two rates are the same within two percent."""
    return abs(rate - other) * 50 <= other


def moved_bps(amount: int, other: int) -> int:
    """By how much an amount differs from another one, in basis points of that one, rounded up."""
    return -(-abs(amount - other) * BASIS_POINTS // other) if other else BASIS_POINTS


def is_rate_near(rate: Decimal, other: Decimal) -> bool:
    """Whether a rate lies within half of another one."""
    return abs(rate - other) * 2 <= other


def fraction_text(fraction: Decimal) -> str:
    """A decimal fraction without trailing zeros: `0.01`."""
    return format(fraction.normalize(WIDE), "f")


def percentage_text(fraction: Decimal) -> str:
    """A fraction as percentage points with at least two places: 0.01 -> `1.00`."""
    points = (fraction * 100).normalize(WIDE)
    exponent = points.as_tuple().exponent
    places = max(2, -exponent if isinstance(exponent, int) else 2)
    return format(points.quantize(Decimal(1).scaleb(-places), context=WIDE), "f")


def percentage_from_bps(bps: int) -> str:
    """Basis points as percentage points: 50 -> `0.5`."""
    return decimal_from_atomic(bps, 2)
