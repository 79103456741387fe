"""In which form a person reads dates and numbers."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0022_verification_documents'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='user',
            name='region',
            field=models.CharField(blank=True, db_default='', default='', max_length=10),
        ),
    ]
