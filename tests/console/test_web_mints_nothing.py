"""Somebody who posts to the books as the web's role: coins of a store can be set aside and given
back, and settled as far as a chain has brought them, and that is all."""

import uuid
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.assets.models import Asset
from apps.audit.grants import WEB
from apps.chain.models import OutgoingTransaction
from apps.core import clock
from apps.core.db import tenancy
from apps.ledger import keys
from apps.ledger.chart import (
    AVAILABLE,
    CUSTODY_DEPOSITS,
    CUSTODY_HOT,
    CUSTODY_SIMULATED,
    HELD,
    NETWORK_FEES,
    OFFRAMP_CLEARING,
    RESERVED,
    SERVICE_FEES,
    SWAP_CLEARING,
    TREASURY,
    WITHDRAWAL_CLEARING,
    X402_CLEARING,
)
from apps.ledger.posting import (
    EntryLine,
    InsufficientBalance,
    Posting,
    account_id,
    post,
    post_many,
)
from apps.ledger.selectors import account_balance
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.corrections import Correction, request_correction
from apps.stores.models import StaffRequest
from tests import make
from tests.cast import Cast, Shop
from tests.chain.test_signer_believes_nobody import deposit_in_a_block
from tests.roles import acting_as

ETHER = 10**18


@dataclass
class Books:
    """Of a live store with ten ether, and a payment of its own."""

    shop: Shop
    other: Shop
    payment: Payment

    def legs(self, source: str, target: str, amount: int = ETHER) -> list[EntryLine]:
        return [self.leg(source, -amount), self.leg(target, amount)]

    def leg(self, kind: str, amount: int, shop: Shop | None = None) -> EntryLine:
        return EntryLine(kind, "ETH", amount, "principal", (shop or self.shop).store.pk)

    def post(
        self,
        kind: str,
        key: str,
        legs: list[EntryLine],
        *,
        reference: uuid.UUID | None = None,
        mode: str = "live",
        staff_id: uuid.UUID | None = None,
    ) -> None:
        """As the web's role, of whichever store."""
        with acting_as(WEB), tenancy.everyone("an attack"), transaction.atomic():
            at = clock.real_now()
            post(Posting(key, kind, mode, reference, at, legs, "an attack", staff_id))

    def refused(self, kind: str, key: str, legs: list[EntryLine], **options: object) -> None:
        before = self.available
        with pytest.raises(DatabaseError, match=f"permission denied for movement {key}"):
            self.post(kind, key, legs, **options)  # type: ignore[arg-type]
        assert self.available == before

    def account(self, kind: str) -> int:
        return account_id(*self.leg(kind, 0).account("live"))

    def post_as_worker(self, key: str) -> int:
        """The movement's id."""
        with acting_as("tillgate_worker"), transaction.atomic():
            at, legs = clock.real_now(), self.legs(AVAILABLE, RESERVED)
            return post(Posting(key, "of_a_test", "live", self.payment.pk, at, legs)).movement_id

    @property
    def available(self) -> int:
        return account_balance(self.shop.store.pk, "live", "ETH", AVAILABLE)


@pytest.fixture
def books(cast: Cast) -> Books:
    payment = make.payment(cast.bakery.live)
    for shop in (cast.bakery, cast.strangers):
        make.store_coins(shop.store, "ETH", 10 * ETHER)
    return Books(cast.bakery, cast.strangers, Payment.objects.get(pk=payment["id"]))


