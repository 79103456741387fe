"""A program accepts what came late or in another coin: toward an open payment it counts, once."""

from typing import Any

import pytest
from django.db import transaction

from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.ledger.models import Movement
from apps.payments.models import LateDeposit, Payment
from apps.stores.models import AuditEntry
from apps.webhooks.models import Event
from tests import auditing, make
from tests.cast import Api, Cast, Shop
from tests.payments.test_late_money import COIN, coins, late_on_open, swallowed, told
from tests.payments.test_losing import in_thread, until_somebody_waits_for_us
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "coins", "committed"]
pytestmark = pytest.mark.django_db


def accept(api: Api, made: dict[str, str], tx_hash: str) -> tuple[int, dict[str, Any]]:
    answer = api.post(f"/payments/{made['id']}/accept_transaction", {"tx_hash": tx_hash})
    return answer.status_code, answer.json()


def undecided(api: Api, made: dict[str, str]) -> str:
    (row,) = make.detail(api, made["id"])["transactions"]
    assert row["undecided"] and row["accepted_at"] is None
    return str(row["tx_hash"])


def test_another_coin_counts_toward_an_open_payment_at_its_locked_rate(
    bakery: Shop, coins: None
) -> None:
    made = make.payment(bakery.test)
    swallowed(made["id"])
    tx_hash = undecided(bakery.test, made)
    status, after = accept(bakery.test, made, tx_hash)
    assert (status, after["status"], after["state_reason"]) == (200, "completed", "completed_exact")
    assert (after["amount_paid"], after["accepted_late_amount"]) == ("10.00", "10.00")
    assert told(made["id"])[-1] == ("confirmed", "confirmed", False, True, True)
    assert Event.objects.filter(type="payment_intent.completed").count() == 1
    assert AuditEntry.objects.filter(action="unmatched_transfer.accepted").count() == 1
    assert auditing.breaches() == []

    assert accept(bakery.test, made, tx_hash.upper().replace("0X", "0x"))[0] == 200
    assert LateDeposit.objects.count() == 1
    assert Event.objects.filter(type="payment_intent.completed").count() == 1
    assert auditing.breaches() == []


def test_what_came_late_is_accepted_by_its_hash(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    late_on_open(made["id"])
    status, after = accept(bakery.test, made, undecided(bakery.test, made))
    assert (status, after["status"]) == (200, "completed")
    assert auditing.breaches() == []


def test_on_a_payment_that_has_ended_it_joins_the_balance(bakery: Shop, coins: None) -> None:
    made = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    swallowed(made["id"])
    status, after = accept(bakery.test, made, undecided(bakery.test, made))
    assert (status, after["status"], after["accepted_late_amount"]) == (200, "expired", "10.00")
    assert auditing.breaches() == []


def test_a_transaction_that_nobody_has_to_decide_about_is_refused(cast: Cast, coins: None) -> None:
    made = make.payment(cast.bakery.test)
    make.simulated(cast.bakery.test, made["id"])
    expected = Deposit.objects.get().tx_hash
    for tx_hash in (expected, "0x" + "ab" * 32):
        status, body = accept(cast.bakery.test, made, tx_hash)
        assert status == 422 and body["error"]["code"] == "nothing_to_accept", body
    for broken in ("", "0x12", None):
        answer = cast.bakery.test.post(
            f"/payments/{made['id']}/accept_transaction", {"tx_hash": broken}
        )
        assert answer.status_code == 422


def test_only_the_payment_whose_address_it_came_to_takes_it(cast: Cast, coins: None) -> None:
    made, other = make.payment(cast.bakery.test), make.payment(cast.bakery.test)
    swallowed(made["id"])
    tx_hash = undecided(cast.bakery.test, made)
    assert accept(cast.bakery.test, other, tx_hash)[0] == 422
    assert accept(cast.strangers.test, made, tx_hash)[0] == 404
    assert UnmatchedTransfer.objects.get().resolved_at is None
    assert Payment.objects.get(pk=made["id"]).status == "pending"


@pytest.mark.parametrize("is_late", [True, False])
def test_two_programs_at_once_accept_it_once(committed: Cast, is_late: bool) -> None:
    shop = committed.bakery
    Asset.objects.filter(pk=COIN).update(contract_address="0x" + "01" * 20, is_active=True)
    accept_all_active(shop.store)
    made = make.payment(shop.test)
    late_on_open(made["id"]) if is_late else swallowed(made["id"])
    tx_hash = undecided(shop.test, made)
    answers: list[int] = []
    accepted = Movement.objects.filter(kind="late_deposit_accepted")  # others have left theirs
    before = accepted.count()

    def work() -> None:
        answers.append(accept(shop.test, made, tx_hash)[0])

    with transaction.atomic():
        Payment.objects.select_for_update().get(pk=made["id"])
        threads = [in_thread(work) for _ in range(2)]
        until_somebody_waits_for_us()
    for thread in threads:
        thread.join()
    assert answers == [200, 200]
    assert accepted.count() == before + 1
    assert Payment.objects.get(pk=made["id"]).status == "completed"
    assert auditing.breaches() == []


def test_a_key_without_the_scope_accepts_nothing(bakery: Shop, coins: None) -> None:
    made = make.payment(bakery.test)
    swallowed(made["id"])
    reader = bakery.with_scopes("payments:read", "payments:write")
    assert accept(reader, made, undecided(bakery.test, made))[0] in (401, 403)
