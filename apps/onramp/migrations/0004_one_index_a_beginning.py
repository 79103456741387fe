"""An index whose columns begin another one of the same rows answered nothing that the other doesn't, and
each write kept it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('onramp', '0003_words_of_choices'),
        ('payments', '0036_one_index_a_beginning'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS onramp_callback_credential_id_dee98f19', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS onramp_fundingsession_asset_id_1f15a5ee_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS onramp_fundingsession_payment_id_da9a6eb5', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='callback',
                    name='credential',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='onramp.credential'),
                ),
                migrations.AlterField(
                    model_name='fundingsession',
                    name='payment',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment'),
                ),
            ],
        ),
    ]
