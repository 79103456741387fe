"""No network confirms deposits after fewer blocks than its floor, and nothing lowers the floor: a
quarter of what each network comes with, and less where an operator has chosen less before."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

_FLOORS = """
UPDATE assets_chain c SET confirmations_floor = greatest(1, least(f.floor, c.required_confirmations)),
    required_confirmations = greatest(1, c.required_confirmations)
FROM (VALUES ('ethereum', 3), ('sepolia', 1), ('polygon', 32), ('base', 8), ('arbitrum', 8))
    f (id, floor)
WHERE c.id = f.id
"""
_ANYBODY = "UPDATE assets_chain SET required_confirmations = 1 WHERE required_confirmations < 1"
_KEEP = """
CREATE FUNCTION chain_keeps_its_floor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.confirmations_floor < OLD.confirmations_floor THEN
        RAISE EXCEPTION 'the fewest confirmations of a network are never lowered'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'chain_keeps_its_floor';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER chain_keeps_its_floor BEFORE UPDATE ON assets_chain FOR EACH ROW
    EXECUTE FUNCTION chain_keeps_its_floor();
"""
_LET_GO = """
DROP TRIGGER chain_keeps_its_floor ON assets_chain;
DROP FUNCTION chain_keeps_its_floor();
"""


class Migration(migrations.Migration):
    dependencies = [("assets", "0006_reviews_by_end")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="chain",
            name="confirmations_floor",
            field=models.PositiveIntegerField(db_default=1, default=1),
        ),
        migrations.RunSQL(_FLOORS, migrations.RunSQL.noop),
        migrations.RunSQL(_ANYBODY, migrations.RunSQL.noop),
        AddConstraintNotValid(
            model_name="chain",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    required_confirmations__gte=models.F("confirmations_floor"),
                    confirmations_floor__gte=1,
                ),
                name="chain_confirms_enough",
            ),
        ),
        migrations.RunSQL(_KEEP, _LET_GO),
    ]
