"""The guards of these tables read the tables of their own names, whatever temporary ones a session
has made.
"""

from django.db import migrations

FUNCTIONS = (
    "ledger_begin_entries()",
    "ledger_refuse_change()",
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0003_movements_of_the_web")]

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
