"""Calls of the API and lists, for programs that run in an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any, Generic

import httpx

from .calls import (
    PER_PAGE,
    Call,
    Item,
    Options,
    Page,
    Requests,
    checked,
    failures,
    http_options,
    identity,
    page_of,
)
from .decoding import decode
from .errors import Error


class AsyncApi(Requests):
    """Sends calls, and reads what they are answered."""

    _http: httpx.AsyncClient

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        timeout: float,
        max_retries: int,
        account: str | None,
        transport: httpx.AsyncBaseTransport | None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(Options(timeout, max_retries, account))
        self._sleep = sleep
        self._http = httpx.AsyncClient(**http_options(api_key, base_url), transport=transport)

    async def close(self) -> None:
        await self._http.aclose()

    async def one(self, call: Call, type_: Any) -> Any:
        return decode(type_, await self.json(call))

    async def nothing(self, call: Call) -> None:
        await self.send(call)

    async def file(self, call: Call) -> bytes:
        return (await self.send(call)).content

    def whole(self, call: Call, type_: Any) -> AsyncListing[Any]:
        return AsyncListing(lambda number: self.json(call), type_)

    def pages(self, call: Call, type_: Any) -> AsyncListing[Any]:
        asked = {"per_page": PER_PAGE, **(call.query or {})}

        def read(number: int) -> Awaitable[Any]:
            return self.json(replace(call, query={**asked, "page": number}))

        return AsyncListing(read, type_, int(asked.get("page", 1)))

    def feed(self, call: Call, type_: Any) -> AsyncFeed[Any]:
        asked = {"per_page": PER_PAGE, **(call.query or {})}

        def read(before: str | None) -> Awaitable[Any]:
            more = {} if before is None else {"before": before}
            return self.json(replace(call, query={**asked, **more}))

        return AsyncFeed(read, type_)

    async def json(self, call: Call) -> Any:
        response = await self.send(call)
        return response.json() if response.content else None

    async def send(self, call: Call) -> httpx.Response:
        request, retries = self._prepared(call)
        while True:
            try:
                with failures():
                    response = await self._http.send(request)
                return checked(response)
            except Error as error:
                wait = retries.wait_after(error)
            await self._sleep(wait)


class AsyncListing(Generic[Item]):
    """A list. Iterate over all of it, which asks for pages on its way, or ask for one."""

    def __init__(self, read: Callable[[int], Awaitable[Any]], type_: Any, first: int = 1) -> None:
        self._read = read
        self._type = type_
        self._first = first

    async def page(self, number: int | None = None) -> Page[Item]:
        number = self._first if number is None else number
        return page_of(await self._read(number), self._type, number)

    async def __aiter__(self) -> AsyncIterator[Item]:
        number = self._first
        before = set[Any]()
        while True:
            page = await self.page(number)
            for one in page.data:
                if identity(one) not in before:  # new records push others onto the next page
                    yield one
            if number >= page.total_pages:
                return
            number += 1
            before = {identity(one) for one in page.data}


class AsyncFeed(Generic[Item]):
    """Events, newest first. Nothing of it is counted; iterate until you know the rest."""

    def __init__(self, read: Callable[[str | None], Awaitable[Any]], type_: Any) -> None:
        self._read = read
        self._type = type_

    async def __aiter__(self) -> AsyncIterator[Item]:
        before: str | None = None
        while True:
            told = await self._read(before)
            for one in told["data"]:
                yield decode(self._type, one)
            if not told["has_more"] or not told["data"]:
                return
            before = told["data"][-1]["id"]


class AsyncResource:
    def __init__(self, api: AsyncApi) -> None:
        self._api = api
