"""The books by example. Every figure is in millionths of a dollar coin (1.00 = 1_000_000)."""

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.ledger import movements
from apps.ledger.models import Entry, Movement
from apps.ledger.posting import EntryLine, InsufficientBalance, Posting, post, post_many
from apps.ledger.selectors import balance_of, balances, booked_deposits, payment_split
from apps.ledger.statements import statement
from apps.stores.models import User
from tests.ledger.books import AT, COIN, NATIVE, Books

DOLLAR = 1_000_000


def test_a_customer_pays_ten_dollars_and_the_merchant_can_spend_nine_ninety(books: Books) -> None:
    payment = uuid.uuid4()

    # The coins arrive: they are on a deposit address, and owed to the bakery though it can't spend
    # them yet.
    books.deposit(10 * DOLLAR, payment)
    assert books.balances("custody_deposits", "held", "available") == [-10 * DOLLAR, 10 * DOLLAR, 0]

    # The payment completes. One per cent is the service's.
    books.settle(payment, 10 * DOLLAR, fee=100_000)
    assert books.balances("held", "available", "service_fees") == [0, 9_900_000, 100_000]
    assert books.balance("custody_deposits") == -10 * DOLLAR


def test_a_platform_has_its_share_of_a_sale_on_its_own_account(books: Books) -> None:
    payment = uuid.uuid4()
    books.deposit(100 * DOLLAR, payment)

    books.settle(payment, 100 * DOLLAR, fee=1 * DOLLAR, platform_fee=2 * DOLLAR)

    assert books.balances("held", "available", "service_fees") == [0, 97 * DOLLAR, 1 * DOLLAR]
    assert books.platform_available == 2 * DOLLAR
    split = payment_split([payment])[payment][COIN]
    assert (split.gross_atomic, split.service_fee_atomic, split.platform_fee_atomic) == (
        100 * DOLLAR,
        1 * DOLLAR,
        2 * DOLLAR,
    )
    assert split.booked_at == AT


def test_a_payment_that_is_not_settled_has_no_split(books: Books) -> None:
    payment = uuid.uuid4()
    books.deposit(DOLLAR, payment)

    assert payment_split([payment]) == {}
    assert booked_deposits(payment) == {COIN: DOLLAR}


def test_what_arrives_on_top_of_a_completed_payment_is_settled_at_once(books: Books) -> None:
    payment = books.earn(10 * DOLLAR)
    deposit = books.deposit(3 * DOLLAR, payment)

    movements.overpayment_settled(
        **books.of_store,
        payment_id=payment,
        deposit_id=deposit,
        gross_atomic=3 * DOLLAR,
        service_fee_atomic=30_000,
        platform_fee_atomic=0,
    )

    assert books.balances("held", "available", "service_fees") == [0, 12_970_000, 30_000]


def test_a_late_deposit_stays_held_until_the_merchant_takes_it(books: Books) -> None:
    payment = uuid.uuid4()
    deposit = books.deposit(5 * DOLLAR, payment)
    assert books.balances("held", "available") == [5 * DOLLAR, 0]

    movements.late_deposit_accepted(
        **books.of_store,
        payment_id=payment,
        deposit_id=deposit,
        gross_atomic=5 * DOLLAR,
        service_fee_atomic=50_000,
        platform_fee_atomic=100_000,
        platform_id=books.platform.pk,
    )

    assert books.balances("held", "available", "service_fees") == [0, 4_850_000, 50_000]
    assert books.platform_available == 100_000


