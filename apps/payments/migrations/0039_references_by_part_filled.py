"""The references of payments made before, and then the index of their parts; both while others write."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Substr

AT_ONCE = 10_000
FILL = """
WITH taken AS (
    SELECT id, reference FROM payments_payment WHERE id > %s ORDER BY id LIMIT %s
), added AS (
    INSERT INTO payments_paymentreference (payment_id, reference) SELECT id, reference FROM taken
    ON CONFLICT (payment_id) DO NOTHING
)
SELECT id FROM taken ORDER BY id DESC LIMIT 1
"""


def fill(apps, schema_editor):
    row = (uuid.UUID(int=0),)
    with schema_editor.connection.cursor() as cursor:
        while row is not None:
            cursor.execute(FILL, [row[0], AT_ONCE])
            row = cursor.fetchone()


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0038_references_by_part'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexConcurrently(
            model_name='paymentreference',
            index=GinIndex(
                models.Func(
                    *(Substr('reference', place, 3) for place in range(1, 15)),
                    output_field=ArrayField(base_field=models.TextField(), size=None),
                    template='ARRAY[%(expressions)s]',
                ),
                fastupdate=False,
                name='payment_reference_parts',
            ),
        ),
    ]
