"""Obstacles to coins that move, the gas that sweeps have left behind, and the words for what waits
for a token or was mined otherwise than asked for."""

import apps.core.models
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0004_asset_stopped_since'),
        ('chain', '0009_indexes_of_looks'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='hotwallet',
            name='halted_code',
            field=models.CharField(blank=True, choices=[('short', 'The hot wallet is short of funds'), ('network_dear', 'The network asks more for gas than the ceiling'), ('network_silent', "The network can't say what it costs"), ('token_stopped', 'The token refuses every transfer for now'), ('wallet_frozen', 'The token refuses transfers of our hot wallet for now'), ('wrong_chain', 'The asset belongs to another chain'), ('no_contract', 'The asset has no contract'), ('destination_refused', 'The destination is refused'), ('recipient_refuses', 'The recipient refuses the transfer'), ('recipient_costly', 'The recipient needs more gas than a transfer is given'), ('not_listed', "The destination is not on the operator's list"), ('exchange_refuses', 'The exchange refuses the swap'), ('no_exchange', 'The chain has no exchange'), ('strange_call', 'The call is not what was asked for'), ('token_refuses', 'The token refuses the authorization'), ('not_to_deposit', 'The coins would not come to a deposit address'), ('from_hot_wallet', 'The coins would leave a hot wallet'), ('not_to_cold', 'It is no transfer to cold storage'), ('not_cold_address', "The destination is not the asset's cold address"), ('payouts_wait', 'Payouts wait for these coins'), ('holds_less', 'The hot wallet holds less by now'), ('no_transfer', 'It is no transfer'), ('not_to_hot_wallet', 'A sweep goes to the hot wallet'), ('no_deposit_address', 'It is no deposit address'), ('would_revert', 'The transfer would be reverted'), ('gas_too_dear', 'Gas became too dear'), ('reverted', 'The chain reverted it'), ('moved_nothing', 'It was mined and moved nothing to its recipient'), ('nonce_taken', 'Its nonce was used by another transaction'), ('given_up', 'Given up by an operator'), ('not_approved', 'Nobody approved it'), ('not_reserved', 'The books have set nothing aside for it'), ('above_one', 'It is above the limit of one transaction'), ('above_day', 'It is above the limit of one day'), ('no_key', 'The seed has no key for the address'), ('may_be_sent', 'It may have been sent before the records were restored'), ('sent_before', 'The wallet did the same before the records were restored'), ('nonce_ahead', 'The chain is ahead of our records'), ('nonce_unknown', 'Its nonce was used by a transaction that we do not know'), ('moved_otherwise', 'It was mined, and the token reports no such transfer'), ('undone', 'The chain undid it, and did otherwise the second time'), ('given_back', 'It was reverted and what it should have paid was given back; then the chain undid it. Sent again, it could pay')], db_default='', default='', max_length=25),
        ),
        migrations.AlterField(
            model_name='outgoingtransaction',
            name='reason_code',
            field=models.CharField(blank=True, choices=[('short', 'The hot wallet is short of funds'), ('network_dear', 'The network asks more for gas than the ceiling'), ('network_silent', "The network can't say what it costs"), ('token_stopped', 'The token refuses every transfer for now'), ('wallet_frozen', 'The token refuses transfers of our hot wallet for now'), ('wrong_chain', 'The asset belongs to another chain'), ('no_contract', 'The asset has no contract'), ('destination_refused', 'The destination is refused'), ('recipient_refuses', 'The recipient refuses the transfer'), ('recipient_costly', 'The recipient needs more gas than a transfer is given'), ('not_listed', "The destination is not on the operator's list"), ('exchange_refuses', 'The exchange refuses the swap'), ('no_exchange', 'The chain has no exchange'), ('strange_call', 'The call is not what was asked for'), ('token_refuses', 'The token refuses the authorization'), ('not_to_deposit', 'The coins would not come to a deposit address'), ('from_hot_wallet', 'The coins would leave a hot wallet'), ('not_to_cold', 'It is no transfer to cold storage'), ('not_cold_address', "The destination is not the asset's cold address"), ('payouts_wait', 'Payouts wait for these coins'), ('holds_less', 'The hot wallet holds less by now'), ('no_transfer', 'It is no transfer'), ('not_to_hot_wallet', 'A sweep goes to the hot wallet'), ('no_deposit_address', 'It is no deposit address'), ('would_revert', 'The transfer would be reverted'), ('gas_too_dear', 'Gas became too dear'), ('reverted', 'The chain reverted it'), ('moved_nothing', 'It was mined and moved nothing to its recipient'), ('nonce_taken', 'Its nonce was used by another transaction'), ('given_up', 'Given up by an operator'), ('not_approved', 'Nobody approved it'), ('not_reserved', 'The books have set nothing aside for it'), ('above_one', 'It is above the limit of one transaction'), ('above_day', 'It is above the limit of one day'), ('no_key', 'The seed has no key for the address'), ('may_be_sent', 'It may have been sent before the records were restored'), ('sent_before', 'The wallet did the same before the records were restored'), ('nonce_ahead', 'The chain is ahead of our records'), ('nonce_unknown', 'Its nonce was used by a transaction that we do not know'), ('moved_otherwise', 'It was mined, and the token reports no such transfer'), ('undone', 'The chain undid it, and did otherwise the second time'), ('given_back', 'It was reverted and what it should have paid was given back; then the chain undid it. Sent again, it could pay')], db_default='', default='', max_length=25),
        ),
        migrations.AlterField(
            model_name='outgoingtransaction',
            name='waits_for',
            field=models.CharField(blank=True, choices=[('funds', 'Funds'), ('sweep', 'Sweep'), ('network', 'Network'), ('token', 'Token')], db_default='', default='', max_length=7),
        ),
        migrations.CreateModel(
            name='Obstacle',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('holder', models.CharField(blank=True, db_collation='C', default='', max_length=42)),
                ('kind', models.CharField(choices=[('token', 'The token moves for nobody'), ('wallet', 'The token refuses our hot wallet'), ('address', 'The token refuses a deposit address'), ('gas', 'Sweeps cost too much')], max_length=7)),
                ('addresses', models.PositiveIntegerField(default=0)),
                ('amount_atomic', apps.core.models.AtomicField(default=0)),
                ('cost_atomic', apps.core.models.AtomicField(default=0)),
                ('found_at', models.DateTimeField()),
                ('looked_at', models.DateTimeField()),
                ('next_look_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('asset', 'holder', 'kind'), name='obstacle_once')],
            },
        ),
        migrations.CreateModel(
            name='GasLeft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('address', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.address')),
                ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
            ],
            options={
                'indexes': [models.Index(fields=['chain', '-amount_atomic'], name='gas_left_most')],
                'constraints': [models.UniqueConstraint(fields=('address', 'chain'), name='gas_left_once')],
            },
        ),
    ]
