"""An index whose columns begin another one of the same rows answered nothing that the other doesn't, and
each write kept it."""

import django.db.models.deletion
from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0005_one_index_a_beginning'),
        ('chain', '0028_sweeps_by_address'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_balancecheck_address_id_5e826038_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_balancecheck_chain_id_dcdd8f08', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_balancecheck_chain_id_dcdd8f08_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_block_chain_id_e3b64ef2', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_block_chain_id_e3b64ef2_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_deposit_chain_id_2f91c6ac', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_head_chain_id_aca8e27e_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_outgoingtransaction_asset_id_57020a9b', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_sendinghold_asset_id_23be24a2_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_sendinghold_chain_id_a10d7b7f_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_unknowntransaction_chain_id_9ce53699', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_unknowntransaction_chain_id_9ce53699_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_unknowntransaction_tx_hash_763bdab7_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_unmatchedtransfer_address_id_5de1dd6f_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_unmatchedtransfer_asset_id_ee3ee917_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_unmatchedtransfer_chain_id_36edf99d', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_unmatchedtransfer_chain_id_36edf99d_like', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='balancecheck',
                    name='chain',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
                ),
                migrations.AlterField(
                    model_name='block',
                    name='chain',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
                ),
                migrations.AlterField(
                    model_name='deposit',
                    name='chain',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
                ),
                migrations.AlterField(
                    model_name='outgoingtransaction',
                    name='asset',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset'),
                ),
                migrations.AlterField(
                    model_name='unknowntransaction',
                    name='chain',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
                ),
                migrations.AlterField(
                    model_name='unmatchedtransfer',
                    name='chain',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
                ),
            ],
        ),
        RemoveIndexConcurrently(
            model_name='deposit',
            name='chain_depos_address_ef8b1e_idx',
        ),
    ]
