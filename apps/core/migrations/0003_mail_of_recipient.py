"""How often a letter went to somebody within a day is asked before another one goes there."""

from django.db import migrations, models
from django.db.models.functions import Lower


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0002_row_failures'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name='outgoingmail',
            index=models.Index(Lower('to'), 'template', 'created_at', name='outgoing_mail_of_recipient'),
        ),
    ]
