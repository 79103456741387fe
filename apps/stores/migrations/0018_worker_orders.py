"""A decision of staff that only a worker posts is a row that web writes and a worker ends, after a
wait whose moments web can't write.
"""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

GUARD = """
CREATE FUNCTION stores_guard_worker_order() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP IN ('DELETE', 'TRUNCATE') THEN
        RAISE EXCEPTION 'an order of a worker stays' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF num_nonnulls(NEW.noticed_at, NEW.due_at, NEW.stopped_at, NEW.stopped_by_id, NEW.ended_at) > 0 OR NEW.is_done
            OR NEW.outcome <> '' THEN
            RAISE EXCEPTION 'an order of a worker begins with nothing done' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF (OLD.id, OLD.kind, OLD.target_id, OLD.store_id, OLD.mode, OLD.name, OLD.reason, OLD.asked_by_id, OLD.asked_at)
        IS DISTINCT FROM
        (NEW.id, NEW.kind, NEW.target_id, NEW.store_id, NEW.mode, NEW.name, NEW.reason, NEW.asked_by_id, NEW.asked_at) THEN
        RAISE EXCEPTION 'what was ordered never changes' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.ended_at IS NOT NULL OR OLD.stopped_at IS NOT NULL
        OR OLD.due_at IS NOT NULL AND (OLD.noticed_at, OLD.due_at) IS DISTINCT FROM (NEW.noticed_at, NEW.due_at)
        OR NEW.is_done AND (NEW.ended_at IS NULL OR NEW.stopped_at IS NOT NULL OR OLD.due_at IS NULL) THEN
        RAISE EXCEPTION 'an order of a worker waits, and ends once' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER worker_order_guarded BEFORE INSERT OR DELETE OR UPDATE ON stores_workerorder
    FOR EACH ROW EXECUTE FUNCTION stores_guard_worker_order();
CREATE TRIGGER worker_order_no_truncate BEFORE TRUNCATE ON stores_workerorder
    FOR EACH STATEMENT EXECUTE FUNCTION stores_guard_worker_order();
"""


def _person() -> models.ForeignKey:
    return models.ForeignKey(
        db_index=False,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):
    dependencies = [("stores", "0017_suspensions")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="WorkerOrder",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("target_id", models.CharField(max_length=100)),
                ("mode", models.CharField(max_length=4)),
                ("name", models.CharField(max_length=200)),
                ("reason", models.CharField(max_length=500)),
                ("asked_at", models.DateTimeField()),
                ("noticed_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("stopped_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("is_done", models.BooleanField(db_default=False, default=False)),
                (
                    "outcome",
                    models.CharField(blank=True, db_default="", default="", max_length=200),
                ),
                ("asked_by", _person()),
                ("stopped_by", _person()),
                (
                    "store",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="stores.store",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["kind", "target_id"], name="worker_order_of_target")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(ended_at=None, stopped_at=None),
                        fields=("kind", "target_id"),
                        name="worker_order_one_waits",
                    )
                ],
            },
        ),
        migrations.RunSQL(GUARD, "DROP FUNCTION stores_guard_worker_order() CASCADE"),
    ]
