"""Payouts that wait for a second person: the store's rule, and each request with what a person
decided about it.

The database refuses an approver who is the maker, a second decision, and a payout that goes on
without its approval.
"""

from django.db import models

from apps.core.models import Owned
from apps.stores.models import Currency
from apps.stores.models.person_fields import optional_person


class ApprovalRule(Owned):
    """Above which worth, in cents, a store's payouts of a mode need a second person; null: none of
    them does.

    A rule that is loosened keeps `above_cents` till `next_from`, and is `next_above_cents` from
    then on.
    """

    currency = models.CharField(max_length=3, choices=Currency.choices)
    above_cents = models.BigIntegerField(null=True)
    next_above_cents = models.BigIntegerField(null=True)
    next_from = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()  # by the store's clock; `above_cents` counts since then

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "mode"], name="approval_rule_once"),
            models.CheckConstraint(
                condition=(models.Q(above_cents=None) | models.Q(above_cents__gte=0))
                & (
                    models.Q(next_above_cents=None)
                    | models.Q(next_above_cents__gte=0, next_from__isnull=False)
                ),
                name="approval_rule_makes_sense",
            ),
        ]


class PayoutApproval(Owned):
    """A payout or a whole list that one person has asked for and another decides about, once.

    `maker` is who asked, or who made the credential that did; null: nobody knows. Worth and limit
    are as they were then.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        APPROVED = "approved"
        REJECTED = "rejected"
        EXPIRED = "expired"

    status = models.CharField(max_length=8, choices=Status.choices, default=Status.WAITING)
    maker = optional_person()
    made_by = models.CharField(max_length=300)  # what people know the maker by
    currency = models.CharField(max_length=3)
    worth_cents = models.BigIntegerField(null=True)
    above_cents = models.BigIntegerField()
    expires_at = models.DateTimeField()
    decided_by = optional_person()
    decided_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status="waiting", decided_at=None)
                | (~models.Q(status="waiting") & models.Q(decided_at__isnull=False)),
                name="payout_approval_decided_or_not",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="approved")
                | (
                    models.Q(decided_by__isnull=False)
                    & (models.Q(maker=None) | ~models.Q(decided_by=models.F("maker")))
                ),
                name="payout_approval_by_another",
            ),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="payout_approval_of_store"),
            models.Index(
                fields=["expires_at"],
                condition=models.Q(status="waiting"),
                name="payout_approval_waiting",
            ),
            models.Index(
                fields=["store", "mode", "-created_at"],
                condition=models.Q(status="waiting"),
                name="payout_approval_asked",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_status_display()}, requested by {self.made_by}"
