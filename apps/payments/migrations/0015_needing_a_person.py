"""Whose late deposits wait."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('assets', '0002_rates_are_compared'),
        ('chain', '0017_needing_a_person'),
        ('payments', '0014_searched'),
        ('stores', '0016_member_lists'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='latedeposit',
            name='mode',
            field=models.CharField(blank=True, db_default='', default='', max_length=4),
        ),
        migrations.AddField(
            model_name='latedeposit',
            name='store',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
        ),
    ]
