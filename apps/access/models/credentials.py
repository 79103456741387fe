"""Credentials: API keys and agent credentials, and the second factor of a person.

A credential is stored as a SHA-256 hash; its entropy makes that enough. What must be read again is
sealed by core.crypto.
"""

import json
import secrets
import unicodedata
from binascii import unhexlify
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_noop
from django_otp.models import Device, ThrottlingMixin
from django_otp.oath import TOTP

from apps.access.models.oauth import (
    AccessToken,
    Application,
    DeviceGrant,
    Grant,
    IDToken,
    RefreshToken,
)
from apps.access.models.settings import WaitingPeriodSettings
from apps.core import clock, crypto
from apps.core.ids import IdField
from apps.core.models import Owned
from apps.stores.models import User

__all__ = [
    "AccessToken",
    "AgentCredential",
    "ApiKey",
    "Application",
    "DeviceGrant",
    "Grant",
    "IDToken",
    "KeyType",
    "RefreshToken",
    "RequestEntry",
    "SecondFactor",
    "SignIn",
    "WaitingPeriodSettings",
]


class KeyType(models.TextChoices):
    SECRET = "secret", gettext_noop("Secret")
    PUBLISHABLE = "publishable", gettext_noop("Publishable")


class SendingLater:
    """A credential of which `sends_anywhere_from` may lie ahead."""

    sends_anywhere_from: Any

    @property
    def new_until(self) -> datetime | None:
        """Until when it sends coins only to addresses that the store knows; None: anywhere now."""
        until: datetime | None = self.sends_anywhere_from
        return until if until is not None and until > clock.real_now() else None


class ApiKey(SendingLater, Owned):
    """A merchant's key of one mode. Scopes are fixed when it is made; `user` is who answers for it,
    nobody for the operator's."""

    user = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    name = models.CharField(max_length=100, blank=True)
    key_type = models.CharField(max_length=11, choices=KeyType.choices, default=KeyType.SECRET)
    secret_hash = models.BinaryField(max_length=32, unique=True)
    prefix = models.CharField(max_length=12)
    last_four = models.CharField(max_length=4)
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # Until then it sends coins only to addresses that the store knows; null: anywhere at once.
    sends_anywhere_from = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"]),
            # What staff search for over all stores.
            models.Index(fields=["last_four"], name="api_key_by_last_four"),
        ]


class AgentCredential(SendingLater, Owned):
    """A software agent's credential for the agent API, and for nothing else.

    `user` is who answers for it, or let in the app that made it; nobody for the operator's.
    """

    name = models.CharField(max_length=100, blank=True)
    principal = models.CharField(max_length=255, blank=True)
    secret_hash = models.BinaryField(max_length=32, unique=True)
    token_prefix = models.CharField(max_length=16)
    last_four = models.CharField(max_length=4)
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    sends_anywhere_from = models.DateTimeField(null=True, blank=True)  # as of an API key
    application = models.ForeignKey(
        Application,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )

    class Meta:
        indexes = [models.Index(fields=["store", "mode", "-created_at"])]
        constraints = [
            models.UniqueConstraint(
                fields=["application", "user", "store", "mode"], name="agent_credential_of_an_app"
            )
        ]


class RequestEntry(Owned):
    """A call of the API with a credential. Never a query or a secret, and bodies with personal data
    masked (decision 706); kept for settings.REQUEST_LOG_DAYS. A table of its own for each day
    (decision 360): what asks by time reads no other."""

    HAS_DAYS = True

    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    method = models.CharField(max_length=7)
    route = models.CharField(max_length=100)  # the line of the route table
    path = models.CharField(max_length=200)
    status = models.PositiveSmallIntegerField()
    credential_kind = models.CharField(max_length=11)
    credential_id = models.UUIDField(null=True)
    credential_name = models.CharField(max_length=255)
    caller = models.CharField(max_length=64)
    request_id = models.CharField(max_length=64)
    duration_ms = models.PositiveIntegerField()
    idempotency_key = models.CharField(max_length=255, blank=True)
    is_replay = models.BooleanField()
    body_digest = models.BinaryField(max_length=32, null=True)
    error_code = models.CharField(max_length=64, blank=True)
    error_message = models.CharField(max_length=200, blank=True)
    record_id = models.UUIDField(null=True)  # the last id in the path
    # JSON as far as it is kept (apps.api.plumbing.kept_bodies); null where none is.
    request_body = models.TextField(null=True)
    response_body = models.TextField(null=True)

    # Of a replay, as apps.access.request_log reads it.
    first_body_digest: bytes | None = None
    is_body_different = False

    class Meta:
        verbose_name_plural = "request entries"
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="request_of_store"),
            models.Index(
                fields=["store", "idempotency_key"],
                condition=~models.Q(idempotency_key=""),
                name="request_by_key",
            ),
            models.Index(fields=["store", "request_id"], name="request_by_id"),
            models.Index(
                fields=["store", "record_id"],
                condition=models.Q(record_id__isnull=False),
                name="request_by_record",
            ),
            # The few that didn't succeed.
            *(
                models.Index(
                    fields=["store", "mode", "-created_at"],
                    condition=models.Q(status__gte=first, status__lt=first + 100),
                    name=name,
                )
                for name, first in (
                    ("request_redirected", 300),
                    ("request_rejected", 400),
                    ("request_failed", 500),
                )
            ),
        ]


