"""Tillgate: take crypto payments, refund them, pay out and bill, and verify webhooks.

import tillgate

client = tillgate.Client("svc_sk_test_…", "https://pay.example.com")
payment = client.payments.create(amount="10.00", currency="EUR")

`tillgate.AsyncClient` has the same methods for programs that run in an event loop.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import webhooks
from .amounts import sign_amount
from .calls import Feed, Listing, Options, Page
from .client import Client
from .errors import (
    AuthenticationError,
    ConflictError,
    ConnectionFailed,
    Error,
    InvalidRequestError,
    NotFoundError,
    PermissionDenied,
    RateLimitError,
    ServerError,
    TimedOut,
    Unavailable,
)
from .version import VERSION as __version__

if TYPE_CHECKING:
    from .async_calls import AsyncFeed, AsyncListing
    from .async_client import AsyncClient
    from .generated import models

__all__ = [
    "AsyncClient",
    "AsyncFeed",
    "AsyncListing",
    "AuthenticationError",
    "Client",
    "ConflictError",
    "ConnectionFailed",
    "Error",
    "Feed",
    "InvalidRequestError",
    "Listing",
    "NotFoundError",
    "Options",
    "Page",
    "PermissionDenied",
    "RateLimitError",
    "ServerError",
    "TimedOut",
    "Unavailable",
    "__version__",
    "models",
    "sign_amount",
    "webhooks",
]


_LATER = {
    "AsyncClient": ".async_client",
    "AsyncFeed": ".async_calls",
    "AsyncListing": ".async_calls",
    "models": ".generated.models",
}


def __getattr__(name: str) -> Any:
    """`tillgate.models` and `tillgate.AsyncClient`, once somebody asks for them."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name], __name__)
    return module if name == "models" else getattr(module, name)
