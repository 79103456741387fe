"""The API of one store in one mode, which the key decides."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import httpx

from .calls import Api, Call, Options
from .generated.resources import Resources


class Client(Resources):
    """`client.payments.create(…)`, `client.payouts.list()` and so on: a method per operation.

    `timeout` is in seconds and for one attempt. What is safe to repeat is repeated `max_retries`
    times; calls that create or move money send an idempotency key, made once per call unless
    yours is given. Use it as a context manager, or close it, to give its connections back.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        timeout: float = 30.0,
        max_retries: int = 2,
        account: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not api_key:
            raise ValueError("api_key is required")
        self._api = Api(
            api_key,
            base_url,
            timeout=timeout,
            max_retries=max_retries,
            account=account,
            transport=transport,
        )
        self._open(self._api)

    def request(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        query: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        options: Options | None = None,
    ) -> Any:
        """Any call, such as `client.request("GET", "/payments")`, and its JSON as it came."""
        takes_key = idempotency_key is not None
        return self._api.json(
            Call(method.upper(), path, options, body, query, idempotency_key, takes_key)
        )

    def close(self) -> None:
        self._api.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        type_: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tillgate.Client {self._api._http.base_url}>"
