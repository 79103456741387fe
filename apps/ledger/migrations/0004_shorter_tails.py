"""An account that is debited without rest folds its entries ten times as often: each debit reads them while others wait."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("ledger", "0003_checks")]
    operations = [migrations.RunSQL((SQL / "functions.sql").read_text(), migrations.RunSQL.noop)]
