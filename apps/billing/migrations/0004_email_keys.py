"""The email address of a customer in small letters: written by the database, so that processes of the
previous release write it as well. The next migration writes those of the customers there are."""

from django.db import migrations, models

KEEP = """
CREATE FUNCTION billing_keep_email_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.email_key := lower(NEW.email);
    RETURN NEW;
END $$;
CREATE TRIGGER email_key_kept BEFORE INSERT OR UPDATE OF email, email_key ON billing_customer
    FOR EACH ROW EXECUTE FUNCTION billing_keep_email_key();
"""
NO_LONGER = """
DROP TRIGGER email_key_kept ON billing_customer;
DROP FUNCTION billing_keep_email_key;
"""


class Migration(migrations.Migration):
    dependencies = [('billing', '0003_invoices_by_number')]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='customer',
            name='email_key',
            field=models.CharField(db_collation='C', editable=False, max_length=254, null=True),
        ),
        migrations.RunSQL(KEEP, NO_LONGER),
    ]
