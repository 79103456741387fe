"""Names of all networks in place of the six of the first release: twenty characters. The rule that a
wallet is saved once has an index, which is built again here: a store has few destinations.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payouts", "0013_test_data_put_away")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="destination",
            name="network",
            field=models.CharField(
                blank=True,
                choices=[
                    ("ethereum", "Ethereum"),
                    ("sepolia", "Ethereum Sepolia"),
                    ("base", "Base"),
                    ("arbitrum", "Arbitrum One"),
                    ("polygon", "Polygon"),
                    ("bsc", "BNB Smart Chain"),
                    ("optimism", "OP Mainnet"),
                    ("avalanche", "Avalanche"),
                    ("tempo", "Tempo"),
                    ("bitcoin", "Bitcoin"),
                    ("litecoin", "Litecoin"),
                    ("base_sepolia", "Base Sepolia"),
                    ("arbitrum_sepolia", "Arbitrum Sepolia"),
                    ("optimism_sepolia", "OP Sepolia"),
                    ("polygon_amoy", "Polygon Amoy"),
                    ("avalanche_fuji", "Avalanche Fuji"),
                    ("tempo_moderato", "Tempo Moderato"),
                    ("bitcoin_testnet", "Bitcoin Testnet"),
                    ("litecoin_testnet", "Litecoin Testnet"),
                ],
                max_length=20,
            ),
        ),
    ]
