"""One call of the API: address, key, time limits, retries; and lists, which are several."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote

import httpx

from .decoding import decode
from .errors import ConnectionFailed, Error, RateLimitError, TimedOut, error_of
from .version import VERSION

Item = TypeVar("Item")
PREFIX = "/api/v2"
PER_PAGE = 100
BACKOFF_SECONDS = 0.5
BACKOFF_MAX_SECONDS = 8.0
RETRY_AFTER_MAX_SECONDS = 60  # whoever is told to wait longer is told so instead of waiting
RETRIED = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Options:
    """What one call has otherwise than its client. `account` is whom a platform acts for."""

    timeout: float | None = None
    max_retries: int | None = None
    account: str | None = None


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    options: Options | None = None
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] | None = None
    key: str | None = None
    takes_key: bool = False


class Clock(Protocol):
    def __call__(self, seconds: float, /) -> None: ...


def quoted(id: str) -> str:
    """An id in a path. One that would lead somewhere else than to its record is refused."""
    if not isinstance(id, str) or id in ("", ".", ".."):
        raise ValueError("An id can't be empty")
    return quote(id, safe="")


def new_key() -> str:
    """An idempotency key that nobody else has."""
    return str(uuid.uuid4())


class Api:
    """Sends calls with one credential, and reads what they are answered."""

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        timeout: float,
        max_retries: int,
        account: str | None,
        transport: httpx.BaseTransport | None,
        sleep: Clock = time.sleep,
    ) -> None:
        self._options = Options(timeout, max_retries, account)
        self._sleep = sleep
        self._http = httpx.Client(
            base_url=root_of(base_url) + PREFIX,
            headers={
                "Authorization": f"Bearer {api_key}",
                "User-Agent": f"tillgate-python/{VERSION}",
                "Accept": "application/json, application/pdf;q=0.9, text/csv;q=0.9",
            },
            follow_redirects=False,  # a redirect would turn a POST into a GET
            transport=transport,
        )

    def close(self) -> None:
        self._http.close()

    # --- what is answered

    def one(self, call: Call, type_: Any) -> Any:
        return decode(type_, self.json(call))

    def nothing(self, call: Call) -> None:
        self.send(call)

    def file(self, call: Call) -> bytes:
        return self.send(call).content

    def whole(self, call: Call, type_: Any) -> Listing[Any]:
        return Listing(lambda number: self.json(call), type_)

    def pages(self, call: Call, type_: Any) -> Listing[Any]:
        asked = {"per_page": PER_PAGE, **(call.query or {})}

        def read(number: int) -> Any:
            return self.json(replace(call, query={**asked, "page": number}))

        return Listing(read, type_, int(asked.get("page", 1)))

    def feed(self, call: Call, type_: Any) -> Feed[Any]:
        asked = {"per_page": PER_PAGE, **(call.query or {})}

        def read(before: str | None) -> Any:
            more = {} if before is None else {"before": before}
            return self.json(replace(call, query={**asked, **more}))

        return Feed(read, type_)

    def json(self, call: Call) -> Any:
        response = self.send(call)
        return response.json() if response.content else None

    # --- one call, with its retries

    def send(self, call: Call) -> httpx.Response:
        options = self._chosen(call.options)
        key = (call.key or new_key()) if call.takes_key else None
        request = self._request(call, options, key)
        is_repeatable = key is not None or call.method in ("GET", "PATCH")
        attempt = 0
        while True:
            try:
                return self._attempt(request)
            except Error as error:
                if attempt >= (options.max_retries or 0) or not _may_repeat(error, is_repeatable):
                    raise
                wait = error.retry_after if error.retry_after is not None else _backoff(attempt)
            self._sleep(wait)
            attempt += 1

    def _chosen(self, options: Options | None) -> Options:
        if options is None:
            return self._options
        ours = vars(self._options)
        theirs = vars(options)
        return Options(
            **{name: ours[name] if theirs[name] is None else theirs[name] for name in ours}
        )

    def _request(self, call: Call, options: Options, key: str | None) -> httpx.Request:
        headers = {} if key is None else {"Idempotency-Key": key}
        if options.account is not None:
            headers["X-Service-Account"] = options.account
        content = None
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(call.body, ensure_ascii=False, allow_nan=False).encode()
        query = {name.rstrip("_"): _text(one) for name, one in (call.query or {}).items()}
        return self._http.build_request(
            call.method,
            call.path,
            params={name: one for name, one in query.items() if one is not None} or None,
            content=content,
            headers=headers,
            timeout=options.timeout,
        )

    def _attempt(self, request: httpx.Request) -> httpx.Response:
        try:
            response = self._http.send(request)
        except httpx.TimeoutException as error:
            raise TimedOut(f"No answer in time: {error or type(error).__name__}") from error
        except httpx.TransportError as error:
            raise ConnectionFailed(f"No answer: {error or type(error).__name__}") from error
        if response.is_success:
            return response
        raise refusal_of(response)


def refusal_of(response: httpx.Response) -> Error:
    headers = response.headers
    return error_of(
        response.status_code,
        response.text,
        headers.get("X-Request-Id"),
        headers.get("Retry-After"),
    )


def root_of(base_url: str) -> str:
    """Where the service is, with or without the prefix of its API."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ValueError("base_url must be an http or https address") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("base_url must be an http or https address")
    return str(url).rstrip("/").removesuffix(PREFIX)


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _may_repeat(error: Error, is_repeatable: bool) -> bool:
    """After 429 nothing has happened. After anything else it may have: what is safe goes again."""
    if error.retry_after is not None and error.retry_after > RETRY_AFTER_MAX_SECONDS:
        return False
    if isinstance(error, RateLimitError):
        return True
    return is_repeatable and (isinstance(error, ConnectionFailed) or error.status in RETRIED)


