"""Any sequence of movements, against books kept in a plain dict."""

import uuid
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.core import money
from apps.ledger import checkpoints, movements
from apps.ledger.posting import InsufficientBalance
from apps.ledger.selectors import balances
from apps.stores.models import User
from apps.stores.requests import StoreRequest
from apps.stores.services import create_store
from tests.ledger.books import Books

AMOUNTS = st.integers(1, 10**30) | st.integers(1, 20)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["deposit", "settle", "refund", "confirm", "release", "correct", "checkpoint", "repeat"]
        ),
        AMOUNTS,
        st.booleans(),
    ),
    min_size=3,
    max_size=25,
)


class Model:
    """A ledger as a person with a notebook would write it. A guarded figure that would go below
    zero is refused as a whole."""

    GUARDED = (
        "available",
        "held",
        "held for one payment",
        "held for another",
        "reserved",
        "platform",
    )

    def __init__(self) -> None:
        self.figures: Counter[str] = Counter()

    def take(self, **changes: int) -> bool:
        after = Counter(self.figures)
        for name, amount in changes.items():
            after[name] += amount
        if any(after[name] < 0 for name in self.GUARDED):
            return False
        self.figures = after
        return True


class Keeper:
    """Does each step in both books and compares whether it was taken."""

    def __init__(self, books: Books, staff: User) -> None:
        self.books = books
        self.staff = staff
        self.model = Model()
        self.payments = {
            True: (uuid.uuid4(), "held for one payment"),
            False: (uuid.uuid4(), "held for another"),
        }
        self.open_refunds: list[tuple[dict[str, Any], bool]] = []
        self.last: Callable[[], object] | None = None

    def step(self, name: str, amount: int, flag: bool) -> None:
        act = getattr(self, f"do_{name}")(amount, flag)
        if act is not None:
            call, changes = act
            self.last = call
            assert _is_taken(call) == self.model.take(**changes)

    def do_deposit(self, amount: int, flag: bool) -> Any:
        payment, its = self.payments[amount % 2 == 0]
        options = {
            **self.books.of_store,
            "deposit_id": uuid.uuid4(),
            "payment_id": payment,
            "amount_atomic": amount,
            "is_simulated": flag,
        }
        custody = "custody_simulated" if flag else "custody_deposits"
        return lambda: movements.deposit_confirmed(**options), {
            custody: -amount,
            "held": amount,
            its: amount,
        }

    def do_settle(self, amount: int, flag: bool) -> Any:
        service, platform, net = money.split(amount, _fraction(flag), _fraction(not flag))
        options = {
            "gross_atomic": amount,
            "service_fee_atomic": service,
            "platform_fee_atomic": platform,
        }
        payment, its = self.payments[flag]
        options |= {
            **self.books.of_store,
            "payment_id": payment,
            "platform_id": self.books.platform.pk,
            "deposit_id": uuid.uuid4(),
        }
        changes = {
            "held": -amount,
            its: -amount,
            "available": net,
            "service_fees": service,
            "platform": platform,
        }
        return lambda: movements.overpayment_settled(**options), changes

    def do_refund(self, amount: int, flag: bool) -> Any:
        payment, its = self.payments[amount % 2 == 0]
        options = {
            **self.books.of_store,
            "payment_id": payment,
            "refund_id": uuid.uuid4(),
            "amount_atomic": amount,
        }
        source = {"held": -amount, its: -amount} if flag else {"available": -amount}
        if all(self.model.figures[name] >= amount for name in source):
            self.open_refunds.append((options, flag))
        return lambda: movements.refund_created(**options, is_from_held=flag), {
            **source,
            "reserved": amount,
        }

    def do_confirm(self, amount: int, flag: bool) -> Any:
        if not self.open_refunds:
            return None
        options, _ = self.open_refunds.pop()
        size = options["amount_atomic"]
        confirm = {**options, "gas_asset_id": "ETH", "gas_atomic": amount, "is_simulated": False}
        changes = {"reserved": -size, "custody_hot": size, "gas": -amount}
        return lambda: movements.refund_confirmed(**confirm), changes

    def do_release(self, amount: int, flag: bool) -> Any:
        if not self.open_refunds:
            return None
        options, is_held = self.open_refunds.pop()
        size = options["amount_atomic"]
        back = (
            {"held": size, self.payments[size % 2 == 0][1]: size}
            if is_held
            else {"available": size}
        )
        changes = {"reserved": -size, **back}
        return lambda: movements.refund_released(**options, is_to_held=is_held), changes

    def do_correct(self, amount: int, flag: bool) -> Any:
        size = amount if flag else -amount
        options = {
            "key": str(uuid.uuid4()),
            "kind": "available",
            "amount_atomic": size,
            "reason": "a test",
            "staff_id": self.staff.pk,
        }
        return lambda: movements.correction(**self.books.of_store, **options), {
            "available": size,
            "treasury": -size,
        }

    def do_checkpoint(self, amount: int, flag: bool) -> Any:
        checkpoints.fold_long_tails(tail_max=0)

    def do_repeat(self, amount: int, flag: bool) -> Any:
        """A request that was taken once changes nothing when it is sent again; one that was refused
        is refused again."""
        if self.last is not None:
            before = self.seen()
            _is_taken(self.last)
            assert self.seen() == before

    def seen(self) -> dict[str, int]:
        found = balances(self.books.store.pk, "live").get("ETH_USDC")
        kinds = ("available", "held", "reserved")
        figures = {kind: getattr(found, f"{kind}_atomic") if found else 0 for kind in kinds}
        service = (
            "custody_deposits",
            "custody_simulated",
            "custody_hot",
            "service_fees",
            "treasury",
        )
        figures |= {kind: self.books.balance(kind) for kind in service}
        return {
            **figures,
            "platform": self.books.platform_available,
            "gas": self.books.balance("network_fees", "ETH"),
        }


def _fraction(flag: bool) -> Decimal:
    return Decimal("0.0123") if flag else Decimal("0.3")


def _is_taken(call: Any) -> bool:
    try:
        with transaction.atomic():
            call()
    except InsufficientBalance:
        return False
    return True


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_every_sequence_of_movements_keeps_the_books_that_a_person_would_keep(
    books: Books, steps: list[tuple[str, int, bool]]
) -> None:
    staff = User.objects.get(memberships__store=books.store)
    with transaction.atomic():
        fresh = Books(
            *(
                create_store(staff, StoreRequest(name=name, settlement_currency="EUR"))
                for name in ("A bakery", "A platform")
            )
        )
        keeper = Keeper(fresh, staff)
        before = keeper.seen()
        for step in steps:
            keeper.step(*step)
        after = keeper.seen()
        assert {name: after[name] - before[name] for name in after} == {
            name: keeper.model.figures[name] for name in after
        }
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT sum(ledger_balance(id)) FROM ledger_account GROUP BY mode, asset_id"
            )
            assert {row[0] for row in cursor.fetchall()} <= {0}
        transaction.set_rollback(True)
