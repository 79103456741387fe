"""Stores whose test clock or domain has something due are found by indexes, built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("stores", "0002_shown_notifications")]

    operations = [
        AddIndexConcurrently(
            model_name="store",
            index=models.Index(
                condition=models.Q(("test_clock_target_seconds__isnull", False)),
                fields=["id"],
                name="store_with_clock_asked",
            ),
        ),
        AddIndexConcurrently(
            model_name="store",
            index=models.Index(
                condition=models.Q(
                    models.Q(("checkout_domain", ""), _negated=True), ("deleted_at", None)
                ),
                fields=["checkout_domain_checked_at"],
                name="store_domain_to_check",
            ),
        ),
    ]
