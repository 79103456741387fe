"""How an asset is swept: from which amount on, at what cost, and after how many days anyway."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models

import apps.core.models


class Migration(migrations.Migration):
    dependencies = [("assets", "0020_one_fee_coin")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="asset",
            name="sweep_minimum_atomic",
            field=apps.core.models.OptionalAtomicField(
                blank=True,
                null=True,
                validators=[MinValueValidator(1, "The minimum sweep must be above zero"), MaxValueValidator(10**60 - 1, "The minimum sweep must be above zero")],
            ),
        ),
        migrations.AddField(
            model_name="asset",
            name="sweep_cost_bps",
            field=models.PositiveSmallIntegerField(
                blank=True,
                null=True,
                validators=[MinValueValidator(1, "A sweep may cost above 0 and up to 100 percent"), MaxValueValidator(10_000, "A sweep may cost above 0 and up to 100 percent")],
            ),
        ),
        migrations.AddField(
            model_name="asset",
            name="sweep_after_days",
            field=models.PositiveSmallIntegerField(
                blank=True,
                null=True,
                validators=[MinValueValidator(1, "The days must be from 1 to 3650"), MaxValueValidator(3_650, "The days must be from 1 to 3650")],
            ),
        ),
        AddConstraintNotValid(
            model_name="asset",
            constraint=models.CheckConstraint(
                condition=(
                    models.Q(sweep_minimum_atomic=None)
                    | models.Q(sweep_minimum_atomic__gte=1, sweep_minimum_atomic__lt=10**60)
                )
                & (
                    models.Q(sweep_cost_bps=None)
                    | models.Q(sweep_cost_bps__gte=1, sweep_cost_bps__lte=10_000)
                )
                & (
                    models.Q(sweep_after_days=None)
                    | models.Q(sweep_after_days__gte=1, sweep_after_days__lte=3_650)
                ),
                name="asset_sweeps_are_bounded",
            ),
        ),
    ]
