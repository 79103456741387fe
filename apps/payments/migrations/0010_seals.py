from django.db import migrations, models

TRIGGERS = """
CREATE FUNCTION payments_refuse_seal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the seals of payments are append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER payment_seal_append_only BEFORE UPDATE OR DELETE ON payments_paymentseal
    FOR EACH ROW EXECUTE FUNCTION payments_refuse_seal_change();
CREATE TRIGGER payment_seal_no_truncate BEFORE TRUNCATE ON payments_paymentseal
    FOR EACH STATEMENT EXECUTE FUNCTION payments_refuse_seal_change();
"""
NO_TRIGGERS = """
DROP TRIGGER payment_seal_append_only ON payments_paymentseal;
DROP TRIGGER payment_seal_no_truncate ON payments_paymentseal;
DROP FUNCTION payments_refuse_seal_change();
"""


class Migration(migrations.Migration):
    """The seals over what was locked when payments were made, which the database lets nobody change."""

    dependencies = [("payments", "0009_open_stores"), ("stores", "0009_audit_seals")]

    operations = [
        migrations.CreateModel(
            name="PaymentSeal",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("sealed_at", models.DateTimeField()),
                ("upto", models.BigIntegerField()),
                ("count", models.PositiveIntegerField()),
                ("audit_seal", models.CharField(blank=True, max_length=84)),
                ("previous", models.CharField(max_length=64)),
                ("seal", models.CharField(max_length=64)),
            ],
        ),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
