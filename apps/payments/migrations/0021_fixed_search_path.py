"""The guards of these tables read the tables of their own names, whatever temporary ones a session
has made.
"""

from django.db import migrations

FUNCTIONS = (
    "payments_guard_held_refund()",
    "payments_guard_refund()",
    "payments_keep_change()",
    "payments_keep_email()",
    "payments_keep_net_change()",
    "payments_keep_reference()",
    "payments_keep_sold()",
    "payments_refuse_closed_store()",
    "payments_refuse_seal_change()",
)


class Migration(migrations.Migration):
    dependencies = [("payments", "0020_extended_within_limits_holds")]

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
