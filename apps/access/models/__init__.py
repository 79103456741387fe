"""Credentials, second factors and what apps were granted."""

from apps.access.models.credentials import (
    AgentCredential,
    ApiKey,
    KeyType,
    KnownBrowser,
    RequestEntry,
    SecondFactor,
    SendingLater,
    SignIn,
)
from apps.access.models.oauth import (
    AccessToken,
    Application,
    DeviceGrant,
    Grant,
    IDToken,
    RefreshToken,
)
from apps.access.models.settings import WaitingPeriodSettings

__all__ = [
    "AccessToken",
    "AgentCredential",
    "ApiKey",
    "Application",
    "DeviceGrant",
    "Grant",
    "IDToken",
    "KeyType",
    "KnownBrowser",
    "RefreshToken",
    "RequestEntry",
    "SecondFactor",
    "SendingLater",
    "SignIn",
    "WaitingPeriodSettings",
]
