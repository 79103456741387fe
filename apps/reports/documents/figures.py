"""Worth of a range of entries at the rates they were booked with, by currency and kind of
movement."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.reports.labels import kind_label
from apps.reports.selectors import ReportLine


@dataclass
class ValueSum:
    """All entries of a kind in a currency: what came in and what went out, in cents; those without
    a rate are only counted."""

    currency: str
    kind: str
    entries: int = 0
    unpriced: int = 0
    in_cents: int = 0
    out_cents: int = 0

    @property
    def net_cents(self) -> int:
        return self.in_cents - self.out_cents

    @property
    def label(self) -> str:
        return kind_label(self.kind)


@dataclass
class Values:
    """Adds up entries as they pass."""

    by_kind: dict[tuple[str, str], ValueSum] = field(default_factory=dict)
    lines: int = 0

    def add(self, line: ReportLine) -> None:
        self.lines += 1
        total = self.by_kind.setdefault(
            (line.currency, line.kind), ValueSum(line.currency, line.kind)
        )
        total.entries += 1
        if line.value_cents is None:
            total.unpriced += 1
        elif line.value_cents >= 0:
            total.in_cents += line.value_cents
        else:
            total.out_cents -= line.value_cents

    def sums(self) -> list[ValueSum]:
        return [self.by_kind[key] for key in sorted(self.by_kind)]

    def by_currency(self) -> Iterator[tuple[str, list[ValueSum], ValueSum]]:
        """Each currency with its kinds and what they come to; what only moves between accounts is
        in and out, so only the net is known."""
        for currency in sorted({currency for currency, _ in self.by_kind}):
            sums = [total for total in self.sums() if total.currency == currency]
            total = ValueSum(currency, "")
            for part in sums:
                total.entries += part.entries
                total.unpriced += part.unpriced
                total.in_cents += part.in_cents
                total.out_cents += part.out_cents
            yield currency, sums, total
