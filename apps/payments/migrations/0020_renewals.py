"""Which payment took the place of an expired one."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0019_staff_lists'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='Renewal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField()),
                ('earlier', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                ('later', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('earlier', models.F('later')), _negated=True), name='renewal_is_of_another')],
            },
        ),
    ]
