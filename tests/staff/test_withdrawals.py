"""Earnings leave by the staff site too: one of finance asks on a form, another lets them go with a
code, and only that."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.ledger.selectors import account_balance
from apps.payments.models import Withdrawal
from apps.stores.models import User
from tests import make
from tests.dashboard.browse import Browser, next_code, text
from tests.staff.test_roles import signed_in
from tests.stage import standing

OWNER = "0x" + "a1" * 20
ETHER = 10**18
ASK = "/admin/payments/withdrawal/ask/"


def earned() -> tuple[Browser, Browser]:
    """Two of finance; three coins are earned."""
    asker = make.clerk("finance")
    second = make.clerk("finance")
    make.service_coins("SETH", 100 * ETHER)
    make._correct("SETH", "service_fees", None, 3 * ETHER, asker)
    return signed_in(asker), signed_in(second)


@pytest.fixture(scope="module")
def earners(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[Browser, Browser]]:
    yield from standing(django_db_blocker, earned)


@pytest.fixture
def people(earners: tuple[Browser, Browser], db: None, settings: Any) -> tuple[Browser, Browser]:
    settings.WITHDRAWAL_ADDRESSES = [OWNER]
    first, second = earners
    return first.again(), second.again()


def ask(browser: Browser, **changes: str) -> Any:
    fields = {
        "asset": "SETH",
        "amount": "1.5",
        "to_address": OWNER,
        "reference": "may",
        "reason": "Salaries",
        **changes,
    }
    return browser.post(ASK, **fields)


def decide(browser: Browser, decision: str, code: str = "", reason: str = "") -> Any:
    row = Withdrawal.objects.get()
    return browser.post(
        f"/admin/payments/withdrawal/{row.pk}/decide/", decision=decision, code=code, reason=reason
    )


def person_of(browser: Browser) -> User:
    return User.objects.get(pk=browser.client.session["_auth_user_id"])


def test_one_asks_and_another_lets_it_go_with_a_code(people: tuple[Browser, Browser]) -> None:
    first, second = people
    answer = ask(first)
    assert (answer.status_code, answer.headers.get("Location")) == (
        302,
        "/admin/payments/withdrawal/",
    )
    row = Withdrawal.objects.get()
    assert (row.amount_atomic, row.to_address, row.status) == (15 * 10**17, OWNER, "requested")
    page = text(second.get(f"/admin/payments/withdrawal/{row.pk}/decide/"))
    assert "1.5 ETH" in page and "Code" in page

    assert decide(second, "approve", next_code(person_of(second))).status_code == 302
    row.refresh_from_db()
    assert row.status == "approved" and row.requested_by_id != row.decided_by_id
    assert account_balance(None, "test", "SETH", "withdrawal_clearing") == 15 * 10**17


@pytest.mark.parametrize("code", ["", "000000"])
def test_without_the_right_code_nothing_leaves(people: tuple[Browser, Browser], code: str) -> None:
    ask(people[0])
    assert decide(people[1], "approve", code).status_code == 422
    assert Withdrawal.objects.get().status == "requested"


def test_who_asked_lets_nothing_go_and_may_take_it_back(people: tuple[Browser, Browser]) -> None:
    first, _ = people
    ask(first)
    refused = decide(first, "approve", next_code(person_of(first)))
    assert refused.status_code == 422 and "not the one who asked" in text(refused)
    assert decide(first, "reject", reason="Too early").status_code == 302
    assert Withdrawal.objects.get().status == "rejected"
    assert account_balance(None, "test", "SETH", "withdrawal_clearing") == 0


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"amount": "4"}, "The earnings of SETH are"),
        ({"amount": "-1"}, "Enter an amount above zero"),
        ({"amount": "ten"}, "Enter an amount above zero"),
        ({"to_address": "0x" + "b2" * 20}, "not one of the available choices"),
        ({"reference": ""}, "This field is required"),
    ],
)
def test_what_can_not_be_withdrawn_is_said_on_the_form(
    people: tuple[Browser, Browser], changes: dict[str, str], told: str
) -> None:
    answer = ask(people[0], **changes)
    assert answer.status_code == 422 and told in text(answer)
    assert not Withdrawal.objects.exists()
