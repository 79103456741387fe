"""A plain model of one subscription, written from the rules and not from the code: what time and
callers make of it."""

from calendar import monthrange
from dataclasses import dataclass, field
from datetime import datetime, timedelta

DUE_DAYS = 7


@dataclass
class Bill:
    start: datetime
    due: datetime
    status: str = "open"
    is_judged: bool = False


@dataclass
class Plain:
    """`anchor` and `count` say where the running sequence of periods began and how many it has
    had."""

    interval: str
    step: int
    price_cents: int
    anchor: datetime
    status: str
    grace: int
    trial_end: datetime | None = None
    count: int = 0
    failed: int = 0
    cancel_at: datetime | None = None
    bills: list[Bill] = field(default_factory=list)

    def boundary(self, n: int) -> datetime:
        """The start of the n-th period since the anchor."""
        if self.interval in ("daily", "weekly"):
            return self.anchor + timedelta(
                days=n * self.step * (7 if self.interval == "weekly" else 1)
            )
        months = (
            self.anchor.year * 12
            + self.anchor.month
            - 1
            + n * self.step * (12 if self.interval == "yearly" else 1)
        )
        year, month = divmod(months, 12)
        return self.anchor.replace(
            year=year, month=month + 1, day=min(self.anchor.day, monthrange(year, month + 1)[1])
        )

    @property
    def next_bill(self) -> datetime | None:
        return (
            None
            if self.status in ("paused", "canceled") or self.cancel_at
            else self.boundary(self.count)
        )

    def run_to(self, now: datetime) -> None:
        """Everything that falls due up to now, in order; at one moment failures come before
        cancellations before bills."""
        while self.status != "canceled":
            late = (
                [bill.due for bill in self.bills if bill.status == "open" and not bill.is_judged]
                if self.status in ("active", "past_due")
                else []
            )
            due = [(min(late), 0)] if late else []
            due += [(self.cancel_at, 1)] if self.cancel_at else []
            due += [(self.next_bill, 2)] if self.next_bill else []
            if not due or min(due)[0] > now:
                return
            moment, what = min(due)
            if what == 0:
                self.fail(moment)
            elif what == 1:
                self.status = "canceled"
            else:
                self.bill()

    def bill(self) -> None:
        start = self.boundary(self.count)
        end = self.boundary(self.count + 1)
        self.count += 1
        if self.status == "trialing":
            self.status = "active"
        self.bills.append(
            Bill(
                start,
                start + min(timedelta(days=DUE_DAYS), end - start),
                "open" if self.price_cents else "paid",
            )
        )
        self.recover()

    def fail(self, moment: datetime) -> None:
        bill = min(
            (bill for bill in self.bills if bill.status == "open" and not bill.is_judged),
            key=lambda one: one.due,
        )
        assert bill.due == moment
        bill.is_judged = True
        self.failed += 1
        self.status = "canceled" if self.failed > self.grace else "past_due"

    def recover(self) -> None:
        if self.status in ("active", "past_due") and not self.open_bills():
            self.status = "active"
            self.failed = 0

    def open_bills(self) -> list[Bill]:
        return [bill for bill in self.bills if bill.status == "open"]

    def close(self, bill: Bill, status: str) -> None:
        bill.status = status
        if status in ("paid", "void"):
            self.recover()

    def pause(self) -> None:
        self.status = "paused"

    def resume(self, now: datetime) -> None:
        """`now` is when the new period began."""
        self.status = "active"
        self.failed = 0
        self.anchor = now
        self.count = 0
        for open_bill in self.open_bills():
            open_bill.is_judged = open_bill.is_judged or open_bill.due <= now
        had_end = self.cancel_at is not None
        self.cancel_at = None
        self.bill()
        if had_end:
            self.cancel_at = self.boundary(self.count)

    def schedule_end(self) -> None:
        self.cancel_at = self.trial_end if self.status == "trialing" else self.boundary(self.count)
