"""Two people who press at once do it once."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

from apps.access.factors import second_factor
from apps.ledger.models import Movement
from apps.payments.models import PaymentEvent
from apps.stores.models import AuditEntry
from tests.cast import Cast
from tests.dashboard.attention.makers import endpoint_in_error, late
from tests.dashboard.browse import Browser
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "committed"]


def together(*acts: Callable[[], Any]) -> None:
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> None:
        start.wait()
        try:
            act()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def test_two_people_who_press_turn_on_turn_it_on_once(committed: Cast) -> None:
    made = endpoint_in_error(committed)
    browsers = [Browser(committed.alice) for _ in range(4)]
    answers: list[int] = []
    path = f"webhooks/{made.pk}/switch"
    together(
        *[
            lambda browser=browser: answers.append(browser.post(path, to="active").status_code)
            for browser in browsers
        ]
    )
    assert answers == [303] * 4
    assert (
        AuditEntry.objects.filter(target_id=str(made.pk), action="webhook_endpoint.enabled").count()
        == 1
    )


def test_two_people_who_accept_a_late_deposit_accept_it_once(committed: Cast) -> None:
    payment, deposit = late(committed)
    second_factor.switch_on(committed.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browsers = [Browser(committed.alice).prove(), Browser(committed.alice).prove()]
    answers: list[int] = []
    path = f"payments/{payment}/late-deposits/{deposit}"
    accepted = Movement.objects.filter(kind="late_deposit_accepted")  # others have left theirs
    before = accepted.count()
    together(
        *[
            lambda browser=browser: answers.append(browser.post(path).status_code)
            for browser in browsers
        ]
    )
    assert sorted(answers) == [303, 422]
    assert accepted.count() == before + 1
    assert (
        PaymentEvent.objects.filter(payment=payment, event_type="late_deposit.accepted").count()
        == 1
    )
