"""A payment may be held open and card-funded, and may need a person."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0006_test_payments"),
    ]

    operations = [
        migrations.AddField(
            model_name="payment",
            name="card_shortfall_bps",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="payment",
            name="held_open_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="payment",
            name="is_card_funded",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="payment",
            name="needs_attention",
            field=models.CharField(blank=True, default="", max_length=20),
        ),
    ]