def test_a_refund_is_reserved_first_and_leaves_the_hot_wallet_when_the_chain_has_it(
    books: Books,
) -> None:
    payment = books.earn(10 * DOLLAR)

    refund = books.refund(payment, 4 * DOLLAR)
    assert books.balances("available", "reserved", "custody_hot") == [6 * DOLLAR, 4 * DOLLAR, 0]

    books.confirm_refund(payment, refund, 4 * DOLLAR, gas=21_000)
    assert books.balances("available", "reserved", "custody_hot") == [6 * DOLLAR, 0, 4 * DOLLAR]
    assert [books.balance("network_fees", NATIVE), books.balance("custody_hot", NATIVE)] == [
        -21_000,
        21_000,
    ]
    assert payment_split([payment])[payment][COIN].refunded_atomic == 4 * DOLLAR


def test_a_refund_that_fails_for_good_goes_back_to_where_it_came_from(books: Books) -> None:
    failed_payment = uuid.uuid4()
    books.deposit(2 * DOLLAR, failed_payment)
    refund = books.refund(failed_payment, 2 * DOLLAR, is_from_held=True)
    assert books.balances("held", "reserved") == [0, 2 * DOLLAR]

    movements.refund_released(
        **books.of_store,
        payment_id=failed_payment,
        refund_id=refund,
        amount_atomic=2 * DOLLAR,
        is_to_held=True,
        gas_asset_id=NATIVE,
        gas_atomic=21_000,
    )

    assert books.balances("held", "reserved", "available") == [2 * DOLLAR, 0, 0]
    assert [books.balance("network_fees", NATIVE), books.balance("custody_hot", NATIVE)] == [
        -21_000,
        21_000,
    ]


def test_a_simulated_payment_touches_no_wallet_on_its_way_in_or_out(books: Books) -> None:
    books.mode = "test"
    payment = uuid.uuid4()
    refund = uuid.uuid4()
    deposit = books.deposit(10, payment, is_simulated=True)
    movements.simulated_deposit_changed(
        **books.of_store, deposit_id=deposit, payment_id=payment, grown_atomic=5
    )
    assert books.balances("custody_simulated", "custody_deposits", "held") == [-15, 0, 15]

    options = {**books.of_store, "payment_id": payment, "refund_id": refund, "amount_atomic": 15}
    movements.refund_created(**options, is_from_held=True)
    movements.refund_confirmed(**options, gas_asset_id="SETH", gas_atomic=0, is_simulated=True)

    assert books.balances("custody_simulated", "custody_hot", "held", "reserved") == [0, 0, 0, 0]


def test_the_platform_gives_back_its_share_as_far_as_its_balance_reaches(books: Books) -> None:
    payment = uuid.uuid4()
    refund = uuid.uuid4()
    books.deposit(100, payment)
    books.settle(payment, 100, platform_fee=10)
    options = {**books.of_store, "payment_id": payment, "platform_id": books.platform.pk}

    assert movements.platform_fee_returned(**options, refund_id=refund, share_atomic=7) == 7
    assert movements.platform_fee_returned(**options, refund_id=refund, share_atomic=2) == 0
    assert movements.platform_fee_returned(**options, refund_id=uuid.uuid4(), share_atomic=7) == 3
    assert movements.platform_fee_returned(**options, refund_id=uuid.uuid4(), share_atomic=7) == 0

    assert (books.balance("available"), books.platform_available) == (100, 0)
    assert payment_split([payment])[payment][COIN].platform_fee_atomic == 10


def test_a_sweep_moves_coins_from_deposit_addresses_to_the_hot_wallet(books: Books) -> None:
    books.deposit(10 * DOLLAR)
    movements.sweep_gas_sent(
        mode="live", asset_id=NATIVE, tx_hash="0x01", amount_atomic=900, gas_atomic=21, at=AT
    )
    assert [
        books.balance(kind, NATIVE) for kind in ("custody_hot", "custody_deposits", "network_fees")
    ] == [921, -900, -21]

    movements.sweep_confirmed(
        mode="live",
        asset_id=COIN,
        tx_hash="0x02",
        amount_atomic=10 * DOLLAR,
        gas_asset_id=NATIVE,
        gas_atomic=800,
        at=AT,
    )

    assert books.balances("custody_deposits", "custody_hot") == [0, -10 * DOLLAR]
    assert [books.balance(kind, NATIVE) for kind in ("custody_deposits", "network_fees")] == [
        -100,
        -821,
    ]


