"""Who asks is looked up before any scope is known: these two functions find one credential by its hash, whoever's it is."""

from django.db import migrations

FUNCTION = """
CREATE FUNCTION {table}_by_hash(p_hash bytea) RETURNS SETOF {table}
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp ROWS 1 AS $$
BEGIN
    RETURN QUERY SELECT * FROM {table} WHERE secret_hash = p_hash;
END $$
"""
TABLES = ("access_apikey", "access_agentcredential")


class Migration(migrations.Migration):

    dependencies = [("access", "0003_makers_of_before")]

    operations = [
        migrations.RunSQL(FUNCTION.format(table=table), f"DROP FUNCTION {table}_by_hash(bytea)") for table in TABLES
    ]
