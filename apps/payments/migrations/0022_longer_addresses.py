"""Addresses of any family of networks: 128 characters in place of the 42 of EVM. The trigger and
the check that name one are made again, the check validated by the next migration.
"""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

_TRIGGER = """
CREATE TRIGGER refund_of_held_kept BEFORE UPDATE ON payments_refund FOR EACH ROW
    WHEN ((OLD.held_id IS NOT NULL OR NEW.held_id IS NOT NULL)
        AND (OLD.held_id, OLD.destination_address, OLD.amount_atomic, OLD.asset_id, OLD.payment_id)
            IS DISTINCT FROM (NEW.held_id, NEW.destination_address, NEW.amount_atomic,
                NEW.asset_id, NEW.payment_id))
    EXECUTE FUNCTION payments_guard_refund();
"""
_NO_TRIGGER = "DROP TRIGGER refund_of_held_kept ON payments_refund;"


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0021_fixed_search_path"),
        ("chain", "0022_longer_addresses"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(_NO_TRIGGER, _TRIGGER),
        migrations.RemoveConstraint(model_name="heldrefund", name="held_refund_sent_somewhere"),
        migrations.RunSQL(
            'ALTER TABLE "payments_paymentaddress" ALTER COLUMN "address_id"'
            ' TYPE varchar(128) COLLATE "C"',
            migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            model_name="heldrefund",
            name="payer_address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="heldrefund",
            name="destination_address",
            field=models.CharField(db_collation='C', max_length=128, null=True),
        ),
        migrations.AlterField(
            model_name="refundaddress",
            name="address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="refund",
            name="destination_address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="transferreturn",
            name="destination_address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="withdrawal",
            name="to_address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        AddConstraintNotValid(
            model_name="heldrefund",
            constraint=models.CheckConstraint(
                condition=~models.Q(status="sent")
                | (models.Q(destination_address__isnull=False) & ~models.Q(proof="")),
                name="held_refund_sent_somewhere",
            ),
        ),
        migrations.RunSQL(_TRIGGER, _NO_TRIGGER),
    ]
