"""Only the watcher writes deposits of a chain. The web's role makes simulated ones in test mode; of
others it says what has become of them, and takes none as confirmed that doesn't stand in a block.
"""

from django.db import migrations, models

# `role` is what a session has set itself to; who hasn't is who has signed in. In a function of the
# owner current_user would be the owner.
_IS_WEB = "coalesce(nullif(current_setting('role'), 'none'), session_user) = 'tillgate_web'"
FORWARD = f"""
CREATE FUNCTION chain_guard_deposit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    is_refused boolean;
BEGIN
    IF TG_OP = 'INSERT' THEN
        is_refused := NOT NEW.is_simulated OR NOT EXISTS (
            SELECT FROM assets_chain c JOIN assets_asset a ON a.chain_id = c.id
            JOIN chain_address p ON p.address = NEW.address_id AND p.mode = c.mode
            WHERE c.id = NEW.chain_id AND a.id = NEW.asset_id AND c.mode = 'test');
    ELSIF OLD.is_simulated THEN
        is_refused := (NEW.id, NEW.chain_id, NEW.asset_id, NEW.address_id, NEW.is_simulated)
            IS DISTINCT FROM (OLD.id, OLD.chain_id, OLD.asset_id, OLD.address_id, OLD.is_simulated);
    ELSE
        is_refused := to_jsonb(NEW) - ARRAY['status', 'handled_status', 'confirmed_at']
                IS DISTINCT FROM to_jsonb(OLD) - ARRAY['status', 'handled_status', 'confirmed_at']
            OR NEW.handled_status NOT IN (OLD.handled_status, NEW.status)
            OR (NEW.status <> OLD.status AND NOT CASE NEW.status
                WHEN 'unmatched' THEN OLD.handled_status <> 'confirmed'
                WHEN 'confirmed' THEN OLD.status = 'unmatched' AND EXISTS (
                    SELECT FROM chain_block b JOIN chain_head h ON h.chain_id = b.chain_id
                    WHERE b.chain_id = OLD.chain_id AND b.number = OLD.block_number
                        AND b.hash = OLD.block_hash AND b.is_canonical
                        AND b.number + OLD.required_confirmations - 1 <= h.number)
                ELSE false END);
    END IF;
    IF is_refused THEN
        RAISE EXCEPTION 'permission denied for deposit %: the watcher alone writes what a chain has brought',
            NEW.id USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER deposit_is_the_watchers BEFORE INSERT OR UPDATE ON chain_deposit FOR EACH ROW
    WHEN ({_IS_WEB}) EXECUTE FUNCTION chain_guard_deposit();

CREATE FUNCTION chain_guard_payer() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM chain_deposit d WHERE d.chain_id = NEW.chain_id
            AND d.tx_hash = NEW.tx_hash AND lower(d.from_address) = NEW.address AND NOT d.is_simulated)
        OR TG_OP = 'UPDATE' AND (OLD.kind, NEW.kind) <> ('unproven', 'account') THEN
        RAISE EXCEPTION 'permission denied for sender %: it has paid nothing, or was found to be another',
            NEW.address USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payer_has_paid BEFORE INSERT OR UPDATE ON chain_payer FOR EACH ROW
    WHEN ({_IS_WEB}) EXECUTE FUNCTION chain_guard_payer();
"""
BACKWARD = """
DROP TRIGGER payer_has_paid ON chain_payer;
DROP FUNCTION chain_guard_payer;
DROP TRIGGER deposit_is_the_watchers ON chain_deposit;
DROP FUNCTION chain_guard_deposit;
"""


