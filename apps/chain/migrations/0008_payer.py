"""The sender of coins, as far as somebody has checked: whether a key was shown."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0002_reviewed_assets'),
        ('chain', '0007_halts_that_end'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='PayerRecord',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('address', models.CharField(db_collation='C', max_length=42)),
                ('kind', models.CharField(choices=[('account', 'An account with a key'), ('contract', 'A contract'), ('unproven', 'Nothing shows that it has a key'), ('ours', 'An address of this service')], max_length=8)),
                ('tx_hash', models.CharField(db_collation='C', max_length=66)),
                ('checked_at', models.DateTimeField()),
                ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
            ],
            options={
                'db_table': 'chain_payer',
                'constraints': [models.UniqueConstraint(fields=('chain', 'address'), name='payer_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['account', 'contract', 'unproven', 'ours'])), name='payer_kind_is_known')],
            },
        ),
    ]
