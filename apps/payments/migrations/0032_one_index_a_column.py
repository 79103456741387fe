"""What Django adds for LIKE stood beside another index of the same column, and nobody asks for the
beginning of a coin or an address with it."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0031_lines_without_a_unique_id'),
    ]

    operations = [
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS payments_paymentaddress_address_id_ad82ea31_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS payments_paymentaddress_asset_id_c700bc67_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS payments_refund_asset_id_db2040e1_like', migrations.RunSQL.noop),
    ]
