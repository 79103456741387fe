"""The API of one store in one mode, for programs that run in an event loop."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import httpx

from .async_calls import AsyncApi
from .calls import Call, Options
from .generated.async_resources import AsyncResources


class AsyncClient(AsyncResources):
    """`await client.payments.create(…)`, `async for payout in client.payouts.list()` and so on:
    the methods of `Client`, with its time limits, retries and idempotency keys.

    Use it as an async context manager, or close it, to give its connections back.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        timeout: float = 30.0,
        max_retries: int = 2,
        account: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if not api_key:
            raise ValueError("api_key is required")
        self._api = AsyncApi(
            api_key,
            base_url,
            timeout=timeout,
            max_retries=max_retries,
            account=account,
            transport=transport,
        )
        self._open(self._api)

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        query: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        options: Options | None = None,
    ) -> Any:
        """Any call, such as `await client.request("GET", "/payments")`, and its JSON as it came."""
        takes_key = idempotency_key is not None
        return await self._api.json(
            Call(method.upper(), path, options, body, query, idempotency_key, takes_key)
        )

    async def close(self) -> None:
        await self._api.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        type_: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<tillgate.AsyncClient {self._api._http.base_url}>"
