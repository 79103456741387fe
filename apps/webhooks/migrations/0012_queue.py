"""What waits, and what is under way, in a table of its own: kept by the database, so that processes of
the previous release keep it as well."""

import django.db.models.deletion
from django.db import migrations, models

KEEP = """
CREATE FUNCTION webhooks_keep_queue() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.status IN ('pending', 'attempting') THEN
        INSERT INTO webhooks_queueddelivery
            (delivery_id, endpoint_id, status, attempts, next_attempt_at, claimed_until)
        VALUES (NEW.id, NEW.endpoint_id, NEW.status, NEW.attempts, NEW.next_attempt_at,
            NEW.claimed_until)
        ON CONFLICT (delivery_id) DO UPDATE SET endpoint_id = EXCLUDED.endpoint_id,
            status = EXCLUDED.status, attempts = EXCLUDED.attempts,
            next_attempt_at = EXCLUDED.next_attempt_at, claimed_until = EXCLUDED.claimed_until;
    ELSE
        DELETE FROM webhooks_queueddelivery WHERE delivery_id = OLD.id;
    END IF;
    RETURN NULL;
END $$
"""
TRIGGERS = """
CREATE TRIGGER queue_of_new AFTER INSERT ON webhooks_delivery FOR EACH ROW
    WHEN (NEW.status IN ('pending', 'attempting')) EXECUTE FUNCTION webhooks_keep_queue();
CREATE TRIGGER queue_kept AFTER UPDATE ON webhooks_delivery FOR EACH ROW
    WHEN ((OLD.status IN ('pending', 'attempting') OR NEW.status IN ('pending', 'attempting'))
        AND (OLD.endpoint_id, OLD.status, OLD.attempts, OLD.next_attempt_at, OLD.claimed_until)
        IS DISTINCT FROM
        (NEW.endpoint_id, NEW.status, NEW.attempts, NEW.next_attempt_at, NEW.claimed_until))
    EXECUTE FUNCTION webhooks_keep_queue();
CREATE TRIGGER queue_of_gone AFTER DELETE ON webhooks_delivery FOR EACH ROW
    WHEN (OLD.status IN ('pending', 'attempting')) EXECUTE FUNCTION webhooks_keep_queue();
"""
# Found by the two indexes of the previous release's queue.
FILL = """
INSERT INTO webhooks_queueddelivery
    (delivery_id, endpoint_id, status, attempts, next_attempt_at, claimed_until)
SELECT id, endpoint_id, status, attempts, next_attempt_at, claimed_until
FROM webhooks_delivery WHERE status = 'pending' OR status = 'attempting'
"""


class Migration(migrations.Migration):
    dependencies = [
        ('webhooks', '0011_words_of_choices'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='QueuedDelivery',
            fields=[
                ('delivery', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='webhooks.delivery')),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('attempting', 'Attempting'), ('delivered', 'Delivered'), ('failed', 'Failed'), ('ignored', 'Ignored')], max_length=10)),
                ('attempts', models.PositiveSmallIntegerField()),
                ('next_attempt_at', models.DateTimeField(null=True)),
                ('claimed_until', models.DateTimeField(null=True)),
                ('endpoint', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='webhooks.endpoint')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('status', 'pending')), fields=['endpoint', 'next_attempt_at'], name='queued_waiting'),
                    models.Index(condition=models.Q(('status', 'attempting')), fields=['endpoint', 'claimed_until'], name='queued_in_flight'),
                ],
            },
        ),
        migrations.RunSQL(KEEP, 'DROP FUNCTION webhooks_keep_queue'),
        migrations.RunSQL(
            TRIGGERS,
            'DROP TRIGGER queue_of_new ON webhooks_delivery;'
            ' DROP TRIGGER queue_kept ON webhooks_delivery;'
            ' DROP TRIGGER queue_of_gone ON webhooks_delivery',
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