def _typed(code: Any) -> str:
    """Code without spaces, in the digits of its app whatever the keyboard."""
    return "".join(unicodedata.normalize("NFKC", str(code)).split())


class SecondFactor(ThrottlingMixin, Device):  # type: ignore[misc]  # django_otp has no types
    """A person's authenticator app and backup codes. One code works once; wrong ones wait longer
    and longer, up to a ceiling.

    Backup codes are too long to be guessed and never wait: who knows the password can't keep the
    owner out.
    """

    STEP_SECONDS = 30
    DIGITS = 6
    TOLERANCE_STEPS = 1
    WAIT_SECONDS_MAX = 900

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="+")
    sealed_key = models.TextField()
    sealed_backup_codes = models.TextField(blank=True)
    # The step of the last code that was taken: only later ones work.
    last_step = models.BigIntegerField(default=-1)
    created_at = models.DateTimeField()

    def place(self, column: str) -> str:
        return f"access_secondfactor:{self.user_id}:{column}"

    @property
    def key(self) -> str:
        """The shared key in hex."""
        return crypto.decrypt(self.sealed_key, self.place("sealed_key"))

    @property
    def backup_codes(self) -> list[str]:
        """Those that haven't been used."""
        if not self.sealed_backup_codes:
            return []
        codes: list[str] = json.loads(
            crypto.decrypt(self.sealed_backup_codes, self.place("sealed_backup_codes"))
        )
        return codes

    def keep_backup_codes(self, codes: Sequence[str]) -> None:
        self.sealed_backup_codes = crypto.encrypt(
            json.dumps(list(codes)), self.place("sealed_backup_codes")
        )

    def get_throttle_factor(self) -> int:
        return 1

    def verify_is_allowed(self) -> tuple[bool, object]:
        """The library doubles the wait after each wrong code without an end."""
        failed_at = self.throttling_failure_timestamp
        if failed_at is not None and clock.real_now() - failed_at >= timedelta(
            seconds=self.WAIT_SECONDS_MAX
        ):
            return True, None
        allowed: tuple[bool, object] = super().verify_is_allowed()
        return allowed

    def verify_token(self, token: Any) -> bool:
        """Take a code of the app or a backup code. The caller holds the row's lock
        (`django_otp.verify_token`)."""
        text = _typed(token).replace("-", "").upper()
        if not self._takes_backup_code(text):
            if not self.verify_is_allowed()[0]:
                return False
            if not self._takes_app_code(text):
                self.throttle_increment(commit=True)
                return False
        self.throttle_reset(commit=False)
        self.save()
        return True

    def takes_at_once(self, token: Any) -> bool:
        """True if it is the app's code now, and this call took it: the row still was as it has been
        read. Else nothing has happened."""
        text = _typed(token)
        read = {
            "last_step": self.last_step,
            "throttling_failure_timestamp": self.throttling_failure_timestamp,
            "throttling_failure_count": self.throttling_failure_count,
        }
        if not self.verify_is_allowed()[0] or not self._takes_app_code(text):
            return False
        rows = type(self).objects.filter(
            pk=self.pk, confirmed=True, sealed_key=self.sealed_key, **read
        )
        self.throttle_reset(commit=False)
        is_taken: bool = rows.update(**{name: getattr(self, name) for name in read}) == 1
        if not is_taken:
            for name, value in read.items():
                setattr(self, name, value)
        return is_taken

    def _takes_app_code(self, text: str) -> bool:
        if len(text) != self.DIGITS or not text.isascii() or not text.isdigit():
            return False
        totp = TOTP(unhexlify(self.key), self.STEP_SECONDS, 0, self.DIGITS)
        totp.time = clock.real_now().timestamp()
        if not totp.verify(int(text), self.TOLERANCE_STEPS, self.last_step + 1):
            return False
        self.last_step = totp.t()
        return True

    def _takes_backup_code(self, text: str) -> bool:
        codes = self.backup_codes if text.isascii() else []
        remaining = [code for code in codes if not secrets.compare_digest(code, text)]
        if len(remaining) == len(codes):
            return False
        self.keep_backup_codes(remaining)
        return True


class KnownBrowser(models.Model):
    """A kind of browser in a network from which a person has signed in: the person gets an email
    about another. `digest` names both."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    digest = models.CharField(max_length=64)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "digest"], name="known_browser_once")
        ]
        indexes = [models.Index(fields=["seen_at"], name="known_browser_by_age")]


class SignIn(models.Model):
    """A signed-in browser of a person. Ended by hand, by age, or when the person's
    `session_version` moves on."""

    id = IdField()
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    address = models.CharField(max_length=64, blank=True)
    browser = models.CharField(max_length=300, blank=True)
    session_version = models.PositiveIntegerField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-seen_at"], name="sign_in_of_user")]
