"""Random subscriptions under the test clock, with payments, failures, pauses, cancellations and
jobs that run twice, against a plain model.

TILLGATE_STORY="200 730" runs the long story: two years of 200 subscriptions.
"""

import os
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from apps.billing.invoices import payment_intents
from apps.billing.subscriptions import cycle
from apps.core.clock import iso
from tests import auditing
from tests.billing import records as r
from tests.billing.plain import Plain
from tests.cast import Api, Shop
from tests.whole import usually

USUAL = usually(short="6 33", whole="12 100")
SUBSCRIPTIONS, DAYS = (int(part) for part in os.environ.get("TILLGATE_STORY", USUAL).split())
CYCLES = [
    ("daily", 5),
    ("weekly", 1),
    ("weekly", 2),
    ("monthly", 1),
    ("monthly", 1),
    ("monthly", 3),
    ("yearly", 1),
]


def when(text: str) -> datetime:
    return datetime.fromisoformat(text)


class Story:
    """Every action is done to the service and to the model; then both must tell the same."""

    def __init__(self, api: Api, seed: int) -> None:
        self.api = api
        self.chance = random.Random(seed)
        self.now = when(r.ok(api.get("/test_clock"))["now"])
        self.pairs: dict[str, Plain] = {}
        self.statuses: set[str] = set()  # every one that a comparison met
        self.prices: dict[tuple[str, int, int], str] = {}

    def begin(self) -> None:
        interval, step = self.chance.choice(CYCLES)
        cents = self.chance.choice([0, 1000, 1000])
        trial = self.chance.choice([0, 0, 3, 14])
        price = self.prices.get((interval, step, cents)) or r.price(
            self.api, interval=interval, interval_count=step, unit_amount_cents=cents
        )["id"]  # fmt: skip
        self.prices[interval, step, cents] = price
        grace = self.chance.choice([0, 1, 1, 3])
        made = r.subscribe(self.api, price_id=price, trial_period_days=trial, grace_cycles=grace)
        started = when(made["started_at"])
        trial_end = started + timedelta(days=trial) if trial else None
        plain = Plain(
            interval,
            step,
            cents,
            trial_end or started,
            "trialing" if trial else "active",
            grace,
            trial_end,
        )
        if not trial:
            plain.bill()
        self.pairs[made["id"]] = plain

    def pass_time(self) -> None:
        self.now += timedelta(seconds=self.chance.randrange(3600, 12 * 86_400))
        answer = self.api.post("/test_clock/advance", {"to": iso(self.now)})
        self.now = when(r.ok(answer)["now"])
        if self.chance.random() < 0.3:  # the periodic jobs run beside the clock, and twice
            for job in (cycle.run_cycles, payment_intents.update_paid_amounts, cycle.run_cycles):
                job()
        for plain in self.pairs.values():
            plain.run_to(self.now)

    def act(self) -> None:
        id = self.chance.choice(list(self.pairs))  # ids are random, the order of making isn't
        plain = self.pairs[id]
        actions: list[Callable[[str, Plain], None]] = [self.close, self.close, self.close]
        if plain.status == "active":
            actions += [self.pause]
        if plain.status == "paused":
            actions += [self.resume, self.resume]
        if plain.status in ("active", "trialing") and not plain.cancel_at:
            actions += [self.schedule_end]
        if plain.cancel_at and plain.status != "canceled":
            actions += [self.clear_end]
        if plain.status != "canceled" and self.chance.random() < 0.05:
            actions = [self.cancel]
        self.chance.choice(actions)(id, plain)
        self.compare(id)

    def close(self, id: str, plain: Plain) -> None:
        """Pay, void or write off the oldest open invoice, or pay them all."""
        how = self.chance.choice(["paid", "paid", "all", "all", "void", "uncollectible"])
        for bill in plain.open_bills()[: None if how == "all" else 1]:
            record = next(
                item
                for item in r.invoices_of(self.api, id)
                if when(item["period_key"].partition(":")[2]) == bill.start
            )
            if how in ("paid", "all"):
                r.pay(self.api, record)
            else:
                r.ok(
                    r.act(self.api, record["id"], "void" if how == "void" else "mark_uncollectible")
                )
            plain.close(bill, "paid" if how == "all" else how)

    def pause(self, id: str, plain: Plain) -> None:
        r.ok(r.change(self.api, id, "pause"))
        plain.pause()

    def resume(self, id: str, plain: Plain) -> None:
        plain.resume(when(r.ok(r.change(self.api, id, "resume"))["current_period_start"]))

    def schedule_end(self, id: str, plain: Plain) -> None:
        r.ok(r.change(self.api, id, "cancel", at_period_end=True))
        plain.schedule_end()

    def clear_end(self, id: str, plain: Plain) -> None:
        r.ok(r.change(self.api, id, "uncancel"))
        plain.cancel_at = None

    def cancel(self, id: str, plain: Plain) -> None:
        r.ok(r.change(self.api, id, "cancel"))
        plain.status = "canceled"

    def compare(self, id: str) -> None:
        now = r.subscription(self.api, id)
        plain = self.pairs[id]
        told: list[Any] = [now["status"], now["failed_cycle_count"]]
        assert told == [plain.status, plain.failed], (id, plain)
        self.statuses.add(plain.status)
        bills = []
        for page in range(1, 20):
            rows = r.ok(
                self.api.get(f"/billing/invoices?subscription_id={id}&per_page=100&page={page}")
            )["data"]
            bills += [(row["period_key"].partition(":")[2], row["status"]) for row in rows]
            if len(rows) < 100:
                break
        assert sorted(bills) == sorted((iso(bill.start), bill.status) for bill in plain.bills), (
            id,
            plain,
        )
        if plain.status in ("active", "past_due"):
            assert when(now["current_period_end"]) == plain.boundary(plain.count), (id, plain)


def test_the_service_and_a_plain_model_tell_the_same_story(bakery: Shop, settings: Any) -> None:
    settings.LIMITS = {
        name: dict.fromkeys(rows, (10**6, 10**6)) for name, rows in settings.LIMITS.items()
    }
    story = Story(bakery.test, seed=20261122)
    for _ in range(SUBSCRIPTIONS):
        story.begin()
    last = story.now + timedelta(days=DAYS)
    while story.now < last:
        story.pass_time()
        for _ in range(max(2, SUBSCRIPTIONS // 12)):
            story.act()
    for id in story.pairs:
        story.compare(id)
    assert auditing.breaches() == []
    assert story.statuses == {"trialing", "active", "past_due", "paused", "canceled"}
