"""The client for an event loop: the same calls, lists and retries, many at once."""

import asyncio
import unittest
from typing import Any

import httpx

import tillgate

PAYMENT = {"id": "5f8c2a30-0000-4000-8000-000000000001", "status": "pending"}


class Server:
    """Answers in order, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked = list[httpx.Request]()
        self.slept: list[float] = []
        transport = httpx.MockTransport(self._answer)
        self.client = tillgate.AsyncClient(
            "svc_sk_test_x", "http://till.example", transport=transport
        )
        self.client._api._sleep = self._sleep

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body, *headers = answer
        return httpx.Response(status, json=body, headers=dict(headers))


def page(number: int, *ids: str) -> Any:
    figures = {"page": number, "per_page": 2, "total": 3, "total_pages": 2}
    return 200, {"data": [{"id": id} for id in ids], "meta": figures}


class AsyncCalls(unittest.IsolatedAsyncioTestCase):
    async def test_what_may_have_happened_is_asked_again_under_one_key(self) -> None:
        server = Server(httpx.ReadTimeout("slow"), (503, {}, ("Retry-After", "7")), (201, PAYMENT))
        made = await server.client.payments.create(amount="10.00", currency="EUR")
        keys = {one.headers["Idempotency-Key"] for one in server.asked}
        self.assertEqual((made.id, len(server.asked), len(keys)), (PAYMENT["id"], 3, 1))
        self.assertEqual(server.slept[1], 7)

    async def test_a_refusal_is_raised_and_not_repeated(self) -> None:
        server = Server(
            (422, {"error": {"type": "invalid_request", "message": "No", "param": "amount"}})
        )
        with self.assertRaises(tillgate.InvalidRequestError):
            await server.client.payments.create(amount="0", currency="EUR")
        self.assertEqual(len(server.asked), 1)

    async def test_what_moves_something_without_a_key_is_sent_once(self) -> None:
        server = Server(httpx.ReadTimeout("slow"))
        with self.assertRaises(tillgate.TimedOut):
            await server.client.payments.cancel("one")
        self.assertEqual(len(server.asked), 1)

    async def test_a_list_asks_for_pages_as_it_goes_and_tells_nothing_twice(self) -> None:
        server = Server(page(1, "c", "b"), page(2, "b", "a"))
        rows = server.client.payments.list(per_page=2)
        self.assertEqual(server.asked, [])
        self.assertEqual([one.id async for one in rows], ["c", "b", "a"])
        self.assertEqual(server.asked[1].url.params["page"], "2")

    async def test_one_page_can_be_asked_for(self) -> None:
        server = Server(page(2, "a"))
        told = await server.client.payments.list(per_page=2).page(2)
        self.assertEqual((told.page, told.total_pages, len(told.data)), (2, 2, 1))

    async def test_events_go_on_after_the_last_one_that_was_read(self) -> None:
        def events(*ids: str, has_more: bool) -> Any:
            return 200, {"data": [{"id": id} for id in ids], "has_more": has_more}

        server = Server(events("c", "b", has_more=True), events("a", has_more=False))
        self.assertEqual([one.id async for one in server.client.events.list()], ["c", "b", "a"])
        self.assertEqual(server.asked[1].url.params["before"], "b")

    async def test_many_are_under_way_at_once(self) -> None:
        arrived = 0
        all_there = asyncio.Event()

        async def answer(request: httpx.Request) -> httpx.Response:
            nonlocal arrived
            arrived += 1
            if arrived == 5:
                all_there.set()
            await all_there.wait()
            return httpx.Response(200, json=PAYMENT)

        transport = httpx.MockTransport(answer)
        async with tillgate.AsyncClient("x", "http://till.example", transport=transport) as client:
            told = await asyncio.gather(*(client.payments.retrieve("one") for _ in range(5)))
        self.assertEqual({one.id for one in told}, {PAYMENT["id"]})
        self.assertTrue(client._api._http.is_closed)

    async def test_both_clients_have_the_same_methods(self) -> None:
        def methods(client: Any) -> dict[str, set[str]]:
            parts = {name: part for name, part in vars(client).items() if not name.startswith("_")}
            return {
                name: {one for one in dir(part) if not one.startswith("_")}
                for name, part in parts.items()
            }

        plain = tillgate.Client("x", "http://till.example")
        self.assertEqual(methods(plain), methods(tillgate.AsyncClient("x", "http://till.example")))


if __name__ == "__main__":
    unittest.main()
