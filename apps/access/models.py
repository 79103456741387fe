"""Credentials: API keys and agent credentials. The secret is stored as a SHA-256 hash; its entropy makes that enough."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.core.models import Owned


class KeyType(models.TextChoices):
    SECRET = "secret"
    PUBLISHABLE = "publishable"


class ApiKey(Owned):
    """A merchant's key of one mode. Scopes are fixed when it is made."""

    name = models.CharField(max_length=100, blank=True)
    key_type = models.CharField(max_length=11, choices=KeyType.choices, default=KeyType.SECRET)
    secret_hash = models.BinaryField(max_length=32, unique=True)
    prefix = models.CharField(max_length=12)
    last_four = models.CharField(max_length=4)
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["store", "mode", "-created_at"])]


class AgentCredential(Owned):
    """What a software agent presents on the agent API, and nowhere else."""

    name = models.CharField(max_length=100, blank=True)
    principal = models.CharField(max_length=255, blank=True)
    secret_hash = models.BinaryField(max_length=32, unique=True)
    token_prefix = models.CharField(max_length=16)
    last_four = models.CharField(max_length=4)
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["store", "mode", "-created_at"])]
