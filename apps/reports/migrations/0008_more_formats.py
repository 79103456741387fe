"""Reports in the formats of accounting programs: a wider column, which rewrites no row."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reports", "0007_once_in_zone_holds")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="report",
            name="format",
            field=models.CharField(choices=[("pdf", "PDF"), ("csv", "CSV (comma, decimal point)"), ("csv_semicolon", "CSV (semicolon, decimal comma)"), ("csv_tab", "CSV (tab, decimal point)"), ("beancount", "Beancount"), ("hledger", "hledger"), ("ledger", "Ledger"), ("datev", "DATEV (EXTF Buchungsstapel)"), ("xero", "Xero (bank statement CSV)"), ("quickbooks", "QuickBooks (bank CSV)"), ("ofx", "OFX"), ("camt053", "camt.053")], default="pdf", max_length=20),
        ),
    ]
