"""The checks of accounts' kinds hold for the rows that there are."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("ledger", "0009_memo_accounts")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(
            "ALTER TABLE ledger_account VALIDATE CONSTRAINT account_owner_fits_kind;"
            " ALTER TABLE ledger_account VALIDATE CONSTRAINT account_guard_fits_kind",
            migrations.RunSQL.noop,
        ),
    ]
