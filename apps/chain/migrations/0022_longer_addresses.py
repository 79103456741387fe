"""Addresses of any family of networks: 128 characters in place of the 42 of EVM. No row is written
again. Unique indexes of some rows are, as nothing may be written twice meanwhile: those of nonces
and of sweeps under way of outgoing transactions, and that of unexplained balances.
"""

from django.db import migrations, models

# The key of addresses and the columns that refer to it: as one operation of Django it would make
# each reference again, and look at every row for it.
_KEYS = (
    'ALTER TABLE "chain_address" ALTER COLUMN "address" TYPE varchar(128) COLLATE "C"',
    'ALTER TABLE "chain_deposit" ALTER COLUMN "address_id" TYPE varchar(128) COLLATE "C"',
    'ALTER TABLE "chain_unmatchedtransfer" ALTER COLUMN "address_id" TYPE varchar(128) COLLATE "C"',
    'ALTER TABLE "chain_balancecheck" ALTER COLUMN "address_id" TYPE varchar(128) COLLATE "C"',
    'ALTER TABLE "chain_addresslook" ALTER COLUMN "address_id" TYPE varchar(128) COLLATE "C"',
    'ALTER TABLE "chain_addresstolook" ALTER COLUMN "address_id" TYPE varchar(128) COLLATE "C"',
    'ALTER TABLE "chain_unexplainedbalance" ALTER COLUMN "address_id" TYPE varchar(128) COLLATE "C"',
    'ALTER TABLE "chain_gasleft" ALTER COLUMN "address_id" TYPE varchar(128) COLLATE "C"',
)


class Migration(migrations.Migration):
    dependencies = [("chain", "0021_indexes_without_addresses")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="address",
                    name="address",
                    field=models.CharField(
                        db_collation="C", max_length=128, primary_key=True, serialize=False
                    ),
                ),
            ],
            database_operations=[migrations.RunSQL(key, migrations.RunSQL.noop) for key in _KEYS],
        ),
        migrations.RunSQL(
            'ALTER TABLE "chain_deposit" ADD CONSTRAINT "deposit_reference_once"'
            ' UNIQUE USING INDEX "deposit_reference_once"',
            migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            model_name="hotwallet",
            name="address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="outgoingtransaction",
            name="to_address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="outgoingtransaction",
            name="from_address",
            field=models.CharField(blank=True, db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="obstacle",
            name="holder",
            field=models.CharField(blank=True, db_collation='C', default='', max_length=128),
        ),
        migrations.AlterField(
            model_name="unknowntransaction",
            name="from_address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="unknowntransaction",
            name="to_address",
            field=models.CharField(blank=True, db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="deposit",
            name="from_address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="payerrecord",
            name="address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="unmatchedtransfer",
            name="from_address",
            field=models.CharField(max_length=128),
        ),
    ]
