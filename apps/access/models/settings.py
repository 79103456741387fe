"""Length of the waiting period of destinations and credentials in live mode."""

from typing import ClassVar

from django.db import models

from apps.stores.models.settings import StoreSettings


class WaitingPeriodSettings(StoreSettings):
    """`cooling_hours` counts until `cooling_hours_next_from`, where a shorter time is to come."""

    cooling_hours = models.PositiveSmallIntegerField(default=24, db_default=24)
    cooling_hours_next = models.PositiveSmallIntegerField(null=True, blank=True)
    cooling_hours_next_from = models.DateTimeField(null=True, blank=True)

    labels: ClassVar = {
        "cooling_hours": "Waiting period for new destinations",
        "cooling_hours_next": "Waiting period from the next change",
        "cooling_hours_next_from": "Next waiting period applies from",
    }

    class Meta:
        db_table = "access_coolingsettings"  # as it was first called
        constraints = [
            models.CheckConstraint(
                condition=models.Q(cooling_hours__lte=72)
                & (models.Q(cooling_hours_next=None) | models.Q(cooling_hours_next__lte=72)),
                name="cooling_is_short",
            )
        ]
