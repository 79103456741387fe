"""What books are valued at: one rate per asset, currency and day, which PostgreSQL lets nobody change."""

import django.db.models.deletion
from django.db import migrations, models

REFUSE = """
CREATE FUNCTION assets_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: it is append-only', TG_OP, TG_TABLE_NAME USING ERRCODE = '23001';
END $$;
CREATE TRIGGER daily_rate_append_only BEFORE UPDATE OR DELETE ON assets_dailyrate
    FOR EACH ROW EXECUTE FUNCTION assets_refuse_change();
"""
UNDO = """
DROP TRIGGER daily_rate_append_only ON assets_dailyrate;
DROP FUNCTION assets_refuse_change();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0004_additions'),
    ]

    operations = [
        migrations.CreateModel(
            name='DailyRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=3)),
                ('day', models.DateField()),
                ('rate', models.DecimalField(decimal_places=18, max_digits=38)),
                ('source', models.CharField(max_length=20)),
                ('as_of', models.DateTimeField()),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('asset', 'currency', 'day'), name='daily_rate_once'), models.CheckConstraint(condition=models.Q(('rate__gt', 0)), name='daily_rate_is_positive')],
            },
        ),
        migrations.RunSQL(REFUSE, UNDO),
    ]
