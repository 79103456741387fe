"""Tillgate: take crypto payments, refund them, pay out and bill, and verify webhooks.

import tillgate

client = tillgate.Client("svc_sk_test_…", "https://pay.example.com")
payment = client.payments.create(amount="10.00", currency="EUR")
"""

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
    from .generated import models

__all__ = [
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


def __getattr__(name: str) -> Any:
    """`tillgate.models`, once somebody asks for it."""
    if name != "models":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .generated import models

    return models
