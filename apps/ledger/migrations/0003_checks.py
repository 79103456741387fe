from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


SQL = Path(__file__).resolve().parent.parent / "sql"
# A database that has the rules' first version gets the second; on any other this finds nothing to do.
RENEW = """
DROP TRIGGER IF EXISTS account_checkpoint_only ON ledger_account;
DROP FUNCTION IF EXISTS ledger_post(text, text, text, uuid, timestamptz, bigint[], text[], numeric[], text[], text, uuid);
DROP TRIGGER IF EXISTS account_checked ON ledger_account;
CREATE TRIGGER account_checked BEFORE INSERT OR UPDATE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_check_account();
DROP INDEX IF EXISTS entry_of_account;
CREATE INDEX entry_of_account ON ledger_entry (account_id, xid, id) INCLUDE (amount_atomic);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0004_additions'),
        ('ledger', '0002_rules'),
        ('stores', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='movement',
            name='key',
            field=models.CharField(max_length=200),
        ),
        migrations.AlterField(
            model_name='movement',
            name='staff_user',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='entry',
            name='asset',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('mode__in', ['live', 'test'])), name='account_mode_is_known'),
        ),
        migrations.AddConstraint(
            model_name='entry',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ('gross', 'net', 'service_fee', 'platform_fee', 'network_fee', 'principal'))), name='entry_role_is_known'),
        ),
        migrations.AddConstraint(
            model_name='movement',
            constraint=models.UniqueConstraint(fields=('key',), name='movement_key_once'),
        ),
        migrations.AddConstraint(
            model_name='movement',
            constraint=models.CheckConstraint(condition=models.Q(('mode__in', ['live', 'test'])), name='movement_mode_is_known'),
        ),
        migrations.AddConstraint(
            model_name='movement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'correction'), _negated=True), models.Q(('staff_user__isnull', False), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='movement_correction_is_signed'),
        ),
        migrations.RunSQL(RENEW, migrations.RunSQL.noop),
        migrations.RunSQL((SQL / "functions.sql").read_text(), migrations.RunSQL.noop),
    ]
