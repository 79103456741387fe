"""Which payments wait for their check, or are disputed, in a table of their own: kept by the database,
so that processes of the previous release keep it as well. Payments leave room for new versions of
their rows."""

from django.db import migrations, models

KEEP = """
CREATE FUNCTION payments_keep_reconciliation_task() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NEW.reconciliation_due OR NEW.reconciliation_status IS NOT DISTINCT FROM 'disputed' THEN
        INSERT INTO payments_reconciliationtask (payment_id, is_due, is_disputed)
        VALUES (NEW.id, NEW.reconciliation_due,
            NEW.reconciliation_status IS NOT DISTINCT FROM 'disputed')
        ON CONFLICT (payment_id) DO UPDATE
            SET is_due = EXCLUDED.is_due, is_disputed = EXCLUDED.is_disputed;
    ELSE
        DELETE FROM payments_reconciliationtask WHERE payment_id = NEW.id;
    END IF;
    RETURN NULL;
END $$
"""
TRIGGERS = """
CREATE TRIGGER reconciliation_task_of_new AFTER INSERT ON payments_payment FOR EACH ROW
    WHEN (NEW.reconciliation_due OR NEW.reconciliation_status = 'disputed')
    EXECUTE FUNCTION payments_keep_reconciliation_task();
CREATE TRIGGER reconciliation_task_kept AFTER UPDATE ON payments_payment FOR EACH ROW
    WHEN ((OLD.reconciliation_due, OLD.reconciliation_status IS NOT DISTINCT FROM 'disputed')
        IS DISTINCT FROM
        (NEW.reconciliation_due, NEW.reconciliation_status IS NOT DISTINCT FROM 'disputed'))
    EXECUTE FUNCTION payments_keep_reconciliation_task();
"""
# Found by the two indexes that the next migration drops.
FILL = """
INSERT INTO payments_reconciliationtask (payment_id, is_due, is_disputed)
SELECT id, reconciliation_due, reconciliation_status IS NOT DISTINCT FROM 'disputed'
FROM payments_payment WHERE reconciliation_due = true OR reconciliation_status = 'disputed'
"""


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0032_one_index_a_column'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='ReconciliationTask',
            fields=[
                ('payment', models.OneToOneField(db_constraint=False, on_delete=models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='payments.payment')),
                ('is_due', models.BooleanField()),
                ('is_disputed', models.BooleanField()),
            ],
        ),
        migrations.RunSQL(KEEP, 'DROP FUNCTION payments_keep_reconciliation_task'),
        migrations.RunSQL(
            TRIGGERS,
            'DROP TRIGGER reconciliation_task_of_new ON payments_payment;'
            ' DROP TRIGGER reconciliation_task_kept ON payments_payment',
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunSQL(
            'ALTER TABLE payments_payment SET (fillfactor = 90)',
            'ALTER TABLE payments_payment RESET (fillfactor)',
        ),
    ]
