"""A network whose blocks were read keeps its family, as its number and its mode."""

from django.db import migrations

_IS_PROCESS = (
    "coalesce(nullif(current_setting('role'), 'none'), session_user)"
    " IN ('tillgate_web', 'tillgate_worker', 'tillgate_watcher', 'tillgate_signer')"
)


def _trigger(*columns: str) -> str:
    old, new = (", ".join(f"{row}.{name}" for name in columns) for row in ("OLD", "NEW"))
    return f"""
DROP TRIGGER chain_is_kept ON assets_chain;
CREATE TRIGGER chain_is_kept BEFORE UPDATE ON assets_chain FOR EACH ROW
    WHEN ({_IS_PROCESS} AND ({old}) IS DISTINCT FROM ({new}))
    EXECUTE FUNCTION chain_guard_chain();
"""


class Migration(migrations.Migration):
    dependencies = [("assets", "0012_network_family"), ("chain", "0019_assets_are_kept")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(
            _trigger("id", "chain_id", "mode", "family"), _trigger("id", "chain_id", "mode")
        ),
    ]
