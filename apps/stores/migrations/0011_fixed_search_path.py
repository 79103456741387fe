"""The guards of these tables read the tables of their own names, whatever temporary ones a session
has made.
"""

from django.db import migrations

FUNCTIONS = (
    "audit_refuse_change()",
    "staff_request_refuse_change()",
    "stores_add_merchants(uuid, integer, boolean, boolean, boolean)",
    "stores_count_merchant(uuid)",
    "stores_count_store()",
    "stores_count_verification()",
)


class Migration(migrations.Migration):
    dependencies = [("stores", "0010_staff_of_two")]

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