# The worker's and the watcher's, by the first part of their keys.
OTHERS = {
    "payout_confirmed": ("payout-confirmed", RESERVED, CUSTODY_HOT),
    "payout_handed_over": ("payout-handed-over", RESERVED, OFFRAMP_CLEARING),
    "payout_settled": ("payout-settled", OFFRAMP_CLEARING, CUSTODY_HOT),
    "payout_gas_paid": ("payout-gas", NETWORK_FEES, CUSTODY_HOT),
    "refund_confirmed": ("refund-confirmed", RESERVED, CUSTODY_HOT),
    "refund_released": ("refund-released", RESERVED, AVAILABLE),
    "transfer_return_confirmed": ("refund-confirmed", RESERVED, CUSTODY_HOT),
    "transfer_return_released": ("refund-released", RESERVED, HELD),
    "platform_fee_returned": ("platform-fee-returned", AVAILABLE, AVAILABLE),
    "swap_completed": ("swap-completed", SWAP_CLEARING, AVAILABLE),
    "swap_exchanged": ("swap-exchanged", SWAP_CLEARING, CUSTODY_HOT),
    "swap_released": ("swap-released", RESERVED, AVAILABLE),
    "x402_confirmed": ("x402-confirmed", X402_CLEARING, CUSTODY_HOT),
    "x402_reversed": ("x402-reversed", X402_CLEARING, AVAILABLE),
    "withdrawal_confirmed": ("withdrawal-confirmed", WITHDRAWAL_CLEARING, CUSTODY_HOT),
    "withdrawal_released": ("withdrawal-released", WITHDRAWAL_CLEARING, SERVICE_FEES),
    "sweep_confirmed": ("sweep", CUSTODY_HOT, CUSTODY_DEPOSITS),
    "cold_transfer_sent": ("cold", "custody_cold", CUSTODY_HOT),
    "test_payment_sent": ("test-payment", TREASURY, CUSTODY_HOT),
    "mined_again": ("mined-again", NETWORK_FEES, CUSTODY_HOT),
    "of_ones_own": ("of-ones-own", TREASURY, AVAILABLE),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_others_post_the_web_does_not(books: Books, kind: str) -> None:
    name, source, target = OTHERS[kind]
    books.post(
        "payout_created",
        f"payout:{(id := uuid.uuid4())}",
        books.legs(AVAILABLE, RESERVED),
        reference=id,
    )
    legs = books.legs(source, target)
    if source == target:
        legs[0] = books.leg(source, -ETHER, books.other)
    books.refused(kind, f"{name}:{uuid.uuid4()}", legs, reference=books.payment.pk)


@pytest.mark.parametrize(
    "source",
    [TREASURY, CUSTODY_HOT, CUSTODY_DEPOSITS, CUSTODY_SIMULATED, SERVICE_FEES, SWAP_CLEARING],
)
@pytest.mark.parametrize("target", [AVAILABLE, HELD, RESERVED])
@pytest.mark.parametrize(
    "kind",
    [
        ("payment_settled", "settle"),
        ("late_deposit_accepted", "settle-late"),
        ("deposit_confirmed", "deposit"),
        ("simulated_deposit_changed", "deposit"),
        ("payout_created", "payout"),
        ("payout_released", "payout-released"),
        ("payout_handed_back", "payout-handed-back"),
        ("refund_created", "refund"),
        ("correction", "correction"),
    ],
    ids=lambda kind: kind[0],
)  # fmt: skip
def test_no_kind_of_movement_mints(
    books: Books, kind: tuple[str, str], source: str, target: str
) -> None:
    """Three hundred ether of nobody's, under every name that the web may use."""
    name, first = kind
    id = uuid.uuid4()
    legs = books.legs(source, target, 300 * ETHER)
    staff = make.clerk().pk
    for reference in (books.payment.pk, id):
        books.refused(name, f"{first}:{id}", legs, reference=reference, staff_id=staff)


# What the web sets aside and settles, by the first part of its key; `payment` is what it refers to.
ITS_OWN = {
    "payout_created": ("payout", AVAILABLE, RESERVED, False),
    "swap_created": ("swap", AVAILABLE, RESERVED, False),
    "x402_settled": ("x402", AVAILABLE, X402_CLEARING, False),
    "refund_created": ("refund", AVAILABLE, RESERVED, True),
    "transfer_return_created": ("refund", HELD, RESERVED, True),
    "late_deposit_accepted": ("settle-late", HELD, AVAILABLE, True),
}


@pytest.mark.parametrize("kind", ITS_OWN)
def test_what_the_web_posts_goes_one_way_in_one_mode_and_once(books: Books, kind: str) -> None:
    name, source, target, is_of_payment = ITS_OWN[kind]
    make.store_coins(books.shop.store, "ETH", ETHER)
    with acting_as("tillgate_worker"), transaction.atomic():
        at, legs = clock.real_now(), books.legs(AVAILABLE, HELD, 2 * ETHER)
        post(Posting(f"held:{kind}", "of_a_test", "live", books.payment.pk, at, legs))
    id = uuid.uuid4()
    key, reference = f"{name}:{id}", books.payment.pk if is_of_payment else id
    before = books.available
    books.refused(kind, key, books.legs(TREASURY, target), reference=reference)
    books.refused(kind, key, books.legs(source, CUSTODY_HOT), reference=reference)
    others = [books.leg(source, -ETHER, books.other), books.leg(target, ETHER)]
    of_two = books.legs(source, target)
    of_two += [replace(leg, asset_id="ETH_USDC") for leg in of_two]
    for legs, mode in (
        (books.legs(source, target, -ETHER), "live"),
        (books.legs(target, source), "live"),
        (others if target != X402_CLEARING else of_two, "live"),
        (books.legs(source, target), "test"),
        (books.legs(source, target, 30 * ETHER), "live"),
        (of_two, "live"),
    ):
        with pytest.raises((DatabaseError, InsufficientBalance)):
            books.post(kind, key, legs, reference=reference, mode=mode)
    assert books.available == before
    books.post(kind, key, books.legs(source, target), reference=reference)
    after = books.available
    books.post(kind, key, books.legs(source, target), reference=reference)
    assert books.available == after
    books.refused(kind, f"{key}:again", books.legs(source, target), reference=reference)


MOVEMENT = (
    "INSERT INTO ledger_movement (key, kind, mode, reference, reason, at)"
    " VALUES (%(key)s, 'payout_created', 'live', %(id)s, '', now()) RETURNING id"
)
ENTRY = (
    "INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)"
    " VALUES (%(movement)s, %(source)s, 'ETH', %(down)s, 'principal'),"
    " (%(movement)s, %(target)s, 'ETH', %(up)s, 'principal')"
)


@pytest.mark.parametrize("role", [WEB, "tillgate_watcher", "tillgate_signer", "tillgate_reader"])
def test_the_books_take_no_row_by_hand(books: Books, role: str) -> None:
    """The function that posts is the only way to them, for the web; others have none."""
    id = uuid.uuid4()
    posted = books.post_as_worker(f"of-a-test:{id}")
    values: dict[str, Any] = {
        "key": f"payout:{id}",
        "id": id,
        "movement": posted,
        "down": -ETHER,
        "up": ETHER,
    }
    accounts = {"source": books.account(AVAILABLE), "target": books.account(RESERVED)}
    for statement in (MOVEMENT, ENTRY):
        denied = pytest.raises(DatabaseError, match="permission denied for table ledger_")
        with acting_as(role), tenancy.everyone("an attack"), denied, transaction.atomic():
            connection.cursor().execute(statement, {**values, **accounts})


@pytest.mark.parametrize("role", ["tillgate_watcher", "tillgate_signer", "tillgate_reader"])
def test_who_may_not_insert_posts_nothing_by_the_function_either(books: Books, role: str) -> None:
    id = uuid.uuid4()
    legs = books.legs(AVAILABLE, RESERVED)
    for leg in legs:
        account_id(*leg.account("live"))
    denied = pytest.raises(DatabaseError, match="permission denied for")
    with acting_as(role), denied, transaction.atomic():
        post(Posting(f"payout:{id}", "payout_created", "live", id, clock.real_now(), legs))


def test_many_movements_at_once_are_not_the_webs(books: Books) -> None:
    id = uuid.uuid4()
    posting = Posting(
        f"payout:{id}",
        "payout_created",
        "live",
        id,
        clock.real_now(),
        books.legs(AVAILABLE, RESERVED),
    )
    denied = pytest.raises(DatabaseError, match="permission denied for table ledger_movement")
    with acting_as(WEB), tenancy.everyone("an attack"), denied, transaction.atomic():
        post_many([posting])


def test_a_request_posts_to_accounts_of_its_own_scope_alone(books: Books) -> None:
    """The function acts as the owner of the tables, whom no policy holds; the process may remember
    the accounts of anybody."""
    id = uuid.uuid4()
    keys = [books.leg(kind, 0, books.other).account("live") for kind in (AVAILABLE, RESERVED)]
    values: dict[str, Any] = {
        "key": f"payout:{id}",
        "id": id,
        "accounts": [account_id(*key) for key in keys],
        "amounts": [-ETHER, ETHER],
    }
    statement = (
        "SELECT is_new FROM ledger_post(%(key)s, 'payout_created', 'live', %(id)s, now(),"
        " %(accounts)s::bigint[], '{ETH,ETH}', %(amounts)s::numeric[], '{principal,principal}',"
        " NULL, '', NULL)"
    )
    for scope in (
        tenancy.of([books.shop.store], ["live"]),
        tenancy.of([books.other.store], ["test"]),
        tenancy.NOBODY,
    ):
        denied = pytest.raises(DatabaseError, match="an account is not in scope")
        with acting_as(WEB), tenancy.within(scope), denied, transaction.atomic():
            connection.cursor().execute(statement, values)
    with (
        acting_as(WEB),
        tenancy.within(tenancy.of([books.other.store], ["live"])),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)
        assert cursor.fetchone() == (True,)


def test_a_table_of_ones_own_stands_in_for_none_of_the_books(books: Books) -> None:
    """What checks balances reads the books, whatever else has their names."""
    id = uuid.uuid4()
    database = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT TEMPORARY ON DATABASE {database} TO {WEB}")
    with acting_as(WEB), connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE ledger_account (LIKE public.ledger_account) ON COMMIT DROP"
        )
        cursor.execute("INSERT INTO ledger_account SELECT * FROM public.ledger_account")
        cursor.execute("UPDATE ledger_account SET is_guarded = false, checkpoint_atomic = 10 ^ 24")
    with pytest.raises((InsufficientBalance, DatabaseError)):
        books.post(
            "payout_created",
            f"payout:{id}",
            books.legs(AVAILABLE, RESERVED, 20 * ETHER),
            reference=id,
        )


