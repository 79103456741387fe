"""What Django adds for LIKE stood beside another index of the same column, and nobody asks for the
beginning of a coin or an address with it."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0025_one_index_of_addresses'),
    ]

    operations = [
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_address_native_chain_id_a68323c0_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_deposit_address_id_8511553d_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_deposit_asset_id_44b0e144_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_deposit_chain_id_2f91c6ac_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_outgoingtransaction_asset_id_57020a9b_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_outgoingtransaction_chain_id_21a68f76_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_outgoingtransaction_receives_asset_id_7a5fb48f_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_signedtransaction_tx_hash_53f99f16_like', migrations.RunSQL.noop),
    ]
