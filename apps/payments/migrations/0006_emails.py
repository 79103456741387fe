"""Emails of customers that payments name, in rows of their own: written by the database, so that
processes of the previous release write them as well. The next migration writes those of the
payments there are."""

import django.db.models.deletion
from django.db import migrations, models

# It names what it uses in full, so that it needs no search path of its own.
KEEP = """
CREATE FUNCTION payments_keep_email() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER AS $$
DECLARE
    v_email text := left(lower(NEW.metadata ->> 'customer_email'), 254);
BEGIN
    IF v_email IS NULL THEN
        DELETE FROM public.payments_paymentemail WHERE payment_id = OLD.id;
    ELSE
        INSERT INTO public.payments_paymentemail (payment_id, store_id, mode, email, created_at)
        VALUES (NEW.id, NEW.store_id, NEW.mode, v_email, NEW.created_at)
        ON CONFLICT (payment_id) DO UPDATE SET store_id = EXCLUDED.store_id,
            mode = EXCLUDED.mode, email = EXCLUDED.email, created_at = EXCLUDED.created_at;
    END IF;
    RETURN NULL;
END $$
"""
TRIGGERS = """
CREATE TRIGGER email_of_new AFTER INSERT ON payments_payment FOR EACH ROW
    WHEN (NEW.metadata ? 'customer_email') EXECUTE FUNCTION payments_keep_email();
CREATE TRIGGER email_kept AFTER UPDATE OF metadata, store_id, mode, created_at ON payments_payment
    FOR EACH ROW WHEN ((OLD.metadata ? 'customer_email' OR NEW.metadata ? 'customer_email')
        AND (OLD.metadata, OLD.store_id, OLD.mode, OLD.created_at)
            IS DISTINCT FROM (NEW.metadata, NEW.store_id, NEW.mode, NEW.created_at))
    EXECUTE FUNCTION payments_keep_email();
CREATE TRIGGER email_of_deleted AFTER DELETE ON payments_payment FOR EACH ROW
    WHEN (OLD.metadata ? 'customer_email') EXECUTE FUNCTION payments_keep_email();
"""
NO_TRIGGERS = """
DROP TRIGGER email_of_new ON payments_payment;
DROP TRIGGER email_kept ON payments_payment;
DROP TRIGGER email_of_deleted ON payments_payment;
DROP FUNCTION payments_keep_email;
"""


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0005_short'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='PaymentEmail',
            fields=[
                ('payment', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='payments.payment')),
                ('store', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='stores.store')),
                ('mode', models.CharField(max_length=4)),
                ('email', models.CharField(db_collation='C', max_length=254)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'indexes': [
                    models.Index(fields=['store', 'mode', 'email', '-created_at'], include=('payment',), name='payment_email_newest'),
                ],
            },
        ),
        migrations.RunSQL(KEEP, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
