"""Deliveries that wait for their time are kept apart from those that may be due: every row is
ready, as after each change of its delivery, until a claim says otherwise. Claims of the previous
release go on without it."""

from django.db import migrations, models

KEEP = """
CREATE OR REPLACE FUNCTION webhooks_keep_queue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.status IN ('pending', 'attempting') THEN
        INSERT INTO webhooks_queueddelivery
            (delivery_id, endpoint_id, status, attempts, next_attempt_at, claimed_until)
        VALUES (NEW.id, NEW.endpoint_id, NEW.status, NEW.attempts, NEW.next_attempt_at,
            NEW.claimed_until)
        ON CONFLICT (delivery_id) DO UPDATE SET endpoint_id = EXCLUDED.endpoint_id,
            status = EXCLUDED.status, attempts = EXCLUDED.attempts,
            next_attempt_at = EXCLUDED.next_attempt_at, claimed_until = EXCLUDED.claimed_until%s;
    ELSE
        DELETE FROM webhooks_queueddelivery WHERE delivery_id = OLD.id;
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ('webhooks', '0002_months'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='queueddelivery',
            name='is_ready',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.RunSQL(KEEP % ', is_ready = true', KEEP % ''),
    ]