def _backoff(attempt: int) -> float:
    """Longer each time, and not everybody at once."""
    longest: float = min(BACKOFF_SECONDS * 2**attempt, BACKOFF_MAX_SECONDS)
    return longest * random.uniform(0.5, 1)  # noqa: S311  # nobody gains by guessing it


# --- lists


@dataclass(frozen=True)
class Page(Generic[Item]):
    data: list[Item]
    page: int
    per_page: int
    total: int
    total_pages: int


class Listing(Generic[Item]):
    """What is listed. Iterate over all of it, which asks for pages on its way, or ask for one."""

    def __init__(self, read: Callable[[int], Any], type_: Any, first: int = 1) -> None:
        self._read = read
        self._type = type_
        self._first = first

    def page(self, number: int | None = None) -> Page[Item]:
        number = self._first if number is None else number
        told = self._read(number)
        rows = told if isinstance(told, list) else told["data"]
        data = [decode(self._type, one) for one in rows]
        figures = {} if isinstance(told, list) else told.get("meta") or told.get("pagination") or {}
        if not figures:
            return Page(data, number, len(data), len(data), number)
        names = ("page", "per_page", "total", "total_pages")
        return Page(data, *(int(figures[name]) for name in names))

    def __iter__(self) -> Iterator[Item]:
        number = self._first
        before = set[Any]()
        while True:
            page = self.page(number)
            ids = {_identity(one) for one in page.data}
            # New records push others onto the next page.
            yield from (one for one in page.data if _identity(one) not in before)
            if number >= page.total_pages:
                return
            number = number + 1
            before = ids


class Feed(Generic[Item]):
    """What happened, newest first. Nothing of it is counted; iterate until you know the rest."""

    def __init__(self, read: Callable[[str | None], Any], type_: Any) -> None:
        self._read = read
        self._type = type_

    def __iter__(self) -> Iterator[Item]:
        before: str | None = None
        while True:
            told = self._read(before)
            yield from (decode(self._type, one) for one in told["data"])
            if not told["has_more"] or not told["data"]:
                return
            before = told["data"][-1]["id"]


def _identity(item: Any) -> Any:
    return getattr(item, "id", None) or id(item)


class Resource:
    def __init__(self, api: Api) -> None:
        self._api = api
