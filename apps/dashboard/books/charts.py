"""A line chart of sums per day as SVG coordinates: the template draws it, no style and no script
needed.

The plot is stretched to its frame, so that lines keep their width and words their size at any
width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import zip_longest

SIDE = 1000  # of the plot's own square
CENT_STEPS = (1, 2, 5, 10, 25, 50)
STEPS = (100, 200, 250, 500)  # times a power of ten cents
LABELS_MAX = 7
ROOM = 0.7  # of the distance between two labels, before the last one


@dataclass(frozen=True)
class Tick:
    """A label below the plot. `at` is a percentage; `anchor` is SVG's, so that none sticks out."""

    day: date
    at: str
    anchor: str
    is_at_length: bool


@dataclass(frozen=True)
class Bar:
    """A day: its strip of the plot, which tells its sums, and its line of the table."""

    day: date
    cents: int
    day_before: date | None
    cents_before: int
    start: int
    width: int


@dataclass(frozen=True)
class Chart:
    """`levels_cents` are the labels beside the plot, from the top, with cents where `has_cents`;
    `partial` leads to today, which isn't over; `before` is empty where there is nothing to compare
    with."""

    levels_cents: list[int]
    has_cents: bool
    ticks: list[Tick]
    area: str
    line: str
    partial: str
    before: str
    bars: list[Bar]
    end_y: int


def line_chart(
    first: date,
    now: Sequence[int],
    first_before: date,
    before: Sequence[int],
    *,
    unit_cents: int,
) -> Chart:
    """Sums of a range whose last day is today, beside those of the range before, which may be
    shorter. `unit_cents` is the smallest amount of their currency."""
    step = _step(max(*now, *before, 0), unit_cents)
    top = 4 * step
    last = len(now) - 1
    points = [(_x(place, last), _y(cents, top)) for place, cents in enumerate(now)]
    earlier = [(_x(place, last), _y(cents, top)) for place, cents in enumerate(before)]
    ground = [(points[-2][0], SIDE), (0, SIDE)]
    return Chart(
        levels_cents=[step * number for number in range(4, -1, -1)],
        has_cents=step in CENT_STEPS,
        ticks=_ticks(first, last),
        area=_path([*points[:-1], *ground]),
        line=_path(points[:-1]),
        partial=_path(points[-2:]),
        before=_path(earlier) if any(before) else "",
        bars=_bars(first, now, first_before, before),
        end_y=points[-1][1],
    )


def _step(most_cents: int, unit_cents: int) -> int:
    """A fourth of the axis: the smallest round sum that holds the largest one."""
    for step in CENT_STEPS:
        if 4 * step >= most_cents and step >= unit_cents:
            return step
    scale = 1
    while True:
        for step in STEPS:
            if 4 * step * scale >= most_cents and (step != 250 or scale > 1):
                return step * scale
        scale *= 10


def _x(place: int, last: int) -> int:
    return place * SIDE // last


def _y(cents: int, top: int) -> int:
    return SIDE - cents * SIDE // top


def _path(points: Sequence[tuple[int, int]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _ticks(first: date, last: int) -> list[Tick]:
    every = -(-last // (LABELS_MAX - 1))
    # The last label is today's: one that would run into it is left out.
    places = [place for place in range(0, last, every) if last - place >= ROOM * every] + [last]
    # A phone has room for both ends and what is nearest to the middle.
    labeled = {0, last, min(places, key=lambda place: abs(2 * place - last))}
    return [_tick(first, place, last, is_at_length=place not in labeled) for place in places]


def _tick(first: date, place: int, last: int, *, is_at_length: bool) -> Tick:
    anchor = "start" if place == 0 else "end" if place == last else "middle"
    return Tick(first + timedelta(days=place), f"{place * 100 / last:.2f}%", anchor, is_at_length)


def _bars(first: date, now: Sequence[int], first_before: date, before: Sequence[int]) -> list[Bar]:
    last = len(now) - 1
    rows = list(zip_longest(now, before[: len(now)]))
    return [
        _bar(place, last, first, cents, first_before, earlier)
        for place, (cents, earlier) in enumerate(rows)
    ]


def _bar(
    place: int, last: int, first: date, cents: int, first_before: date, earlier: int | None
) -> Bar:
    start = max(0, (2 * place - 1) * SIDE // (2 * last))
    right = min(SIDE, (2 * place + 1) * SIDE // (2 * last))
    day = timedelta(days=place)
    return Bar(
        first + day,
        cents,
        None if earlier is None else first_before + day,
        earlier or 0,
        start,
        right - start,
    )
