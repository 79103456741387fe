"""The identity of an asset and a network is fixed once coins have come: with another contract for a day, or
another number of the chain, coins of one kind would pass for coins of another.

The owner of the tables may change it still, whose role no process has but migrations.
"""

from django.db import migrations

# `role` is what a session has set itself to; who hasn't is who has signed in. In a function of the
# owner current_user would be the owner.
_IS_PROCESS = (
    "coalesce(nullif(current_setting('role'), 'none'), session_user)"
    " IN ('tillgate_web', 'tillgate_worker', 'tillgate_watcher', 'tillgate_signer')"
)
FORWARD = f"""
CREATE FUNCTION chain_guard_asset() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM chain_deposit d WHERE d.asset_id = OLD.id AND NOT d.is_simulated) THEN
        RAISE EXCEPTION 'coins have come in %: what it is stays', OLD.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'asset_is_kept';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER asset_is_kept BEFORE UPDATE ON assets_asset FOR EACH ROW
    WHEN ({_IS_PROCESS} AND (OLD.id, OLD.chain_id, OLD.contract_address, OLD.atomic_decimals)
        IS DISTINCT FROM (NEW.id, NEW.chain_id, NEW.contract_address, NEW.atomic_decimals))
    EXECUTE FUNCTION chain_guard_asset();

CREATE FUNCTION chain_guard_chain() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM chain_head h WHERE h.chain_id = OLD.id) THEN
        RAISE EXCEPTION 'blocks of % were read: what it is stays', OLD.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'chain_is_kept';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER chain_is_kept BEFORE UPDATE ON assets_chain FOR EACH ROW
    WHEN ({_IS_PROCESS} AND (OLD.id, OLD.chain_id, OLD.mode) IS DISTINCT FROM (NEW.id, NEW.chain_id, NEW.mode))
    EXECUTE FUNCTION chain_guard_chain();
"""
BACKWARD = """
DROP TRIGGER chain_is_kept ON assets_chain;
DROP FUNCTION chain_guard_chain;
DROP TRIGGER asset_is_kept ON assets_asset;
DROP FUNCTION chain_guard_asset;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("assets", "0009_fixed_search_path"),
        ("chain", "0018_simulated_hashes_of_records"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
