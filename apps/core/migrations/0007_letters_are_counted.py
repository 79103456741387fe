"""Whose mailbox a letter goes to, and in which store's name: letters that others cause are counted by both."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0006_drawings_take_turns'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RemoveIndex(
            model_name='outgoingmail',
            name='outgoing_mail_of_recipient',
        ),
        migrations.AddField(
            model_name='outgoingmail',
            name='in_name_of',
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='outgoingmail',
            name='mailbox',
            field=models.CharField(db_default='', default='', editable=False, max_length=400),
        ),
        migrations.AlterField(
            model_name='outgoingmail',
            name='status',
            field=models.CharField(choices=[('queued', 'Queued'), ('sent', 'Sent'), ('failed', 'Failed'), ('dropped', 'Dropped')], default='queued', max_length=7),
        ),
        migrations.AddIndex(
            model_name='outgoingmail',
            index=models.Index(fields=['mailbox', 'created_at'], name='outgoing_mail_of_mailbox'),
        ),
    ]