# --- deposits -------------------------------------------------------------------------------------


def deposit_of(books: Books) -> "tuple[uuid.UUID, int]":
    """One that the watcher has confirmed at an address of the payment."""
    deposit = deposit_in_a_block("confirmed")
    way = PaymentAddress.objects.filter(payment=books.payment).first()
    assert way is not None
    type(deposit).objects.filter(pk=deposit.pk).update(address_id=way.address_id)
    return deposit.pk, deposit.amount_atomic


def test_a_deposit_is_booked_as_the_watcher_has_written_it(books: Books) -> None:
    id, amount = deposit_of(books)
    legs = books.legs(CUSTODY_DEPOSITS, HELD, amount)
    key = keys.DEPOSIT.of(id)
    theirs = Payment.objects.get(pk=make.payment(books.other.live)["id"])
    held = [books.leg(CUSTODY_DEPOSITS, -amount), books.leg(HELD, amount, books.other)]
    ours = books.payment.pk
    books.refused("deposit_confirmed", keys.DEPOSIT.of(uuid.uuid4()), legs, reference=ours)
    books.refused(
        "deposit_confirmed", key, books.legs(CUSTODY_DEPOSITS, HELD, amount + 1), reference=ours
    )
    books.refused(
        "deposit_confirmed", key, books.legs(CUSTODY_SIMULATED, HELD, amount), reference=ours
    )
    books.refused("deposit_confirmed", key, held, reference=theirs.pk)
    books.refused("deposit_confirmed", key, legs, reference=theirs.pk)
    books.post("deposit_confirmed", key, legs, reference=ours)
    books.refused("deposit_confirmed", f"{key}:again", legs, reference=ours)