def test_the_test_wallet_pays_out_of_the_services_own_float(books: Books) -> None:
    books.mode = "test"
    wallet = {"mode": "test", "asset_id": "SETH", "gas_asset_id": "SETH", "at": AT}
    movements.test_payment_sent(
        **wallet, test_payment_id=uuid.uuid4(), amount_atomic=500, gas_atomic=21
    )
    movements.test_payment_sent(
        **wallet, test_payment_id=uuid.uuid4(), amount_atomic=0, gas_atomic=9
    )

    assert [
        books.balance(kind, "SETH") for kind in ("treasury", "custody_hot", "network_fees")
    ] == [-500, 530, -30]


def test_staff_put_a_lost_deposit_right_with_a_reason_against_the_treasury(books: Books) -> None:
    payment = uuid.uuid4()
    books.deposit(10, payment)
    staff = User.objects.first()
    assert staff is not None
    options = {
        "mode": "live",
        "asset_id": COIN,
        "staff_id": staff.pk,
        "at": AT,
        "reason": "Block 9 was replaced",
    }

    movements.correction(
        key="1",
        kind="held",
        store_id=books.store.pk,
        payment_id=payment,
        amount_atomic=-10,
        **options,
    )
    movements.correction(
        key="2", kind="custody_deposits", store_id=None, amount_atomic=10, **options
    )

    assert books.balances("held", "custody_deposits", "treasury") == [0, 0, 0]
    assert list(
        Movement.objects.filter(kind="correction").values_list("reason", "staff_user_id").distinct()
    ) == [("Block 9 was replaced", staff.pk)]


ONE_STORE = uuid.uuid4()
WRONG_CORRECTIONS: list[dict[str, Any]] = [
    {"reason": " "},
    {"kind": "treasury"},
    {"kind": "held"},
    {"kind": "pocket"},
    {"kind": "held", "store_id": ONE_STORE},
    {"kind": "available", "store_id": ONE_STORE, "payment_id": uuid.uuid4()},
]


@pytest.mark.parametrize("wrong", WRONG_CORRECTIONS)
def test_a_correction_needs_a_reason_an_account_it_may_correct_and_for_what_is_held_its_payment(
    books: Books, wrong: dict[str, Any]
) -> None:
    asked = {"reason": "why", "kind": "custody_hot", "store_id": None, **wrong}
    with pytest.raises(ValueError):
        movements.correction(
            key="1",
            mode="live",
            asset_id=COIN,
            amount_atomic=1,
            staff_id=uuid.uuid4(),
            at=AT,
            **asked,
        )


def test_a_payment_takes_nothing_that_is_held_for_another(books: Books) -> None:
    mine = uuid.uuid4()
    other = uuid.uuid4()
    books.deposit(10, mine)
    books.deposit(100, other)

    with pytest.raises(InsufficientBalance), transaction.atomic():
        books.settle(mine, 11)
    with pytest.raises(InsufficientBalance), transaction.atomic():
        books.refund(uuid.uuid4(), 1, is_from_held=True)
    books.refund(mine, 4, is_from_held=True)
    with pytest.raises(InsufficientBalance), transaction.atomic():
        books.settle(mine, 7)
    books.settle(mine, 6)

    assert books.balances("held", "available", "reserved") == [100, 6, 4]


def test_of_a_batch_no_movement_takes_what_another_payment_brought(books: Books) -> None:
    mine = uuid.uuid4()
    other = uuid.uuid4()
    books.deposit(10, mine)
    books.deposit(10, other)
    postings = [
        Posting(
            key,
            "refund_created",
            "live",
            payment,
            AT,
            [
                EntryLine("held", COIN, -amount, "principal", books.store.pk),
                EntryLine("reserved", COIN, amount, "principal", books.store.pk),
            ],
        )
        for key, payment, amount in (("a", mine, 9), ("b", other, 11))
    ]

    with pytest.raises(InsufficientBalance), transaction.atomic():
        post_many(postings)
    assert post_many(postings[:1]) == 1

    assert books.balances("held", "reserved") == [11, 9]


