from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("chain", "0002_additions")]
    operations = [
        migrations.RunSQL(
            "CREATE SEQUENCE chain_deposit_index MINVALUE 0 START WITH 49 INCREMENT BY 50 MAXVALUE 2147483647",
            "DROP SEQUENCE chain_deposit_index",
        ),
    ]
