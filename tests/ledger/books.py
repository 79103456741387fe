"""A small world to keep books for: one store, one platform, one coin, and short names for what the
tests say."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from apps.ledger import chart, movements, posting
from apps.ledger.selectors import account_balance
from apps.stores.models import Store
from apps.stores.requests import StoreRequest
from apps.stores.services import create_store
from tests.cast import person

COIN = "ETH_USDC"
NATIVE = "ETH"
AT = datetime(2026, 11, 2, 12, tzinfo=UTC)


@dataclass
class Books:
    """Alice's Bakery and the platform it sells through."""

    store: Store
    platform: Store
    mode: str = "live"
    deposits: list[uuid.UUID] = field(default_factory=list)

    @property
    def of_store(self) -> dict[str, Any]:
        return {"store_id": self.store.pk, "mode": self.mode, "asset_id": COIN, "at": AT}

    def balance(self, kind: str, asset_id: str = COIN) -> int:
        """A store kind's balance is the bakery's, any other the service's."""
        owner = self.store.pk if kind in chart.STORE_KINDS else None
        return account_balance(owner, self.mode, asset_id, kind)

    def balances(self, *kinds: str) -> list[int]:
        return [self.balance(kind) for kind in kinds]

    @property
    def platform_available(self) -> int:
        return account_balance(self.platform.pk, self.mode, COIN, "available")

    def deposit(
        self, amount: int, payment_id: uuid.UUID | None = None, **options: Any
    ) -> uuid.UUID:
        deposit_id = uuid.uuid4()
        wanted = {"is_simulated": False, **options}
        payment_id = payment_id or uuid.uuid4()
        movements.deposit_confirmed(
            **self.of_store,
            deposit_id=deposit_id,
            payment_id=payment_id,
            amount_atomic=amount,
            **wanted,
        )
        return deposit_id

    def settle(
        self, payment_id: uuid.UUID, gross: int, fee: int = 0, platform_fee: int = 0
    ) -> posting.Posted:
        return movements.payment_settled(
            **self.of_store,
            payment_id=payment_id,
            gross_atomic=gross,
            service_fee_atomic=fee,
            platform_fee_atomic=platform_fee,
            platform_id=self.platform.pk if platform_fee else None,
        )

    def earn(self, amount: int) -> uuid.UUID:
        """A payment of `amount`, settled without fees."""
        payment_id = uuid.uuid4()
        self.deposit(amount, payment_id)
        self.settle(payment_id, amount)
        return payment_id

    def refund(
        self, payment_id: uuid.UUID, amount: int, *, is_from_held: bool = False
    ) -> uuid.UUID:
        refund_id = uuid.uuid4()
        movements.refund_created(
            **self.of_store,
            payment_id=payment_id,
            refund_id=refund_id,
            amount_atomic=amount,
            is_from_held=is_from_held,
        )
        return refund_id

    def confirm_refund(
        self, payment_id: uuid.UUID, refund_id: uuid.UUID, amount: int, gas: int = 0
    ) -> posting.Posted:
        return movements.refund_confirmed(
            **self.of_store,
            payment_id=payment_id,
            refund_id=refund_id,
            amount_atomic=amount,
            gas_asset_id=NATIVE,
            gas_atomic=gas,
            is_simulated=False,
        )


def open_books(mode: str = "live") -> Books:
    alice = person("alice")
    bakery, platform = (
        StoreRequest(name=name, settlement_currency="EUR")
        for name in ("Alice's Bakery", "The Platform")
    )
    return Books(create_store(alice, bakery), create_store(alice, platform), mode)


def committed_books() -> Iterator[Books]:
    """Books whose rows are committed, for threads; what was written is taken out again, which only
    a superuser can."""
    tables = ("ledger_entry", "ledger_movement", "ledger_account")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT " + ", ".join(f"(SELECT coalesce(max(id), 0) FROM {table})" for table in tables)
        )
        last = cursor.fetchone()
    books = open_books()
    yield books
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for table, last_id in zip(tables, last, strict=True):
            cursor.execute(f"DELETE FROM {table} WHERE id > %s", [last_id])
        for store in (books.store, books.platform):
            cursor.execute("DELETE FROM assets_acceptedasset WHERE store_id = %s", [store.pk])
            cursor.execute("DELETE FROM stores_member WHERE store_id = %s", [store.pk])
            cursor.execute("DELETE FROM stores_store WHERE id = %s", [store.pk])
        cursor.execute("SET session_replication_role = origin")
