"""One form in which people's addresses are compared. Of twins, the one in plain letters has it.

The other keeps its own spelling as its key: it signs in by that spelling and nobody else does.
"""

import unicodedata

import idna
from django.db import migrations, models
from django.db.models.functions import Lower


def canonical(text):
    """As apps.core.emails had it when this was written."""
    folded = unicodedata.normalize('NFKC', unicodedata.normalize('NFKC', text.strip()).casefold())
    local, at, domain = folded.rpartition('@')
    if not domain.isascii():
        try:
            domain = idna.encode(domain, uts46=True).decode('ascii')
        except idna.IDNAError:
            pass
    return f'{local}{at}{domain}'


def fill(apps, schema_editor):
    User = apps.get_model('stores', 'User')
    people = sorted(User.objects.only('pk', 'email'), key=lambda one: (not one.email.isascii(), one.pk))
    taken = set()
    for person in people:
        keys = (canonical(person.email), person.email.strip().lower(), f'{person.email.lower()}#{person.pk}')
        person.email_key = next(key for key in keys if key not in taken)
        taken.add(person.email_key)
    User.objects.bulk_update(people, ['email_key'], batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0009_audit_seals'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='user',
            name='email_key',
            field=models.CharField(editable=False, max_length=400, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunSQL('SET CONSTRAINTS ALL IMMEDIATE', migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='user',
            name='email_key',
            field=models.CharField(editable=False, max_length=400, unique=True),
        ),
        migrations.RemoveConstraint(
            model_name='user',
            name='user_email_unique',
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(
                condition=models.Q(('email_key', Lower('email')), ('email__regex', '[^ -~]'), _connector='OR'),
                name='user_email_key_is_of_email',
            ),
        ),
    ]