class Migration(migrations.Migration):
    dependencies = [("chain", "0014_shared_payers_hold"), ("assets", "0001_squashed_0005_one_index_a_beginning")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.AlterField(
            model_name='hotwallet',
            name='halted_code',
            field=models.CharField(blank=True, choices=[('short', 'The hot wallet is short of funds'), ('network_dear', 'The network asks more for gas than the ceiling'), ('network_silent', "The network can't say what it costs"), ('token_stopped', 'The token refuses every transfer for now'), ('wallet_frozen', 'The token refuses transfers of our hot wallet for now'), ('wrong_chain', 'The asset belongs to another chain'), ('no_contract', 'The asset has no contract'), ('destination_refused', 'The destination is refused'), ('recipient_refuses', 'The recipient refuses the transfer'), ('recipient_costly', 'The recipient needs more gas than a transfer is given'), ('not_listed', "The destination is not on the operator's list"), ('exchange_refuses', 'The exchange refuses the swap'), ('no_exchange', 'The chain has no exchange'), ('strange_call', 'The call is not what was asked for'), ('token_refuses', 'The token refuses the authorization'), ('not_to_deposit', 'The coins would not come to a deposit address'), ('from_hot_wallet', 'The coins would leave a hot wallet'), ('not_to_cold', 'It is no transfer to cold storage'), ('not_cold_address', "The destination is not the asset's cold address"), ('payouts_wait', 'Payouts wait for these coins'), ('holds_less', 'The hot wallet holds less by now'), ('no_transfer', 'It is no transfer'), ('not_to_hot_wallet', 'A sweep goes to the hot wallet'), ('no_deposit_address', 'It is no deposit address'), ('would_revert', 'The transfer would be reverted'), ('gas_too_dear', 'Gas became too dear'), ('reverted', 'The chain reverted it'), ('moved_nothing', 'It was mined and moved nothing to its recipient'), ('nonce_taken', 'Its nonce was used by another transaction'), ('given_up', 'Given up by an operator'), ('not_approved', 'Nobody approved it'), ('not_reserved', 'The books have set nothing aside for it'), ('above_one', 'It is above the limit of one transaction'), ('above_day', 'It is above the limit of one day'), ('above_paid', 'It is more than its payment has brought'), ('no_key', 'The seed has no key for the address'), ('may_be_sent', 'It may have been sent before the records were restored'), ('sent_before', 'The wallet did the same before the records were restored'), ('nonce_ahead', 'The chain is ahead of our records'), ('nonce_unknown', 'Its nonce was used by a transaction that we do not know'), ('moved_otherwise', 'It was mined, and the token reports no such transfer'), ('undone', 'The chain undid it, and did otherwise the second time'), ('given_back', 'It was reverted and what it should have paid was given back; then the chain undid it. Sent again, it could pay')], db_default='', default='', max_length=25),
        ),
        migrations.AlterField(
            model_name='outgoingtransaction',
            name='reason_code',
            field=models.CharField(blank=True, choices=[('short', 'The hot wallet is short of funds'), ('network_dear', 'The network asks more for gas than the ceiling'), ('network_silent', "The network can't say what it costs"), ('token_stopped', 'The token refuses every transfer for now'), ('wallet_frozen', 'The token refuses transfers of our hot wallet for now'), ('wrong_chain', 'The asset belongs to another chain'), ('no_contract', 'The asset has no contract'), ('destination_refused', 'The destination is refused'), ('recipient_refuses', 'The recipient refuses the transfer'), ('recipient_costly', 'The recipient needs more gas than a transfer is given'), ('not_listed', "The destination is not on the operator's list"), ('exchange_refuses', 'The exchange refuses the swap'), ('no_exchange', 'The chain has no exchange'), ('strange_call', 'The call is not what was asked for'), ('token_refuses', 'The token refuses the authorization'), ('not_to_deposit', 'The coins would not come to a deposit address'), ('from_hot_wallet', 'The coins would leave a hot wallet'), ('not_to_cold', 'It is no transfer to cold storage'), ('not_cold_address', "The destination is not the asset's cold address"), ('payouts_wait', 'Payouts wait for these coins'), ('holds_less', 'The hot wallet holds less by now'), ('no_transfer', 'It is no transfer'), ('not_to_hot_wallet', 'A sweep goes to the hot wallet'), ('no_deposit_address', 'It is no deposit address'), ('would_revert', 'The transfer would be reverted'), ('gas_too_dear', 'Gas became too dear'), ('reverted', 'The chain reverted it'), ('moved_nothing', 'It was mined and moved nothing to its recipient'), ('nonce_taken', 'Its nonce was used by another transaction'), ('given_up', 'Given up by an operator'), ('not_approved', 'Nobody approved it'), ('not_reserved', 'The books have set nothing aside for it'), ('above_one', 'It is above the limit of one transaction'), ('above_day', 'It is above the limit of one day'), ('above_paid', 'It is more than its payment has brought'), ('no_key', 'The seed has no key for the address'), ('may_be_sent', 'It may have been sent before the records were restored'), ('sent_before', 'The wallet did the same before the records were restored'), ('nonce_ahead', 'The chain is ahead of our records'), ('nonce_unknown', 'Its nonce was used by a transaction that we do not know'), ('moved_otherwise', 'It was mined, and the token reports no such transfer'), ('undone', 'The chain undid it, and did otherwise the second time'), ('given_back', 'It was reverted and what it should have paid was given back; then the chain undid it. Sent again, it could pay')], db_default='', default='', max_length=25),
        ),
    ]
