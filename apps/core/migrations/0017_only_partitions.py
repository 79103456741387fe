"""What made and dropped partitions of days alone goes, and what a job kept under its name of before."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ('core', '0016_number_ranges'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'"),
        migrations.RunSQL('DROP FUNCTION day_partition_make(regclass, timestamptz)'),
        migrations.RunSQL('DROP FUNCTION day_partition_drop(regclass, regclass)'),
        migrations.RunSQL('DROP FUNCTION day_partitions_allowed(regclass)'),
        migrations.RunSQL("DELETE FROM core_rowturn WHERE job LIKE 'billing.settle\\_invoices%'"),
        migrations.RunSQL("DELETE FROM core_rowfailure WHERE job = 'billing.settle_invoices'"),
    ]
