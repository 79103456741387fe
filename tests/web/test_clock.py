"""The test clock is moved by a job: a call waits for it, but only one of a process, and nobody
moves a clock twice at once."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from apps.api import test_clock
from apps.core import clock
from apps.core.db import locks
from apps.stores.models import Store
from apps.stores.tasks import advance_test_clocks
from tests.cast import Shop
from tests.stack import wait_for


@pytest.fixture
def worker_is_away(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WORK_INLINE = False
    monkeypatch.setattr(test_clock, "WAIT_SECONDS", 0.2)


def advance(shop: Shop) -> Any:
    return shop.test.post("/test_clock/advance", {"seconds": 60})


def target_of(shop: Shop) -> int | None:
    return Store.objects.get(pk=shop.store.pk).test_clock_target_seconds


def test_a_call_that_waited_in_vain_is_202_and_the_clock_says_when_it_is_there(
    worker_is_away: None, shop: Shop
) -> None:
    asked = clock.real_now() + timedelta(days=3)
    told = shop.test.post("/test_clock/advance", {"seconds": 3 * 86400})
    assert (told.status_code, told.json()["status"]) == (202, "advancing")
    assert told.json()["target"] >= str(clock.iso(asked))
    assert shop.test.get("/test_clock").json()["status"] == "advancing"
    again = shop.test.post("/test_clock/advance", {"seconds": 1})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "test_clock_advancing")
    advance_test_clocks()
    now = shop.test.get("/test_clock").json()
    assert (now["status"], now["offset_seconds"]) == ("ready", 3 * 86400)


def test_a_call_waits_for_its_job(
    worker_is_away: None, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_clock, "WAIT_SECONDS", 30.0)
    heard: list[int] = []
    caller = threading.Thread(target=lambda: heard.append(advance(shop).status_code))
    caller.start()
    wait_for(lambda: target_of(shop), lambda target: target == 60)
    assert not test_clock._seat.acquire(blocking=False)
    advance_test_clocks([str(shop.store.pk)])
    caller.join(20)
    assert heard == [200]


def test_a_call_beside_one_that_waits_waits_briefly(
    worker_is_away: None, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_clock, "BRIEF_WAIT_SECONDS", 10.0)
    heard: list[int] = []
    caller = threading.Thread(target=lambda: heard.append(advance(shop).status_code))
    with test_clock._seat:
        caller.start()
        wait_for(lambda: target_of(shop), lambda target: target == 60)
        advance_test_clocks([str(shop.store.pk)])
        caller.join(20)
        assert heard == [200]
        monkeypatch.setattr(test_clock, "BRIEF_WAIT_SECONDS", 0.1)
        told = advance(shop)
        assert (told.status_code, told.json()["status"]) == (202, "advancing")


def test_a_clock_that_another_job_moves_is_left_to_it(worker_is_away: None, shop: Shop) -> None:
    shop.test.post("/test_clock/advance", {"seconds": 60})
    held = threading.Event()
    done = threading.Event()

    def hold() -> None:
        with locks.hold(locks.LockKind.TEST_CLOCK, shop.store.pk):
            held.set()
            done.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(20)
    advance_test_clocks()
    assert target_of(shop) == 60
    done.set()
    holder.join(20)
    advance_test_clocks()
    assert target_of(shop) is None


def test_a_job_that_fails_frees_the_clock(worker_is_away: None, shop: Shop, settings: Any) -> None:
    shop.test.post("/test_clock/advance", {"seconds": 60})
    settings.DUE = ["apps.core.there_is_no_such_module"]
    advance_test_clocks()
    assert target_of(shop) is None
    assert shop.test.get("/test_clock").json()["status"] == "ready"
