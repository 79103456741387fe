"""Optimism, Avalanche, Tempo and the test networks, with more coins on those that were there; and
what wallets and customers are told of each network. Nothing of them can be used before an operator
says so."""

from django.db import migrations, models

_FACTS = """
UPDATE assets_chain c SET block_milliseconds = f.milliseconds, wallet_url = f.wallet_url,
    fee_symbol = f.fee_symbol, fee_model = f.fee_model
FROM (VALUES
('ethereum', 12000, '', 'ETH', 'plain'),
('sepolia', 12000, 'https://ethereum-sepolia-rpc.publicnode.com', 'ETH', 'plain'),
('polygon', 2000, 'https://polygon-rpc.com', 'POL', 'plain'),
('base', 2000, 'https://mainnet.base.org', 'ETH', 'op_stack'),
('arbitrum', 250, 'https://arb1.arbitrum.io/rpc', 'ETH', 'arbitrum'),
('bitcoin', 600000, '', 'BTC', 'bytes'),
('litecoin', 150000, '', 'LTC', 'bytes'),
('bitcoin_testnet', 600000, '', 'BTC', 'bytes'),
('litecoin_testnet', 150000, '', 'LTC', 'bytes')
) f (id, milliseconds, wallet_url, fee_symbol, fee_model)
WHERE c.id = f.id
"""
# A network that an operator has put in by hand, by the same name or number, stays as it is.
_CHAINS = """
INSERT INTO assets_chain (id, name, symbol, chain_id, mode, required_confirmations,
    confirmations_floor, explorer_url, block_milliseconds, wallet_url, fee_symbol, fee_model) VALUES
('optimism', 'OP Mainnet', 'OP', 10, 'live', 30, 8, 'https://optimistic.etherscan.io', 2000,
    'https://mainnet.optimism.io', 'ETH', 'op_stack'),
('avalanche', 'Avalanche', 'AVAX', 43114, 'live', 4, 1, 'https://snowtrace.io', 2000,
    'https://api.avax.network/ext/bc/C/rpc', 'AVAX', 'plain'),
('tempo', 'Tempo', 'TEMPO', 4217, 'live', 4, 1, 'https://explore.tempo.xyz', 500,
    'https://rpc.tempo.xyz', 'USD', 'stablecoin'),
('base_sepolia', 'Base Sepolia', 'SBASE', 84532, 'test', 3, 1, 'https://sepolia.basescan.org',
    2000, 'https://sepolia.base.org', 'ETH', 'op_stack'),
('arbitrum_sepolia', 'Arbitrum Sepolia', 'SARB', 421614, 'test', 3, 1,
    'https://sepolia.arbiscan.io', 250, 'https://sepolia-rollup.arbitrum.io/rpc', 'ETH',
    'arbitrum'),
('optimism_sepolia', 'OP Sepolia', 'SOP', 11155420, 'test', 3, 1,
    'https://sepolia-optimism.etherscan.io', 2000, 'https://sepolia.optimism.io', 'ETH',
    'op_stack'),
('polygon_amoy', 'Polygon Amoy', 'AMOY', 80002, 'test', 3, 1, 'https://amoy.polygonscan.com',
    2000, 'https://rpc-amoy.polygon.technology', 'POL', 'plain'),
('avalanche_fuji', 'Avalanche Fuji', 'FUJI', 43113, 'test', 2, 1,
    'https://testnet.snowtrace.io', 2000, 'https://api.avax-test.network/ext/bc/C/rpc', 'AVAX',
    'plain'),
('tempo_moderato', 'Tempo Moderato', 'MODERATO', 42431, 'test', 2, 1, '', 500,
    'https://rpc.moderato.tempo.xyz', 'USD', 'stablecoin')
ON CONFLICT DO NOTHING
"""
_ASSETS = """
INSERT INTO assets_asset (id, chain_id, coin_symbol, name, token_standard, contract_address,
    atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active,
    is_listed, eip712_name, eip712_version, "position")
SELECT n.id, n.chain_id, n.symbol, n.name, n.standard, n.contract, n.decimals, n.shown, n.minimum,
    n.pays_banks, false, true, n.eip712_name, n.eip712_version, n.place
FROM (VALUES
('ETH_EURC', 'ethereum', 'EURC', 'Euro Coin', 'ERC20',
    '0x1abaea1f7c830bd89acc67ec4af516284b1bc33c', 6, 6, 1000000, false, '', '', 19),
('EURC_SETH', 'sepolia', 'EURC', 'Euro Coin', 'ERC20',
    '0x08210f9170f89ab7658f0b5e3ff39b0e03c594d4', 6, 6, 1000000, false, '', '', 20),
('BASE_EURC', 'base', 'EURC', 'Euro Coin', 'ERC20',
    '0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42', 6, 6, 1000000, false, 'EURC', '2', 21),
('OP_ETH', 'optimism', 'ETH', 'Ether', 'Native', NULL, 18, 8, 1000000000000000, false, '', '', 22),
('OP_USDC', 'optimism', 'USDC', 'USD Coin', 'ERC20',
    '0x0b2c639c533813f4aa9d7837caf62653d097ff85', 6, 6, 1000000, true, 'USD Coin', '2', 23),
('OP_USDT', 'optimism', 'USDT', 'USDT0', 'ERC20', '0x01bff41798a0bcf287b996046ca68b395dbc1071',
    6, 6, 1000000, true, '', '', 24),
('AVAX', 'avalanche', 'AVAX', 'Avalanche', 'Native', NULL, 18, 8, 50000000000000000, false, '',
    '', 25),
('AVAX_USDC', 'avalanche', 'USDC', 'USD Coin', 'ERC20',
    '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e', 6, 6, 1000000, true, 'USD Coin', '2', 26),
('AVAX_USDT', 'avalanche', 'USDT', 'Tether USD', 'ERC20',
    '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7', 6, 6, 1000000, true, '', '', 27),
('AVAX_EURC', 'avalanche', 'EURC', 'Euro Coin', 'ERC20',
    '0xc891eb4cbdeff6e073e859e987815ed1505c2acd', 6, 6, 1000000, false, 'EURC', '2', 28),
('TEMPO_USDC', 'tempo', 'USDC.e', 'Bridged USDC', 'ERC20',
    '0x20c000000000000000000000b9537d11c60e8b50', 6, 6, 1000000, false, '', '', 29),
('TEMPO_USDT', 'tempo', 'USDT', 'USDT0', 'ERC20', '0x20c00000000000000000000014f22ca97301eb73',
    6, 6, 1000000, true, '', '', 30),
('TEMPO_PATH', 'tempo', 'pathUSD', 'pathUSD', 'ERC20',
    '0x20c0000000000000000000000000000000000000', 6, 6, 1000000, false, '', '', 31),
('SBASE_ETH', 'base_sepolia', 'ETH', 'Base Sepolia Ether', 'Native', NULL, 18, 8,
    100000000000000, false, '', '', 32),
('SBASE_USDC', 'base_sepolia', 'USDC', 'USD Coin', 'ERC20',
    '0x036cbd53842c5426634e7929541ec2318f3dcf7e', 6, 6, 1000000, true, 'USDC', '2', 33),
('SBASE_EURC', 'base_sepolia', 'EURC', 'Euro Coin', 'ERC20',
    '0x808456652fdb597867f38412077a9182bf77359f', 6, 6, 1000000, false, '', '', 34),
('SARB_ETH', 'arbitrum_sepolia', 'ETH', 'Arbitrum Sepolia Ether', 'Native', NULL, 18, 8,
    100000000000000, false, '', '', 35),
('SARB_USDC', 'arbitrum_sepolia', 'USDC', 'USD Coin', 'ERC20',
    '0x75faf114eafb1bdbe2f0316df893fd58ce46aa4d', 6, 6, 1000000, true, '', '', 36),
('SOP_ETH', 'optimism_sepolia', 'ETH', 'OP Sepolia Ether', 'Native', NULL, 18, 8,
    100000000000000, false, '', '', 37),
('SOP_USDC', 'optimism_sepolia', 'USDC', 'USD Coin', 'ERC20',
    '0x5fd84259d66cd46123540766be93dfe6d43130d7', 6, 6, 1000000, true, '', '', 38),
('AMOY_POL', 'polygon_amoy', 'POL', 'Amoy POL', 'Native', NULL, 18, 8, 10000000000000000, false,
    '', '', 39),
('AMOY_USDC', 'polygon_amoy', 'USDC', 'USD Coin', 'ERC20',
    '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582', 6, 6, 1000000, true, 'USDC', '2', 40),
('FUJI_AVAX', 'avalanche_fuji', 'AVAX', 'Fuji AVAX', 'Native', NULL, 18, 8, 10000000000000000,
    false, '', '', 41),
('FUJI_USDC', 'avalanche_fuji', 'USDC', 'USD Coin', 'ERC20',
    '0x5425890298aed601595a70ab815c96711a31bc65', 6, 6, 1000000, true, 'USD Coin', '2', 42),
('FUJI_EURC', 'avalanche_fuji', 'EURC', 'Euro Coin', 'ERC20',
    '0x5e44db7996c682e92a960b65ac713a54ad815c6b', 6, 6, 1000000, false, '', '', 43),
('MOD_PATH', 'tempo_moderato', 'pathUSD', 'pathUSD', 'ERC20',
    '0x20c0000000000000000000000000000000000000', 6, 6, 1000000, false, '', '', 44)
) n (id, chain_id, symbol, name, standard, contract, decimals, shown, minimum, pays_banks,
    eip712_name, eip712_version, place)
JOIN assets_chain c ON c.id = n.chain_id
ON CONFLICT DO NOTHING
"""
# USDT0 on Arbitrum takes payments that are only signed.
_SIGNED = """
UPDATE assets_asset SET eip712_name = 'USD₮0', eip712_version = '1'
WHERE id = 'ARB_USDT' AND eip712_name = ''
    AND contract_address = '0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9'
"""


class Migration(migrations.Migration):
    dependencies = [("assets", "0013_bitcoin_and_litecoin")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="chain",
            name="block_milliseconds",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="chain",
            name="wallet_url",
            field=models.URLField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="chain",
            name="fee_symbol",
            field=models.CharField(blank=True, db_default="", default="", max_length=10),
        ),
        migrations.AddField(
            model_name="chain",
            name="fee_model",
            field=models.CharField(
                choices=[
                    ("plain", "In its own coin"),
                    ("op_stack", "In its own coin, with a share of Ethereum's fees"),
                    ("arbitrum", "In its own coin, a share of Ethereum's fees included"),
                    ("stablecoin", "In a stablecoin"),
                    ("bytes", "By size"),
                ],
                db_default="plain",
                default="plain",
                max_length=10,
            ),
        ),
        migrations.RunSQL(_FACTS, migrations.RunSQL.noop),
        migrations.RunSQL(_CHAINS, migrations.RunSQL.noop),
        migrations.RunSQL(_ASSETS, migrations.RunSQL.noop),
        migrations.RunSQL(_SIGNED, migrations.RunSQL.noop),
    ]
