-- A further server for the federated database, after server.sql there. With a standby's address the primary isn't asked:
--   psql "$FEDERATION_URL" -v shard=02 -v host=db2 -v port=5432 -v dbname=tillgate -v password=… -f add_server.sql
\set ON_ERROR_STOP on
\set server shard_ :shard
\set account account_ :shard
\set entry entry_ :shard
\set store store_ :shard
\set payment payment_ :shard
\set hot_wallet hot_wallet_ :shard
BEGIN;
CREATE SERVER :"server" FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host :'host', port :'port', dbname :'dbname', use_remote_estimate 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER :"server" OPTIONS (user 'tillgate_reader', password :'password');
CREATE FOREIGN TABLE :"account" PARTITION OF account FOR VALUES IN (:'shard')
    SERVER :"server" OPTIONS (schema_name 'federated', table_name 'account', updatable 'false');
CREATE FOREIGN TABLE :"entry" PARTITION OF entry FOR VALUES IN (:'shard')
    SERVER :"server" OPTIONS (schema_name 'federated', table_name 'entry', updatable 'false');
CREATE FOREIGN TABLE :"store" PARTITION OF store FOR VALUES IN (:'shard')
    SERVER :"server" OPTIONS (schema_name 'federated', table_name 'store', updatable 'false');
CREATE FOREIGN TABLE :"payment" PARTITION OF payment FOR VALUES IN (:'shard')
    SERVER :"server" OPTIONS (schema_name 'federated', table_name 'payment', updatable 'false');
CREATE FOREIGN TABLE :"hot_wallet" PARTITION OF hot_wallet FOR VALUES IN (:'shard')
    SERVER :"server" OPTIONS (schema_name 'federated', table_name 'hot_wallet', updatable 'false');
COMMIT;
