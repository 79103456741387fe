"""Emails of test mode as their readers would have got them."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from apps.core.models import Owned


class TestLetter(Owned):
    """An email in a store's name in test mode: shown in the dashboard, no matter who it is for.
    `created_at` is the machine's."""

    __test__ = False  # a model, not a test

    key = models.CharField(max_length=200)
    to = models.EmailField(max_length=254)
    template = models.CharField(max_length=100)
    subject = models.CharField(max_length=500)
    text = models.TextField()
    is_sent = models.BooleanField()  # to one of the store's own people as well

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key"], name="test_letter_once")]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="test_letter_of_store"),
            BrinIndex(fields=["created_at"], name="test_letter_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.template} {self.pk}"
