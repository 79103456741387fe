"""Coins of networks that have them, and the transactions that spend them for many orders."""

import apps.core.models
import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0013_bitcoin_and_litecoin'),
        ('chain', '0025_own_wallets'),
        ('stores', '0018_worker_orders'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='CoinRecord',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('tx_hash', models.CharField(db_collation='C', max_length=66)),
                ('output', models.IntegerField()),
                ('address', models.CharField(db_collation='C', max_length=128)),
                ('is_deposit', models.BooleanField()),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('block_number', models.BigIntegerField(blank=True, null=True)),
                ('usable_from', models.BigIntegerField()),
                ('spent_by', models.CharField(blank=True, db_collation='C', default='', max_length=66)),
                ('spent_number', models.BigIntegerField(blank=True, null=True)),
            ],
            options={
                'db_table': 'chain_coin',
            },
        ),
        migrations.CreateModel(
            name='SpendCandidate',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('tx_hash', models.CharField(db_collation='C', max_length=66, unique=True)),
                ('raw', models.TextField()),
                ('plan', models.JSONField()),
                ('fee_atomic', apps.core.models.AtomicField()),
                ('signed_at', models.DateTimeField()),
                ('broadcast_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'db_table': 'chain_spendcandidate',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='SpendRecord',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('wallet_address', models.CharField(db_collation='C', max_length=128)),
                ('first_tx_hash', models.CharField(db_collation='C', max_length=66)),
                ('first_output', models.IntegerField()),
                ('created_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('mined_as', models.CharField(blank=True, db_collation='C', default='', max_length=66)),
            ],
            options={
                'db_table': 'chain_spend',
            },
        ),
        migrations.RemoveConstraint(
            model_name='outgoingtransaction',
            name='outgoing_signed_has_nonce',
        ),
        migrations.AlterField(
            model_name='hotwallet',
            name='halted_code',
            field=models.CharField(blank=True, choices=[('short', 'The hot wallet is short of funds'), ('network_dear', 'The network asks more for gas than the ceiling'), ('network_silent', "The network can't say what it costs"), ('token_stopped', 'The token refuses every transfer for now'), ('wallet_frozen', 'The token refuses transfers of our hot wallet for now'), ('wrong_chain', 'The asset belongs to another chain'), ('no_contract', 'The asset has no contract'), ('destination_refused', 'The destination is refused'), ('recipient_refuses', 'The recipient refuses the transfer'), ('recipient_costly', 'The recipient needs more gas than a transfer is given'), ('too_small', 'It is less than the network moves'), ('not_listed', "The destination is not on the operator's list"), ('exchange_refuses', 'The exchange refuses the swap'), ('no_exchange', 'The chain has no exchange'), ('strange_call', 'The call is not what was asked for'), ('token_refuses', 'The token refuses the authorization'), ('not_to_deposit', 'The coins would not come to a deposit address'), ('from_hot_wallet', 'The coins would leave a hot wallet'), ('not_to_cold', 'It is no transfer to cold storage'), ('not_cold_address', "The destination is not the asset's cold address"), ('payouts_wait', 'Payouts wait for these coins'), ('holds_less', 'The hot wallet holds less by now'), ('no_transfer', 'It is no transfer'), ('not_to_hot_wallet', 'A sweep goes to the hot wallet'), ('no_deposit_address', 'It is no deposit address'), ('would_revert', 'The transfer would be reverted'), ('gas_too_dear', 'Gas became too dear'), ('reverted', 'The chain reverted it'), ('moved_nothing', 'It was mined and moved nothing to its recipient'), ('nonce_taken', 'Its nonce was used by another transaction'), ('given_up', 'Given up by an operator'), ('not_approved', 'Nobody approved it'), ('not_reserved', 'The books have set nothing aside for it'), ('above_one', 'It is above the limit of one transaction'), ('above_day', 'It is above the limit of one day'), ('above_paid', 'It is more than its payment has brought'), ('no_key', 'The seed has no key for the address'), ('may_be_sent', 'It may have been sent before the records were restored'), ('sent_before', 'The wallet did the same before the records were restored'), ('nonce_ahead', 'The chain is ahead of our records'), ('nonce_unknown', 'Its nonce was used by a transaction that we do not know'), ('coin_taken', 'Its coin was spent by a transaction that we do not know'), ('moved_otherwise', 'It was mined, and the token reports no such transfer'), ('undone', 'The chain undid it, and did otherwise the second time'), ('given_back', 'It was reverted and what it should have paid was given back; then the chain undid it. Sent again, it could pay')], db_default='', default='', max_length=25),
        ),
        migrations.AlterField(
            model_name='outgoingtransaction',
            name='reason_code',
            field=models.CharField(blank=True, choices=[('short', 'The hot wallet is short of funds'), ('network_dear', 'The network asks more for gas than the ceiling'), ('network_silent', "The network can't say what it costs"), ('token_stopped', 'The token refuses every transfer for now'), ('wallet_frozen', 'The token refuses transfers of our hot wallet for now'), ('wrong_chain', 'The asset belongs to another chain'), ('no_contract', 'The asset has no contract'), ('destination_refused', 'The destination is refused'), ('recipient_refuses', 'The recipient refuses the transfer'), ('recipient_costly', 'The recipient needs more gas than a transfer is given'), ('too_small', 'It is less than the network moves'), ('not_listed', "The destination is not on the operator's list"), ('exchange_refuses', 'The exchange refuses the swap'), ('no_exchange', 'The chain has no exchange'), ('strange_call', 'The call is not what was asked for'), ('token_refuses', 'The token refuses the authorization'), ('not_to_deposit', 'The coins would not come to a deposit address'), ('from_hot_wallet', 'The coins would leave a hot wallet'), ('not_to_cold', 'It is no transfer to cold storage'), ('not_cold_address', "The destination is not the asset's cold address"), ('payouts_wait', 'Payouts wait for these coins'), ('holds_less', 'The hot wallet holds less by now'), ('no_transfer', 'It is no transfer'), ('not_to_hot_wallet', 'A sweep goes to the hot wallet'), ('no_deposit_address', 'It is no deposit address'), ('would_revert', 'The transfer would be reverted'), ('gas_too_dear', 'Gas became too dear'), ('reverted', 'The chain reverted it'), ('moved_nothing', 'It was mined and moved nothing to its recipient'), ('nonce_taken', 'Its nonce was used by another transaction'), ('given_up', 'Given up by an operator'), ('not_approved', 'Nobody approved it'), ('not_reserved', 'The books have set nothing aside for it'), ('above_one', 'It is above the limit of one transaction'), ('above_day', 'It is above the limit of one day'), ('above_paid', 'It is more than its payment has brought'), ('no_key', 'The seed has no key for the address'), ('may_be_sent', 'It may have been sent before the records were restored'), ('sent_before', 'The wallet did the same before the records were restored'), ('nonce_ahead', 'The chain is ahead of our records'), ('nonce_unknown', 'Its nonce was used by a transaction that we do not know'), ('coin_taken', 'Its coin was spent by a transaction that we do not know'), ('moved_otherwise', 'It was mined, and the token reports no such transfer'), ('undone', 'The chain undid it, and did otherwise the second time'), ('given_back', 'It was reverted and what it should have paid was given back; then the chain undid it. Sent again, it could pay')], db_default='', default='', max_length=25),
        ),
        migrations.AddField(
            model_name='coinrecord',
            name='chain',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
        ),
        migrations.AddField(
            model_name='spendrecord',
            name='chain',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
        ),
        migrations.AddField(
            model_name='spendcandidate',
            name='spend',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='candidates', to='chain.spendrecord'),
        ),
        migrations.AddField(
            model_name='coinrecord',
            name='spend',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='coins', to='chain.spendrecord'),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='spend',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='chain.spendrecord'),
        ),
        AddConstraintNotValid(
            model_name='outgoingtransaction',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status__in', ['signed', 'submitted', 'confirmed']), _negated=True), ('nonce__isnull', False), ('spend__isnull', False), _connector='OR'), name='outgoing_signed_has_nonce'),
        ),
        migrations.AddIndex(
            model_name='spendrecord',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['chain', 'id'], name='spend_open'),
        ),
        migrations.AddConstraint(
            model_name='spendrecord',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('chain', 'first_tx_hash', 'first_output'), name='spend_first_coin_once'),
        ),
        migrations.AddIndex(
            model_name='coinrecord',
            index=models.Index(condition=models.Q(('spend', None), ('spent_by', '')), fields=['chain', 'usable_from'], name='coin_unspent'),
        ),
        migrations.AddIndex(
            model_name='coinrecord',
            index=models.Index(fields=['chain', 'block_number'], name='coin_by_block'),
        ),
        migrations.AddConstraint(
            model_name='coinrecord',
            constraint=models.UniqueConstraint(fields=('chain', 'tx_hash', 'output'), name='coin_once'),
        ),
        migrations.AddConstraint(
            model_name='coinrecord',
            constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='coin_is_positive'),
        ),
        migrations.AddConstraint(
            model_name='coinrecord',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('spent_by', ''), ('spent_number', None)), models.Q(models.Q(('spent_by', ''), _negated=True), ('spent_number__isnull', False)), _connector='OR'), name='coin_is_spent_in_a_block'),
        ),
    ]
