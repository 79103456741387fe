"""Merchants' own wallets, and since when an asset's coins go to which.

A wallet never changes, and its addresses are given out forward alone. The web asks for another
wallet; a worker tells the owners and says from when on it counts, which nobody changes after.
"""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

FORWARD = """
CREATE SEQUENCE chain_own_wallet_number AS integer;
CREATE FUNCTION chain_guard_own_wallet() RETURNS trigger LANGUAGE plpgsql
SET search_path TO 'public', 'pg_temp' AS $function$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.next_index < OLD.next_index
        OR to_jsonb(NEW) - 'next_index' IS DISTINCT FROM to_jsonb(OLD) - 'next_index' THEN
        RAISE EXCEPTION 'permission denied for wallet %: it is never another, and gives no address twice', OLD.id
            USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER own_wallet_is_kept BEFORE UPDATE OR DELETE ON chain_ownwallet FOR EACH ROW
    EXECUTE FUNCTION chain_guard_own_wallet();

CREATE FUNCTION chain_guard_wallet_choice() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path TO 'public', 'pg_temp' AS $function$
DECLARE
    poster text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    why text;
BEGIN
    IF TG_OP = 'DELETE' THEN
        why := 'it is kept';
    ELSIF TG_OP = 'INSERT' THEN
        why := CASE
            WHEN num_nonnulls(NEW.told_at, NEW.active_from, NEW.stopped_at) > 0 THEN 'the owners are told of it first'
            WHEN NOT EXISTS (SELECT FROM assets_asset a JOIN assets_chain c ON c.id = a.chain_id
                WHERE a.id = NEW.asset_id AND c.mode = NEW.mode AND (NEW.wallet_id IS NULL OR EXISTS (
                    SELECT FROM chain_ownwallet w WHERE w.id = NEW.wallet_id AND w.store_id = NEW.store_id
                        AND w.mode = NEW.mode AND w.family = c.family
                        AND (w.chain_id IS NULL OR w.chain_id = c.id))))
                THEN 'the wallet is another store''s, or of another network'
            WHEN EXISTS (SELECT FROM stores_store s WHERE s.id = NEW.store_id AND s.platform_id IS NOT NULL)
                THEN 'the platform takes its fee from coins that are held' END;
    ELSE
        why := CASE
            WHEN (NEW.id, NEW.store_id, NEW.mode, NEW.asset_id, NEW.wallet_id, NEW.created_at, NEW.asked_by_id)
                IS DISTINCT FROM (OLD.id, OLD.store_id, OLD.mode, OLD.asset_id, OLD.wallet_id, OLD.created_at, OLD.asked_by_id)
                THEN 'what was asked for is never another'
            WHEN OLD.stopped_at IS NOT NULL AND NEW IS DISTINCT FROM OLD THEN 'it was stopped'
            WHEN OLD.told_at IS NOT NULL AND (NEW.told_at, NEW.active_from) IS DISTINCT FROM (OLD.told_at, OLD.active_from)
                THEN 'the owners were told from when on it counts'
            WHEN poster = 'tillgate_web' AND (NEW.told_at, NEW.active_from, NEW.waits_for)
                IS DISTINCT FROM (OLD.told_at, OLD.active_from, OLD.waits_for) THEN 'a worker tells the owners'
            WHEN NEW.stopped_at IS NOT NULL AND OLD.stopped_at IS NULL AND OLD.active_from <= clock_timestamp()
                THEN 'it counts already: choose another' END;
    END IF;
    IF why IS NOT NULL THEN
        RAISE EXCEPTION 'permission denied for wallet choice: %', why USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER wallet_choice_is_the_workers BEFORE INSERT OR UPDATE OR DELETE ON chain_walletchoice FOR EACH ROW
    EXECUTE FUNCTION chain_guard_wallet_choice();
"""
BACKWARD = """
DROP FUNCTION chain_guard_own_wallet() CASCADE;
DROP FUNCTION chain_guard_wallet_choice() CASCADE;
DROP SEQUENCE chain_own_wallet_number;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0012_network_family'),
        ('chain', '0024_sightings'),
        ('stores', '0018_worker_orders'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='address',
            name='purpose',
            field=models.CharField(choices=[('deposit', 'Deposit'), ('hot', 'Hot'), ('own', 'Own')], default='deposit', max_length=7),
        ),
        migrations.CreateModel(
            name='OwnWallet',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('number', models.BigIntegerField(unique=True)),
                ('family', models.CharField(max_length=10)),
                ('kind', models.CharField(choices=[('key', 'Extended public key'), ('forwarder', 'Address behind forwarders')], max_length=9)),
                ('content', models.CharField(max_length=1000)),
                ('fingerprint', models.CharField(max_length=64)),
                ('next_index', models.BigIntegerField(default=0)),
                ('chain', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='WalletChoice',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('told_at', models.DateTimeField(null=True)),
                ('active_from', models.DateTimeField(null=True)),
                ('stopped_at', models.DateTimeField(null=True)),
                ('waits_for', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('asked_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('asset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ('wallet', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.ownwallet')),
            ],
            options={
                'base_manager_name': 'objects',
            },
        ),
        migrations.AddIndex(
            model_name='ownwallet',
            index=models.Index(fields=['store', 'mode'], name='own_wallet_of_store'),
        ),
        migrations.AddConstraint(
            model_name='ownwallet',
            constraint=models.UniqueConstraint(fields=('fingerprint',), name='own_wallet_once'),
        ),
        migrations.AddConstraint(
            model_name='ownwallet',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['key', 'forwarder'])), name='own_wallet_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='ownwallet',
            constraint=models.CheckConstraint(condition=models.Q(('next_index__lte', 2147483648), ('number__gt', 0), ('number__lt', 2147483648)), name='own_wallet_numbers_fit'),
        ),
        migrations.AddIndex(
            model_name='walletchoice',
            index=models.Index(fields=['store', 'mode', 'asset', '-active_from'], name='wallet_choice_of_asset'),
        ),
        migrations.AddIndex(
            model_name='walletchoice',
            index=models.Index(condition=models.Q(('stopped_at', None), ('told_at', None)), fields=['created_at'], name='wallet_choice_untold'),
        ),
        migrations.AddConstraint(
            model_name='walletchoice',
            constraint=models.CheckConstraint(condition=models.Q(('active_from', None), models.Q(('active_from__gte', models.F('told_at')), ('told_at__isnull', False)), _connector='OR'), name='wallet_choice_is_told_first'),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
