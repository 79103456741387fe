"""A chain may have several hot wallets: each has a number, and a key made of chain and number. What
is there is the first of its chain, and keeps its key."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Cast, Concat

# The column is generated, so that processes of the release before, which know no number, write rows
# as they did. The table has a row a chain.
_FORWARD = [
    'ALTER TABLE chain_hotwallet ADD COLUMN number smallint DEFAULT 0 NOT NULL CONSTRAINT chain_hotwallet_number_check CHECK (number >= 0)',
    "ALTER TABLE chain_hotwallet ADD COLUMN id varchar(30) GENERATED ALWAYS AS (CASE WHEN number = 0 THEN chain_id ELSE chain_id || ':' || number::varchar END) STORED NOT NULL",
    'ALTER TABLE chain_hotwallet DROP CONSTRAINT chain_hotwallet_pkey',
    'ALTER TABLE chain_hotwallet ADD CONSTRAINT chain_hotwallet_pkey PRIMARY KEY (id)',
    'DROP INDEX IF EXISTS chain_hotwallet_chain_id_1708c66f_like',
]


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0004_words_of_choices'),
        ('chain', '0026_one_index_a_column'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(statement) for statement in _FORWARD],
            state_operations=[
                migrations.AddField(
                    model_name='hotwallet',
                    name='number',
                    field=models.PositiveSmallIntegerField(db_default=0, default=0),
                ),
                migrations.AddField(
                    model_name='hotwallet',
                    name='id',
                    field=models.GeneratedField(db_persist=True, expression=models.Case(models.When(number=0, then=models.F('chain_id')), default=Concat('chain_id', models.Value(':'), Cast('number', models.CharField()))), output_field=models.CharField(max_length=30), primary_key=True, serialize=False),
                ),
                migrations.AlterField(
                    model_name='hotwallet',
                    name='chain',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
                ),
            ],
        ),
        migrations.AddField(
            model_name='hotwallet',
            name='without_gas_since',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name='hotwallet',
            constraint=models.UniqueConstraint(fields=('chain', 'number'), name='hot_wallet_lane_once'),
        ),
        migrations.AddConstraint(
            model_name='hotwallet',
            constraint=models.UniqueConstraint(fields=('chain', 'address'), name='hot_wallet_address_once'),
        ),
    ]
