"""An index whose columns begin another one of the same rows answered nothing that the other doesn't, and
each write kept it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('access', '0015_one_index_a_beginning'),
        ('agents', '0006_newest_of_all'),
        ('assets', '0005_one_index_a_beginning'),
        ('stores', '0028_one_index_a_beginning'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_agentpayoutcap_asset_id_17c7d462_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_agentpayoutcap_credential_id_b5e62d44', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_mandate_asset_id_5e6fafe6_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_mandate_credential_id_b4472e12', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_mandate_store_id_4496f826', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_paymentoffer_asset_id_77120ca2_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_paymentoffer_pay_to_id_2e07751c_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_settlement_asset_id_7b5e02aa_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_settlement_credential_id_d47cdda9', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_settlement_mandate_id_2af1cd0f', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_settlement_store_id_acca4d77', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_signedpayment_chain_id_0cf07449', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_signedpayment_chain_id_0cf07449_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS agents_signedpayment_store_id_ad28be05', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='agentpayoutcap',
                    name='credential',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='access.agentcredential'),
                ),
                migrations.AlterField(
                    model_name='mandate',
                    name='credential',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='access.agentcredential'),
                ),
                migrations.AlterField(
                    model_name='mandate',
                    name='store',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                ),
                migrations.AlterField(
                    model_name='settlement',
                    name='credential',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='access.agentcredential'),
                ),
                migrations.AlterField(
                    model_name='settlement',
                    name='mandate',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.mandate'),
                ),
                migrations.AlterField(
                    model_name='settlement',
                    name='store',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                ),
                migrations.AlterField(
                    model_name='signedpayment',
                    name='chain',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
                ),
                migrations.AlterField(
                    model_name='signedpayment',
                    name='store',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                ),
            ],
        ),
    ]
