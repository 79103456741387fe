"""The request log of before its days ends eight days from now: by then the migrations that follow
have run, or rows are refused."""

from django.db import migrations

BOUND = """
DO $$ BEGIN
    EXECUTE format('ALTER TABLE access_requestentry ADD CONSTRAINT request_so_far'
        ' CHECK (created_at < %L) NOT VALID', date_trunc('day', now(), 'UTC') + interval '8 days');
END $$
"""


class Migration(migrations.Migration):
    dependencies = [
        ('access', '0011_request_of_a_time'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(BOUND, 'ALTER TABLE access_requestentry DROP CONSTRAINT request_so_far'),
    ]
