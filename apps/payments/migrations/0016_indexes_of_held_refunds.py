"""One index a beginning: nobody searches for the beginning of an asset or of a digest."""

from django.db import migrations

_UNUSED = (
    "payments_heldrefund_asset_id_ed5f586b_like",
    "payments_refundlink_token_digest_263fe3d9_like",
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0015_one_refund_of_a_held_share'),
    ]

    operations = [
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop)
        for name in _UNUSED
    ]
