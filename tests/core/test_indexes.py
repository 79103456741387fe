"""The indexes of the migrated database: none that another one does the work of."""

import pytest
from django.db import connection

# Of Django and its libraries, whose migrations are theirs.
THEIRS = ("auth_", "django_", "stores_user_groups", "stores_user_user_permissions")
THEIR_FIELDS = {"access_accesstoken_application_id_29a0edab"}
# In the order of bytes, for emails whose key begins with what they are about.
PREFIXES = {"core_outgoingmail_key_a01c7f66_like", "chain_addresstolook_address_id_6fea0c2d_like"}
# An index of the same rows, or of those that have a value, begins with all columns of this one.
# LIKE is served by any index in the order of bytes, and nobody asks for the beginning of a text
# with the others.
_DOUBLED = """
WITH known AS (
    SELECT t.relname AS table_name, i.relname AS name, x.indisunique AS is_unique,
        x.indkey::text || ' ' AS columns,
        coalesce(pg_get_expr(x.indpred, x.indrelid), '') AS of_rows,
        format('(%I IS NOT NULL)', c.attname) AS of_values
    FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum = x.indkey[0]
    JOIN pg_am a ON a.oid = i.relam AND a.amname = 'btree'
    WHERE t.relnamespace = 'public'::regnamespace AND x.indexprs IS NULL
)
SELECT a.table_name, a.name, b.name FROM known a
JOIN known b ON b.table_name = a.table_name AND b.name <> a.name 
    AND (b.of_rows = a.of_rows OR a.of_rows = '' AND b.of_rows = a.of_values)
WHERE NOT a.is_unique AND starts_with(b.columns, a.columns)
  AND (b.columns <> a.columns OR b.is_unique OR a.name < b.name)
ORDER BY 1, 2, 3
"""


@pytest.mark.django_db
def test_no_index_is_the_beginning_of_another() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_DOUBLED)
        doubled = [
            f"{name} of {table} begins {longer}"
            for table, name, longer in cursor.fetchall()
            if not table.startswith(THEIRS) and name not in THEIR_FIELDS | PREFIXES
        ]

    assert doubled == [], "\n".join(doubled)
