"""The points up to which everything was verified: one row per run of `verify_ledger` without
findings, never changed.

A run since a point trusts what was committed before it and asks about the rest.
"""

from django.db import models


class VerifiedPoint(models.Model):
    """`boundary_xid`: every row that a transaction before it wrote was seen by the run. It means
    something in the database of that name alone (apps/audit/points.py)."""

    verified_at = models.DateTimeField()
    boundary_xid = models.BigIntegerField()
    database_name = models.CharField(max_length=60)
    # Table -> rows written before the boundary, of the tables of which no row ever changes.
    row_counts = models.JSONField()
    # Table -> counts and hashes of what is written once (apps/audit/kept.py).
    facts = models.JSONField(null=True)
    is_whole = models.BooleanField()
    is_with_chain = models.BooleanField()
    # The point that it began at; null when everything was read.
    since = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    audit_seal = models.CharField(max_length=90, blank=True)
    payment_seal = models.CharField(max_length=90, blank=True)
    verified_by = models.CharField(max_length=255)
    took_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.pk}, {self.verified_at:%Y-%m-%d %H:%M}"
