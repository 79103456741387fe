"""The guards of these tables read the tables of their own names, whatever temporary ones a session
has made.
"""

from django.db import migrations

FUNCTIONS = (
    "assets_refuse_change()",
    "chain_keeps_its_floor()",
)


class Migration(migrations.Migration):
    dependencies = [("assets", "0008_confirmations_floor_holds")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        *(
            migrations.RunSQL(
                f"ALTER FUNCTION {function} SET search_path = public, pg_temp",
                f"ALTER FUNCTION {function} RESET search_path",
            )
            for function in FUNCTIONS
        ),
    ]
