"""The guards of these tables read the tables of their own names, whatever temporary ones a session
has made.
"""

from django.db import migrations

FUNCTIONS = (
    "payouts_check_approval()",
    "payouts_check_decision()",
)


class Migration(migrations.Migration):
    dependencies = [("payouts", "0004_no_age_of_blocks")]

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
