from django.db import migrations, models

NAMES = ("product", "price", "customer", "subscription", "invoice")


def _once(name: str) -> models.UniqueConstraint:
    fields = ("store", "mode", "form_key")
    return models.UniqueConstraint(condition=models.Q(("form_key__isnull", False)), fields=fields, name=f"{name}_once_per_form")


class Migration(migrations.Migration):
    """What a page's form made carries the form's key, so that a form that is sent twice makes one record."""

    dependencies = [("billing", "0004_letters_and_late_money")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        *(migrations.AddField(name, "form_key", models.CharField(editable=False, max_length=32, null=True)) for name in NAMES),
        *(migrations.AddConstraint(name, _once(name)) for name in NAMES),
    ]
