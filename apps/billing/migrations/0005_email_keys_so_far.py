"""Email addresses of the customers there are in small letters: a part of them after the other, while others
write; then their index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

PART = 5_000
# The trigger fills the column.
FILL = """
WITH part AS (
    SELECT id FROM billing_customer WHERE id > %(after)s ORDER BY id LIMIT %(part)s
), filled AS (
    UPDATE billing_customer c SET email_key = NULL FROM part
    WHERE c.id = part.id AND c.email_key IS NULL
)
SELECT id FROM part ORDER BY id DESC LIMIT 1
"""


def fill(apps, schema_editor):
    """Of a run that was stopped everything is left that was written."""
    after = '00000000-0000-0000-0000-000000000000'
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(FILL, {'after': after, 'part': PART})
        while rows := cursor.fetchall():
            ((after,),) = rows
            cursor.execute(FILL, {'after': after, 'part': PART})


class Migration(migrations.Migration):
    atomic = False

    dependencies = [('billing', '0004_email_keys')]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexConcurrently(
            model_name='customer',
            index=models.Index(fields=['store', 'mode', 'email_key'], name='customer_by_email_key'),
        ),
    ]
