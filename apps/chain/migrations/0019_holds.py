"""Staff hold sending, and resolve transfers that nobody expected."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0003_staff_lists'),
        ('chain', '0018_needing_a_person_indexes'),
        ('stores', '0016_member_lists'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='SendingHold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(max_length=500)),
                ('placed_at', models.DateTimeField()),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('lift_reason', models.CharField(blank=True, default='', max_length=500)),
            ],
        ),
        migrations.AddField(
            model_name='unmatchedtransfer',
            name='outcome',
            field=models.CharField(blank=True, choices=[('credited', 'Credited to the store'), ('returned', 'Returned to the sender'), ('kept', 'Kept by the service'), ('ignored', 'Nothing to do')], db_default='', default='', max_length=8),
        ),
        migrations.AddField(
            model_name='unmatchedtransfer',
            name='outcome_reason',
            field=models.CharField(blank=True, db_default='', default='', max_length=500),
        ),
        migrations.AddField(
            model_name='unmatchedtransfer',
            name='resolved_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='sendinghold',
            name='asset',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset'),
        ),
        migrations.AddField(
            model_name='sendinghold',
            name='chain',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
        ),
        migrations.AddField(
            model_name='sendinghold',
            name='placed_by',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='sendinghold',
            constraint=models.CheckConstraint(condition=models.Q(('chain', None), ('asset', None), _connector='OR'), name='sending_hold_of_one_kind'),
        ),
        migrations.AddConstraint(
            model_name='sendinghold',
            constraint=models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('chain', 'asset'), name='sending_hold_once', nulls_distinct=False),
        ),
    ]
