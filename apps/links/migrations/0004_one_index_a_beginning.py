"""An index whose columns begin another one of the same rows answered nothing that the other doesn't, and
each write kept it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('links', '0003_folded_email'),
        ('stores', '0028_one_index_a_beginning'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS links_linkpayment_link_id_b76d1b0a', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS links_paymentlink_store_id_259ca6b7', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS links_paymentlink_token_362e4b68_like', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='linkpayment',
                    name='link',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='links.paymentlink'),
                ),
                migrations.AlterField(
                    model_name='paymentlink',
                    name='store',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                ),
            ],
        ),
    ]
