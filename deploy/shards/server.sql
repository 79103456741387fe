-- What the federated database reads of a server. On each, as the owner of the tables, again after each release:
--   psql "$DATABASE_URL" -v shard=02 -f server.sql
-- A migration that is refused because of these views goes through after DROP SCHEMA federated CASCADE.
\set ON_ERROR_STOP on
BEGIN;
CREATE SCHEMA IF NOT EXISTS federated;
CREATE OR REPLACE VIEW federated.account AS
    SELECT :'shard'::text AS shard, id, store_id, mode::text, asset_id::text, kind::text FROM public.ledger_account;
CREATE OR REPLACE VIEW federated.entry AS
    SELECT :'shard'::text AS shard, id, account_id, asset_id::text, amount_atomic::numeric FROM public.ledger_entry;
CREATE OR REPLACE VIEW federated.store AS
    SELECT :'shard'::text AS shard, id, name::text, platform_id, created_at, deleted_at FROM public.stores_store;
CREATE OR REPLACE VIEW federated.payment AS
    SELECT :'shard'::text AS shard, id, store_id, mode::text, status::text, settlement_currency::text, settlement_amount_cents,
        created_at FROM public.payments_payment;
CREATE OR REPLACE VIEW federated.hot_wallet AS
    SELECT :'shard'::text AS shard, chain_id::text, address::text FROM public.chain_hotwallet;
GRANT USAGE ON SCHEMA federated TO tillgate_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA federated TO tillgate_reader;
COMMIT;
