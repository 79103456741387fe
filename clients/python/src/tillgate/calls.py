"""One call of the API: address, key, time limits, retries; and lists, which are several."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    """Options of one call in place of its client's. `account` is the store a platform acts for."""

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


class Requests:
    """Calls as requests with one credential, and whether one that failed is sent again."""

    _http: httpx.Client | httpx.AsyncClient

    def __init__(self, options: Options) -> None:
        self._options = options

    def _prepared(self, call: Call) -> tuple[httpx.Request, Retries]:
        options = self._chosen(call.options)
        key = (call.key or new_key()) if call.takes_key else None
        is_repeatable = key is not None or call.method in ("GET", "PATCH")
        return self._request(call, options, key), Retries(options.max_retries or 0, is_repeatable)

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


class Retries:
    """How often a call is sent again, and after how many seconds."""

    def __init__(self, most: int, is_repeatable: bool) -> None:
        self._most = most
        self._is_repeatable = is_repeatable
        self._attempt = 0

    def wait_after(self, error: Error) -> float:
        """Raises the error when the call isn't sent again."""
        if self._attempt >= self._most or not _may_repeat(error, self._is_repeatable):
            raise error
        wait = _backoff(self._attempt) if error.retry_after is None else error.retry_after
        self._attempt += 1
        return wait


def http_options(api_key: str, base_url: str) -> dict[str, Any]:
    """Arguments of the HTTP client of either kind."""
    return {
        "base_url": root_of(base_url) + PREFIX,
        "headers": {
            "Authorization": f"Bearer {api_key}",
            "User-Agent": f"tillgate-python/{VERSION}",
            "Accept": "application/json, application/pdf;q=0.9, text/csv;q=0.9",
        },
        "follow_redirects": False,  # a redirect would turn a POST into a GET
    }


class Api(Requests):
    """Sends calls, and reads what they are answered."""

    _http: httpx.Client

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
        super().__init__(Options(timeout, max_retries, account))
        self._sleep = sleep
        self._http = httpx.Client(**http_options(api_key, base_url), transport=transport)

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
        request, retries = self._prepared(call)
        while True:
            try:
                with failures():
                    response = self._http.send(request)
                return checked(response)
            except Error as error:
                wait = retries.wait_after(error)
            self._sleep(wait)


@contextmanager
def failures() -> Iterator[None]:
    """Names failures of the connection as errors of this package."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise TimedOut(f"No answer in time: {error or type(error).__name__}") from error
    except httpx.TransportError as error:
        raise ConnectionFailed(f"No answer: {error or type(error).__name__}") from error


def checked(response: httpx.Response) -> httpx.Response:
    """The answer of a call that succeeded. Raises Error."""
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


def page_of(told: Any, type_: Any, number: int) -> Page[Any]:
    """A page as it was answered; a list without figures is one page."""
    rows = told if isinstance(told, list) else told["data"]
    data = [decode(type_, one) for one in rows]
    figures = {} if isinstance(told, list) else told.get("meta") or told.get("pagination") or {}
    if not figures:
        return Page(data, number, len(data), len(data), number)
    names = ("page", "per_page", "total", "total_pages")
    return Page(data, *(int(figures[name]) for name in names))


class Listing(Generic[Item]):
    """Items of a list. Iterate over all, which asks for pages on its way, or ask for one."""

    def __init__(self, read: Callable[[int], Any], type_: Any, first: int = 1) -> None:
        self._read = read
        self._type = type_
        self._first = first

    def page(self, number: int | None = None) -> Page[Item]:
        number = self._first if number is None else number
        return page_of(self._read(number), self._type, number)

    def __iter__(self) -> Iterator[Item]:
        number = self._first
        before = set[Any]()
        while True:
            page = self.page(number)
            ids = {identity(one) for one in page.data}
            # New records push others onto the next page.
            yield from (one for one in page.data if identity(one) not in before)
            if number >= page.total_pages:
                return
            number = number + 1
            before = ids


class Feed(Generic[Item]):
    """Events, newest first. Nothing of them is counted; iterate until you know the rest."""

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


def identity(item: Any) -> Any:
    return getattr(item, "id", None) or id(item)


class Resource:
    def __init__(self, api: Api) -> None:
        self._api = api
