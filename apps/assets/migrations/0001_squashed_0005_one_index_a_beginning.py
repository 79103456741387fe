"""Everything until 0005_one_index_a_beginning in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import apps.core.models
import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models

SQL = [
    r"""CREATE FUNCTION assets_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: it is append-only', TG_OP, TG_TABLE_NAME USING ERRCODE = '23001';
END $$;""",
    r"""CREATE TRIGGER daily_rate_append_only BEFORE DELETE OR UPDATE ON assets_dailyrate FOR EACH ROW EXECUTE FUNCTION assets_refuse_change();""",
    r"""INSERT INTO assets_chain (id, name, symbol, chain_id, mode, required_confirmations, explorer_url) VALUES ('ethereum', 'Ethereum', 'ETH', 1, 'live', 12, 'https://etherscan.io');""",
    r"""INSERT INTO assets_chain (id, name, symbol, chain_id, mode, required_confirmations, explorer_url) VALUES ('sepolia', 'Ethereum Sepolia', 'SETH', 11155111, 'test', 3, 'https://sepolia.etherscan.io');""",
    r"""INSERT INTO assets_chain (id, name, symbol, chain_id, mode, required_confirmations, explorer_url) VALUES ('polygon', 'Polygon', 'POL', 137, 'live', 128, 'https://polygonscan.com');""",
    r"""INSERT INTO assets_chain (id, name, symbol, chain_id, mode, required_confirmations, explorer_url) VALUES ('base', 'Base', 'BASE', 8453, 'live', 30, 'https://basescan.org');""",
    r"""INSERT INTO assets_chain (id, name, symbol, chain_id, mode, required_confirmations, explorer_url) VALUES ('arbitrum', 'Arbitrum One', 'ARB', 42161, 'live', 30, 'https://arbiscan.io');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('ETH', 'ETH', 'Ether', 'Native', NULL, 18, 8, 1000000000000000, false, true, true, '', '', 0, 'ethereum');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('SETH', 'ETH', 'Sepolia Ether', 'Native', NULL, 18, 8, 100000000000000, false, true, true, '', '', 1, 'sepolia');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('POL', 'POL', 'POL', 'Native', NULL, 18, 8, 100000000000000000, false, false, true, '', '', 2, 'polygon');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('ETH_USDC', 'USDC', 'USD Coin', 'ERC20', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 6, 6, 1000000, true, true, true, 'USD Coin', '2', 3, 'ethereum');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('ETH_USDT', 'USDT', 'Tether USD', 'ERC20', '0xdac17f958d2ee523a2206206994597c13d831ec7', 6, 6, 1000000, true, true, true, '', '', 4, 'ethereum');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('USDT_SETH', 'USDT', 'Tether USD', 'ERC20', NULL, 6, 6, 1000000, true, false, true, '', '', 6, 'sepolia');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('POL_USDC', 'USDC', 'USD Coin', 'ERC20', '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', 6, 6, 1000000, true, false, true, 'USD Coin', '2', 7, 'polygon');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('POL_USDT', 'USDT', 'Tether USD', 'ERC20', '0xc2132d05d31c914a87c6611c10748aeb04b58e8f', 6, 6, 1000000, true, false, true, '', '', 8, 'polygon');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('BASE_USDC', 'USDC', 'USD Coin', 'ERC20', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 6, 6, 1000000, true, false, true, 'USD Coin', '2', 9, 'base');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('ARB_USDC', 'USDC', 'USD Coin', 'ERC20', '0xaf88d065e77c8cc2239327c5edb3a432268e5831', 6, 6, 1000000, true, false, true, 'USD Coin', '2', 10, 'arbitrum');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('ARB_USDT', 'USDT', 'Tether USD', 'ERC20', '0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9', 6, 6, 1000000, true, false, true, '', '', 11, 'arbitrum');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('BASE_ETH', 'ETH', 'Ether', 'Native', NULL, 18, 8, 1000000000000000, false, false, true, '', '', 12, 'base');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('ARB_ETH', 'ETH', 'Ether', 'Native', NULL, 18, 8, 1000000000000000, false, false, true, '', '', 13, 'arbitrum');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('SETH_USDC', 'USDC', 'Test USD Coin', 'ERC20', NULL, 6, 6, 1000000, true, true, false, '', '', 14, 'sepolia');""",
    r"""INSERT INTO assets_asset (id, coin_symbol, name, token_standard, contract_address, atomic_decimals, display_decimals, min_withdrawal_atomic, is_fiat_eligible, is_active, is_listed, eip712_name, eip712_version, "position", chain_id) VALUES ('USDC_SETH', 'USDC', 'USD Coin', 'ERC20', '0x1c7d4b196cb0c7b01d743fbc6116a902379c7238', 6, 6, 1000000, true, false, true, 'USDC', '2', 5, 'sepolia');""",
]


class Migration(migrations.Migration):

    replaces = [
        ('assets', '0001_squashed_0007_test_dollar'),
        ('assets', '0002_rates_are_compared'),
        ('assets', '0003_staff_lists'),
        ('assets', '0004_words_of_choices'),
        ('assets', '0005_one_index_a_beginning'),
    ]

    replaced_earlier = [
        ('assets', '0001_initial'),
        ('assets', '0002_initial'),
        ('assets', '0003_chains_and_assets'),
        ('assets', '0004_additions'),
        ('assets', '0005_daily_rates'),
        ('assets', '0006_gas_of_base_and_arbitrum'),
        ('assets', '0007_test_dollar'),
    ]

    dependencies = [
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='Chain',
                fields=[
                    ('id', models.CharField(max_length=20, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=50)),
                    ('symbol', models.CharField(max_length=10)),
                    ('chain_id', models.PositiveBigIntegerField(unique=True)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('required_confirmations', models.PositiveIntegerField()),
                    ('explorer_url', models.URLField(blank=True)),
                ],
            ),
            migrations.CreateModel(
                name='Asset',
                fields=[
                    ('id', models.CharField(max_length=20, primary_key=True, serialize=False)),
                    ('coin_symbol', models.CharField(max_length=10)),
                    ('name', models.CharField(max_length=50)),
                    ('token_standard', models.CharField(choices=[('Native', 'Native'), ('ERC20', 'ERC-20')], max_length=6)),
                    ('contract_address', models.CharField(blank=True, db_collation='C', max_length=42, null=True)),
                    ('atomic_decimals', models.PositiveSmallIntegerField()),
                    ('display_decimals', models.PositiveSmallIntegerField()),
                    ('min_withdrawal_atomic', apps.core.models.AtomicField(default=1)),
                    ('is_fiat_eligible', models.BooleanField(default=False)),
                    ('is_active', models.BooleanField(default=False)),
                    ('is_listed', models.BooleanField(default=True)),
                    ('eip712_name', models.CharField(blank=True, max_length=50)),
                    ('eip712_version', models.CharField(blank=True, max_length=10)),
                    ('position', models.PositiveSmallIntegerField(default=0)),
                    ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assets', to='assets.chain')),
                ],
                options={
                    'ordering': ['position', 'id'],
                },
            ),
            migrations.CreateModel(
                name='DailyRate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=3)),
                    ('day', models.DateField()),
                    ('rate', models.DecimalField(decimal_places=18, max_digits=38)),
                    ('source', models.CharField(max_length=20)),
                    ('as_of', models.DateTimeField()),
                    ('asset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ],
            ),
            migrations.CreateModel(
                name='Rate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=3)),
                    ('rate', models.DecimalField(decimal_places=18, max_digits=38)),
                    ('source', models.CharField(max_length=20)),
                    ('as_of', models.DateTimeField()),
                    ('valid_until', models.DateTimeField()),
                    ('is_agreed', models.BooleanField(db_default=False, default=False)),
                    ('doubted_at', models.DateTimeField(null=True)),
                    ('asset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='assets.asset')),
                ],
            ),
            migrations.CreateModel(
                name='AcceptedAsset',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('suspended_at', models.DateTimeField(blank=True, null=True)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('suspended_at__isnull', False)), fields=['suspended_at'], name='accepted_asset_stopped')],
                    'constraints': [models.UniqueConstraint(fields=('store', 'mode', 'asset'), name='accepted_asset_once')],
                },
            ),
            migrations.AddConstraint(
                model_name='asset',
                constraint=models.UniqueConstraint(condition=models.Q(('contract_address__isnull', False)), fields=('chain', 'contract_address'), name='asset_contract_unique'),
            ),
            migrations.AddConstraint(
                model_name='dailyrate',
                constraint=models.UniqueConstraint(fields=('asset', 'currency', 'day'), name='daily_rate_once'),
            ),
            migrations.AddConstraint(
                model_name='dailyrate',
                constraint=models.CheckConstraint(condition=models.Q(('rate__gt', 0)), name='daily_rate_is_positive'),
            ),
            migrations.AddConstraint(
                model_name='rate',
                constraint=models.UniqueConstraint(fields=('asset', 'currency'), name='rate_once_per_currency'),
            ),
            migrations.AddConstraint(
                model_name='rate',
                constraint=models.CheckConstraint(condition=models.Q(('rate__gt', 0)), name='rate_is_positive'),
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
