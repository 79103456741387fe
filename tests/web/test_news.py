"""Pages that wait for news of a payment are answered when there is some, and take no thread while
they wait."""

import asyncio
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest

from apps.core.web.variables import Hold
from apps.payments.documents.news import beat_of
from apps.payments.models import Payment
from config import holding
from config.holding import HOLD_SECONDS, HeldAnswers
from tests import make
from tests.cast import Shop
from tests.web.wire import Web

WAITING = 60


def path_of(payment: dict[str, Any], since: str | None = None) -> str:
    query = "" if since is None else f"?since={quote(since)}"
    return f"/pay/{payment['reference']}/pulse{query}"


def test_who_knows_less_is_answered_at_once(web: Web, shop: Shop) -> None:
    payment = make.payment(shop.test)
    for path in (path_of(payment), path_of(payment, "other"), path_of(payment, "")):
        answer = web.ask("GET", path)
        assert (answer.status, answer.content) == (200, b"pending")
        assert answer.seconds < HOLD_SECONDS


def test_many_wait_and_hear_at_once(web: Web, shop: Shop) -> None:
    payment = make.payment(shop.test)
    waiting = [web.begin("GET", path_of(payment, "pending")) for _ in range(WAITING)]
    time.sleep(1)
    assert web.ask("GET", "/healthz").seconds < HOLD_SECONDS  # nobody's thread is taken
    make.simulated(shop.test, payment["id"])
    answers = [request.answer() for request in waiting]
    now = beat_of(Payment.objects.get(pk=payment["id"]))
    assert now == "completed completed_exact came-1"
    assert {answer.content.decode() for answer in answers} == {now}
    assert {int(answer.headers["content-length"]) for answer in answers} == {len(now)}
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}


def test_a_payment_that_isnt_there_is_404(web: Web, db: None) -> None:
    assert web.ask("GET", "/pay/ABCDEFGHIJKLMNOP/pulse?since=pending").status == 404


# --- what waits, without a server -----------------------------------------------------------------


class News:
    """The news at this moment, and how often it was asked for."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.asked: list[set[str]] = []
        self.fails = 0

    def read(self, keys: Collection[str]) -> dict[str, str]:
        self.asked.append(set(keys))
        if self.fails:
            self.fails -= 1
            raise OSError("away")
        return {key: self.texts[key] for key in keys if key in self.texts}


@pytest.fixture
def news(monkeypatch: pytest.MonkeyPatch) -> News:
    monkeypatch.setattr(holding, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(holding, "HOLD_SECONDS", 1.0)
    return News()


async def never() -> None:
    await asyncio.Event().wait()


def test_all_that_wait_are_looked_for_together(news: News) -> None:
    async def story() -> list[str]:
        held = HeldAnswers(news.read, ThreadPoolExecutor(1))
        news.texts = {"a": "old", "b": "old"}
        waiting = [asyncio.create_task(held.changed(Hold(key, "old"), never)) for key in "aabb"]
        while len(news.asked) < 2:
            await asyncio.sleep(0.01)
        news.texts["a"] = "new"
        return list(await asyncio.gather(*waiting))

    assert asyncio.run(story()) == ["new", "new", "old", "old"]
    assert news.asked[0] == {"a", "b"} and news.asked[-1] == {"b"}


def test_a_look_that_fails_is_tried_again(news: News) -> None:
    news.fails = 2
    news.texts = {"a": "new"}

    async def story() -> str:
        return await HeldAnswers(news.read, ThreadPoolExecutor(1)).changed(Hold("a", "old"), never)

    assert asyncio.run(story()) == "new"


def test_who_leaves_is_forgotten_and_nothing_is_asked_any_more(
    news: News, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "HOLD_SECONDS", 60.0)

    async def leaves() -> None:
        await asyncio.sleep(0.05)

    async def story() -> None:
        held = HeldAnswers(news.read, ThreadPoolExecutor(1))
        began = time.monotonic()
        assert await held.changed(Hold("a", "old"), leaves) == "old"
        assert time.monotonic() - began < 50
        await asyncio.sleep(0.1)
        asked = len(news.asked)
        await asyncio.sleep(0.2)
        assert len(news.asked) == asked

    asyncio.run(story())


def test_more_than_fit_are_answered_at_once(news: News, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "HELD_MAX", 0)

    async def story() -> str:
        return await HeldAnswers(news.read, ThreadPoolExecutor(1)).changed(Hold("a", "old"), never)

    assert asyncio.run(story()) == "old" and news.asked == []