def test_what_a_payment_holds_is_its_stores(books: Books) -> None:
    id, amount = deposit_of(books)
    ours = books.payment.pk
    books.post(
        "deposit_confirmed",
        keys.DEPOSIT.of(id),
        books.legs(CUSTODY_DEPOSITS, HELD, amount),
        reference=ours,
    )
    share = [
        books.leg(HELD, -amount),
        books.leg(AVAILABLE, amount // 2),
        books.leg(AVAILABLE, amount - amount // 2, books.other),
    ]
    books.refused("payment_settled", f"settle:{ours}:ETH", share, reference=ours)
    books.refused(
        "payment_settled",
        f"settle:{ours}:ETH",
        [books.leg(HELD, -amount), books.leg(AVAILABLE, amount, books.other)],
        reference=ours,
    )
    books.post(
        "payment_settled", f"settle:{ours}:ETH", books.legs(HELD, AVAILABLE, amount), reference=ours
    )


# --- what is set aside ----------------------------------------------------------------------------


def test_a_store_sets_its_own_aside_alone(books: Books) -> None:
    id = uuid.uuid4()
    legs = [books.leg(AVAILABLE, -ETHER, books.other), books.leg(RESERVED, ETHER)]
    books.refused("payout_created", f"payout:{id}", legs, reference=id)
    books.refused("refund_created", f"refund:{id}", legs, reference=books.payment.pk)
    books.refused("swap_created", f"swap:{id}", legs, reference=id)
    books.refused(
        "payout_created", f"payout:{id}", books.legs(AVAILABLE, RESERVED), reference=uuid.uuid4()
    )
    books.refused(
        "payout_created", f"payout-confirmed:{id}", books.legs(AVAILABLE, RESERVED), reference=id
    )
    books.post("payout_created", f"payout:{id}", books.legs(AVAILABLE, RESERVED), reference=id)


def test_nothing_comes_back_of_a_payout_that_may_be_on_its_way(books: Books) -> None:
    id, another = uuid.uuid4(), uuid.uuid4()
    for payout in (id, another):
        books.post(
            "payout_created", f"payout:{payout}", books.legs(AVAILABLE, RESERVED), reference=payout
        )
    key = f"payout-released:{id}"
    books.refused("payout_released", key, books.legs(RESERVED, AVAILABLE, 2 * ETHER), reference=id)
    books.refused("payout_released", key, books.legs(RESERVED, AVAILABLE), reference=another)
    books.refused(
        "payout_handed_back",
        f"payout-handed-back:{id}:0",
        books.legs(OFFRAMP_CLEARING, RESERVED),
        reference=id,
    )
    sent = OutgoingTransaction.objects.create(
        mode="live",
        store=books.shop.store,
        chain_id="ethereum",
        asset_id="ETH",
        purpose="payout",
        reference=f"{id}-1",
        to_address=make.fresh_address(),
        amount_atomic=ETHER,
        requested_at=clock.real_now(),
    )
    books.refused("payout_released", key, books.legs(RESERVED, AVAILABLE), reference=id)
    OutgoingTransaction.objects.filter(pk=sent.pk).update(status="failed")
    books.post("payout_released", key, books.legs(RESERVED, AVAILABLE), reference=id)
    with pytest.raises(DatabaseError):
        books.post("payout_released", f"{key}:again", books.legs(RESERVED, AVAILABLE), reference=id)


# --- staff ----------------------------------------------------------------------------------------


def test_a_correction_is_what_two_have_decided(books: Books) -> None:
    staff, second = make.clerk(), make.clerk()
    wish = Correction("found", Asset.objects.get(pk="ETH"), AVAILABLE, books.shop.store, ETHER)
    row = request_correction(wish, "found by hand", staff, clock.real_now())
    key = "correction:found"
    legs = books.legs(TREASURY, AVAILABLE)
    books.refused("correction", key, legs, staff_id=staff.pk)
    StaffRequest.objects.filter(pk=row.pk).update(
        state="approved", decided_by=second, decided_at=clock.real_now()
    )
    books.refused("correction", key, books.legs(TREASURY, AVAILABLE, 2 * ETHER), staff_id=staff.pk)
    books.refused("correction", key, legs, staff_id=second.pk)
    books.refused("correction", f"{key}-again", legs, staff_id=staff.pk)
    theirs = [books.leg(TREASURY, -ETHER), books.leg(AVAILABLE, ETHER, books.other)]
    books.refused("correction", key, theirs, staff_id=staff.pk)
    books.refused("correction", "correction:funding:0x1:ETH", legs, staff_id=staff.pk)
    books.post("correction", key, legs, staff_id=staff.pk)


def test_a_withdrawal_is_one_that_was_asked_for(books: Books) -> None:
    id = uuid.uuid4()
    legs = books.legs(SERVICE_FEES, WITHDRAWAL_CLEARING)
    books.refused("withdrawal_created", f"withdrawal:{id}", legs, reference=id)
