-- A database that reads the books of all servers and writes to none. Once, in an empty one, as a superuser:
--   psql "$FEDERATION_URL" -f federation.sql
-- Each server is one partition (add_server.sql). Sums of a server are made there, in one snapshot of it.
\set ON_ERROR_STOP on
BEGIN;
CREATE EXTENSION postgres_fdw;
CREATE TABLE account (shard text NOT NULL, id bigint, store_id uuid, mode text, asset_id text, kind text) PARTITION BY LIST (shard);
CREATE TABLE entry (shard text NOT NULL, id bigint, account_id bigint, asset_id text, amount_atomic numeric) PARTITION BY LIST (shard);
CREATE TABLE store (
    shard text NOT NULL, id uuid, name text, platform_id uuid, created_at timestamptz, deleted_at timestamptz
) PARTITION BY LIST (shard);
CREATE TABLE payment (
    shard text NOT NULL, id uuid, store_id uuid, mode text, status text, settlement_currency text,
    settlement_amount_cents bigint, created_at timestamptz
) PARTITION BY LIST (shard);
CREATE TABLE hot_wallet (shard text NOT NULL, chain_id text, address text) PARTITION BY LIST (shard);

-- Debits are negative: a server's books balance when these are the same but for the sign.
CREATE VIEW account_balance AS
    SELECT e.shard, a.mode, a.asset_id, a.kind,
        sum(e.amount_atomic) FILTER (WHERE e.amount_atomic < 0) AS debits_atomic,
        sum(e.amount_atomic) FILTER (WHERE e.amount_atomic > 0) AS credits_atomic
    FROM entry e JOIN account a ON a.shard = e.shard AND a.id = e.account_id
    GROUP BY e.shard, a.mode, a.asset_id, a.kind;
CREATE VIEW trial_balance AS
    SELECT shard, mode, asset_id, coalesce(sum(debits_atomic), 0) AS debits_atomic,
        coalesce(sum(credits_atomic), 0) AS credits_atomic,
        coalesce(sum(debits_atomic), 0) + coalesce(sum(credits_atomic), 0) AS difference_atomic
    FROM account_balance GROUP BY shard, mode, asset_id;
CREATE VIEW completed_payments AS
    SELECT shard, mode, settlement_currency, count(*) AS payments, sum(settlement_amount_cents) AS cents
    FROM payment WHERE status = 'completed' GROUP BY shard, mode, settlement_currency;
-- Must be empty: two servers with one seed, which give the same address to two customers.
CREATE VIEW shared_wallet AS
    SELECT chain_id, address, array_agg(DISTINCT shard ORDER BY shard) AS shards
    FROM hot_wallet GROUP BY chain_id, address HAVING count(DISTINCT shard) > 1;
COMMIT;
SELECT format('ALTER DATABASE %I SET enable_partitionwise_join = on', current_database())
UNION ALL SELECT format('ALTER DATABASE %I SET enable_partitionwise_aggregate = on', current_database()) \gexec