def test_nothing_is_spent_that_is_not_there(books: Books) -> None:
    payment = books.earn(10)

    with pytest.raises(InsufficientBalance), transaction.atomic():
        books.refund(payment, 11)

    assert books.balances("available", "reserved") == [10, 0]


def test_the_same_key_posts_once_and_answers_the_first_movement(books: Books) -> None:
    payment = uuid.uuid4()
    books.deposit(10, payment)

    first = books.settle(payment, 10)
    again = books.settle(payment, 10)

    assert (first.is_new, again.is_new) == (True, False)
    assert first.movement_id == again.movement_id
    assert books.balances("held", "available") == [0, 10]


def test_amounts_larger_than_any_machine_integer_are_kept_to_the_unit(books: Books) -> None:
    huge = 10**77 - 1

    books.earn(huge)

    assert books.balance("available") == huge
    assert balances(books.store.pk, "live")[COIN].total_atomic == huge


def test_test_coins_never_show_in_live_balances(books: Books) -> None:
    books.mode = "test"
    books.deposit(10, is_simulated=True)

    assert balances(books.store.pk, "live") == {}
    assert balances(books.store.pk, "test")[COIN].held_atomic == 10


def _sale(books: Books, key: str, amount: int) -> Posting:
    lines = [
        EntryLine("custody_deposits", COIN, -amount, "principal"),
        EntryLine("available", COIN, amount, "principal", books.store.pk),
    ]
    return Posting(key, "deposit_confirmed", "live", None, AT, lines)


def test_a_batch_is_posted_in_one_statement_and_only_what_is_new(books: Books) -> None:
    post(_sale(books, "a", 1))

    assert post_many([_sale(books, key, 10) for key in ("c", "a", "b")]) == 2
    assert post_many([]) == 0

    assert books.balance("available") == 21
    assert Entry.objects.filter(movement__key="a").count() == 2


def test_a_batch_that_overdraws_posts_nothing(books: Books) -> None:
    books.earn(10)
    spend = [_sale(books, "1", 5), _sale(books, "2", -16)]

    with pytest.raises(InsufficientBalance), transaction.atomic():
        post_many(spend)

    assert books.balance("available") == 10


def test_a_payment_with_shares_that_do_not_fit_is_refused(books: Books) -> None:
    payment = uuid.uuid4()
    books.deposit(10, payment)

    with pytest.raises(ValueError):
        books.settle(payment, 10, fee=8, platform_fee=3)
    with pytest.raises(IntegrityError), transaction.atomic():
        post(
            Posting(
                "odd",
                "payment_settled",
                "live",
                payment,
                AT,
                [EntryLine("held", COIN, -3, "gross", books.store.pk)],
            )
        )


def test_a_statement_shows_the_balance_after_each_entry_page_by_page(books: Books) -> None:
    for amount in (1, 20, 300):
        books.earn(amount)
    payment = books.earn(4_000)
    books.refund(payment, 21)
    account = Entry.objects.filter(account__kind="available", account__store=books.store).first()
    assert account is not None

    first = statement(account.account_id, limit=2)
    rest = statement(account.account_id, before=first[-1].cursor)

    assert [(line.amount_atomic, line.balance_atomic) for line in first + rest] == [
        (-21, 4_300),
        (4_000, 4_321),
        (300, 321),
        (20, 21),
        (1, 1),
    ]
    assert first[0].reference == payment
    assert balance_of(account.account_id) == 4_300
    with pytest.raises(ValueError):
        statement(account.account_id, before="nonsense")
