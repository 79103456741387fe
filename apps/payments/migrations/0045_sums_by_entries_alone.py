"""Daily sums without transaction numbers: those of a place that bears one weren't used, and are made anew."""

from django.db import migrations

FORGET = """
DELETE FROM payments_dailysum s USING payments_dailysumplace p
WHERE p.account_id = s.account_id AND p.newest_xid <> 0;
UPDATE payments_dailysumplace SET newest_id = 0 WHERE newest_xid <> 0;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0044_underpaid'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'"),
        migrations.RunSQL(FORGET),
        migrations.RemoveField('dailysum', 'first_xid'),
        migrations.RemoveField('dailysum', 'last_xid'),
        migrations.RemoveField('dailysumplace', 'newest_xid'),
    ]
