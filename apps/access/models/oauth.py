"""Merchants' OAuth apps, and the codes and tokens that people granted them.

A grant belongs to one app, person, store and mode for ever; codes, tokens and client secrets are
kept as SHA-256 only. All codes and tokens that one consent led to share a `token_family`, and are
revoked together.
"""

import uuid
from typing import Any
from urllib.parse import SplitResult

from django.contrib.postgres.fields import ArrayField
from django.db import models
from oauth2_provider.models import (
    AbstractAccessToken,
    AbstractApplication,
    AbstractDeviceGrant,
    AbstractGrant,
    AbstractIDToken,
    AbstractRefreshToken,
)

from apps.core.ids import IdField
from apps.core.messages.fields import split_url
from apps.core.models import Mode
from apps.stores.models import Store, User

# The name localhost isn't among them: it may lead elsewhere, so its port stays as registered.
LOOPBACK_ADDRESSES = ("127.0.0.1", "::1")


def _without_port(uri: str) -> SplitResult | None:
    """A clean address of the loopback interface on no port; None for every other one."""
    parts = split_url(uri)
    if parts is None or parts.scheme != "http" or parts.hostname not in LOOPBACK_ADDRESSES:
        return None
    return parts._replace(netloc=parts.hostname)


class Application(AbstractApplication):  # type: ignore[misc]  # oauth2_provider has no types
    """A merchant's app. An inactive one gets no codes and its tokens are refused."""

    id = IdField()
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="+")
    website_url = models.CharField(max_length=2048, blank=True)
    logo_url = models.CharField(max_length=2048, blank=True)
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    is_active = models.BooleanField(default=True)

    def redirect_uri_allowed(self, uri: str) -> bool:
        """Exact match. Of a loopback address the port may be any: an app on the computer of its
        user listens where the system lets it (RFC 8252, 7.3)."""
        allowed = self.redirect_uris.split()
        if uri in allowed:
            return True
        anywhere = _without_port(uri)
        return anywhere is not None and any(
            anywhere == _without_port(candidate) for candidate in allowed
        )

    def is_usable(self, request: Any) -> bool:
        return self.is_active


class Grant(AbstractGrant):  # type: ignore[misc]  # oauth2_provider has no types
    """An authorization code. A used one is kept, so that its second use is noticed."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    store = models.ForeignKey(Store, on_delete=models.PROTECT, null=True, related_name="+")
    mode = models.CharField(max_length=4, choices=Mode.choices)
    token_family = models.UUIDField(default=uuid.uuid4, editable=False)
    used_at = models.DateTimeField(null=True)
    # Until then the app sends coins only to addresses that the store knows.
    sends_anywhere_from = models.DateTimeField(null=True)


class AccessToken(AbstractAccessToken):  # type: ignore[misc]  # oauth2_provider has no types
    """An app's token for the merchant's API."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    store = models.ForeignKey(Store, on_delete=models.PROTECT, null=True, related_name="+")
    mode = models.CharField(max_length=4, choices=Mode.choices)
    token_family = models.UUIDField(db_index=True, editable=False)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    sends_anywhere_from = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["application", "store", "mode"])]


class RefreshToken(AbstractRefreshToken):  # type: ignore[misc]  # oauth2_provider has no types
    """Works once: `replaced_at` is when its successor was made, `revoked` when its family was.

    `successor_seed` and the token itself, which isn't kept, make its one successor.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    store = models.ForeignKey(Store, on_delete=models.PROTECT, null=True, related_name="+")
    mode = models.CharField(max_length=4, choices=Mode.choices)
    scope = models.TextField(blank=True)
    expires_at = models.DateTimeField()
    replaced_at = models.DateTimeField(null=True)
    successor_seed = models.BinaryField(null=True)
    sends_anywhere_from = models.DateTimeField(null=True)


class IDToken(AbstractIDToken):  # type: ignore[misc]  # oauth2_provider has no types
    """Never issued: the library's models need each other."""

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )


class DeviceGrant(AbstractDeviceGrant):  # type: ignore[misc]  # oauth2_provider has no types
    """Never issued: the library's models need each other."""

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
