"""The functions that find a credential name what they use in full, so that they need no search path of their own."""

from django.db import migrations

TABLES = ("access_apikey", "access_agentcredential")
IN_FULL = """
CREATE OR REPLACE FUNCTION {table}_by_hash(p_hash bytea) RETURNS SETOF {table}
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1 AS $$
BEGIN
    RETURN QUERY SELECT * FROM public.{table} WHERE secret_hash OPERATOR(pg_catalog.=) p_hash;
END $$
"""
BY_PATH = """
CREATE OR REPLACE FUNCTION {table}_by_hash(p_hash bytea) RETURNS SETOF {table}
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp ROWS 1 AS $$
BEGIN
    RETURN QUERY SELECT * FROM {table} WHERE secret_hash = p_hash;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("access", "0004_credentials_by_hash")]

    operations = [
        migrations.RunSQL(IN_FULL.format(table=table), BY_PATH.format(table=table))
        for table in TABLES
    ]
