"""Who asks whether an event may be deleted; nothing in the database changes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0012_queue'),
    ]

    operations = [
        migrations.AlterField(
            model_name='delivery',
            name='event',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='webhooks.event'),
        ),
    ]
