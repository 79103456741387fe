"""Senders that pay for many people, as exchanges do, are known as such."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chain', '0012_looks_by_time'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RemoveConstraint(model_name='payerrecord', name='payer_kind_is_known'),
        migrations.AlterField(
            model_name='payerrecord',
            name='kind',
            field=models.CharField(choices=[('account', 'An account with a key'), ('contract', 'A contract'), ('unproven', 'Nothing shows that it has a key'), ('ours', 'An address of this service'), ('shared', 'A wallet that pays for many people')], max_length=8),
        ),
        AddConstraintNotValid(
            model_name='payerrecord',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['account', 'contract', 'unproven', 'ours', 'shared'])), name='payer_kind_is_known'),
        ),
    ]
