"""An address has one index: beside that of its key, which is in the order of bytes and serves prefixes,
Django makes another for prefixes."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0024_words_of_choices'),
    ]

    operations = [
        migrations.RunSQL(
            'DROP INDEX CONCURRENTLY IF EXISTS chain_address_address_164cbc37_like',
            migrations.RunSQL.noop,
        ),
    ]
