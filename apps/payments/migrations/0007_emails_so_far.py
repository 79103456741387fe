"""Emails of customers that the payments there are name: a part of them after the other, while
others write. The index of the expression, which found them before, is dropped."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations

PART = 10_000
# The last of the payments that come after one, as far as a part goes.
LAST = """
SELECT id FROM (
    SELECT id FROM payments_payment WHERE id > %(after)s ORDER BY id LIMIT %(part)s) part
ORDER BY id DESC LIMIT 1
"""
# What the triggers have written since is newer.
FILL = """
INSERT INTO payments_paymentemail (payment_id, store_id, mode, email, created_at)
SELECT id, store_id, mode, left(lower(metadata ->> 'customer_email'), 254), created_at
FROM payments_payment
WHERE id > %(after)s AND id <= %(last)s AND metadata ->> 'customer_email' IS NOT NULL
ON CONFLICT (payment_id) DO NOTHING
"""


def fill(apps, schema_editor):
    """Of a run that was stopped everything is left that was written, and the next begins anew."""
    after = '00000000-0000-0000-0000-000000000000'
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(LAST, {'after': after, 'part': PART})
        while rows := cursor.fetchall():
            ((last,),) = rows
            cursor.execute(FILL, {'after': after, 'last': last})
            after = last
            cursor.execute(LAST, {'after': after, 'part': PART})


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0006_emails'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        RemoveIndexConcurrently(model_name='payment', name='payment_by_customer_email'),
    ]
