"""The reference of each payment in a table of its own, kept by the database, so that processes of the
previous release keep it as well."""

import django.db.models.deletion
from django.db import migrations, models

# It names what it uses in full, so that it needs no search path of its own.
KEEP = """
CREATE FUNCTION payments_keep_reference() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER AS $$
BEGIN
    INSERT INTO public.payments_paymentreference (payment_id, reference)
    VALUES (NEW.id, NEW.reference);
    RETURN NULL;
END $$
"""
TRIGGER = """
CREATE TRIGGER reference_of_new AFTER INSERT ON payments_payment FOR EACH ROW
    EXECUTE FUNCTION payments_keep_reference()
"""


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0037_newest_of_a_search'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='PaymentReference',
            fields=[
                ('payment', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='payments.payment')),
                ('reference', models.CharField(db_collation='C', max_length=16)),
            ],
        ),
        migrations.RunSQL(KEEP, 'DROP FUNCTION payments_keep_reference'),
        migrations.RunSQL(TRIGGER, 'DROP TRIGGER reference_of_new ON payments_payment'),
    ]
