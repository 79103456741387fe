from django.db import migrations, models


class Migration(migrations.Migration):
    """Where the logo that a store has uploaded is kept."""

    dependencies = [("stores", "0002_second_factors")]

    operations = [
        migrations.AddField(
            model_name="store",
            name="logo_name",
            field=models.CharField(blank=True, default="", max_length=200),
            preserve_default=False,
        ),
    ]
