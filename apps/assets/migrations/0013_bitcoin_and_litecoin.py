"""Bitcoin and Litecoin, with their test networks; nothing of them can be used before an operator
says so."""

from django.db import migrations, models

# The number of a network of this family is the last six bytes of its first block's hash.
_CHAINS = """
INSERT INTO assets_chain (id, name, symbol, family, chain_id, mode, required_confirmations,
    confirmations_floor, explorer_url) VALUES
('bitcoin', 'Bitcoin', 'BTC', 'bitcoin', 265764163347055, 'live', 3, 1, 'https://mempool.space'),
('litecoin', 'Litecoin', 'LTC', 'bitcoin', 99499326619618, 'live', 6, 2,
    'https://litecoinspace.org'),
('bitcoin_testnet', 'Bitcoin Testnet', 'tBTC', 'bitcoin', 42850209188163, 'test', 1, 1,
    'https://mempool.space/testnet'),
('litecoin_testnet', 'Litecoin Testnet', 'tLTC', 'bitcoin', 68080839305632, 'test', 1, 1,
    'https://litecoinspace.org/testnet')
"""
_ASSETS = """
INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals,
    display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name,
    eip712_version, "position", chain_id) VALUES
('BTC', 'BTC', 'Bitcoin', 'Native', NULL, 8, 8, 10000, false, false, true, '', '', 15, 'bitcoin'),
('LTC', 'LTC', 'Litecoin', 'Native', NULL, 8, 8, 100000, false, false, true, '', '', 16,
    'litecoin'),
('TBTC', 'BTC', 'Testnet Bitcoin', 'Native', NULL, 8, 8, 10000, false, false, true, '', '', 17,
    'bitcoin_testnet'),
('TLTC', 'LTC', 'Testnet Litecoin', 'Native', NULL, 8, 8, 100000, false, false, true, '', '', 18,
    'litecoin_testnet')
"""


class Migration(migrations.Migration):
    dependencies = [("assets", "0012_network_family")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="chain",
            name="family",
            field=models.CharField(
                choices=[("evm", "EVM"), ("bitcoin", "Bitcoin")],
                db_default="evm",
                default="evm",
                max_length=10,
            ),
        ),
        migrations.RunSQL(_CHAINS, migrations.RunSQL.noop),
        migrations.RunSQL(_ASSETS, migrations.RunSQL.noop),
    ]
