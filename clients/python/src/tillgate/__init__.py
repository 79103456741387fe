"""Tillgate: take crypto payments, refund them, pay out and bill, and verify webhooks.

import tillgate

client = tillgate.Client("svc_sk_test_…", "https://pay.example.com")
payment = client.payments.create(amount="10.00", currency="EUR")
"""

from . import webhooks
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
from .generated import models
from .version import VERSION as __version__

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
    "webhooks",
]
