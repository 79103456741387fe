"""Attacks on signing in from many connections at once, and by the time that answers take."""

import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from apps.access.factors import second_factor
from apps.access.person import sign_in
from tests.cast import PASSWORD, Cast, assemble, person
from tests.dashboard.browse import code_of
from tests.hashers import QuickArgon2

AT_ONCE = 4


@pytest.fixture
def committed(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    """A cast whose rows other connections see. They stay: the ledger's tables can't be emptied."""
    with django_db_blocker.unblock():
        yield assemble()
        connection.close()


def test_of_one_code_sent_many_times_at_once_one_is_taken(committed: Cast) -> None:
    factor = second_factor.switch_on(committed.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    code = code_of(factor)

    def one(_: int) -> bool:
        try:
            second_factor.verify(committed.alice, factor, code)
            return True
        except second_factor.WrongCode:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert sum(pool.map(one, range(AT_ONCE))) == 1


def test_an_address_that_nobody_has_costs_the_same_work(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A password costs here a fifth of what it does in the service: what is asked beside it is
    # little.
    for name, value in {"time_cost": 2, "memory_cost": 20_480, "parallelism": 1}.items():
        monkeypatch.setattr(QuickArgon2, name, value)
    dora = person("dora")
    dora.set_password(PASSWORD)
    dora.save()
    known = dora.email

    def seconds(email: str, place: str) -> float:
        begin = time.process_time()
        with pytest.raises(sign_in.SignInRefused):
            sign_in.by_password(email, PASSWORD + "x", place)
        return time.process_time() - begin

    seconds(known, "192.0.2.0")
    wrong = []
    unknown = []
    for n in range(1, 5):
        wrong.append(seconds(known, f"192.0.2.{n}"))
        unknown.append(seconds(f"nobody-{n}@example.com", f"198.51.100.{n}"))
    assert min(wrong) > 0.01
    assert 0.4 < statistics.median(unknown) / statistics.median(wrong) < 2.5
