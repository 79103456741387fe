-- The roles of the processes. `manage.py migrate`, which runs as the owner of the tables, grants their privileges (apps/audit/grants.txt).
-- Run once, before the first migration, by a role that can create roles. PostgreSQL's container does it when it creates the database.
\getenv web POSTGRES_WEB_PASSWORD
\getenv worker POSTGRES_WORKER_PASSWORD
\getenv watcher POSTGRES_WATCHER_PASSWORD
\getenv signer POSTGRES_SIGNER_PASSWORD
\getenv reader POSTGRES_READER_PASSWORD
CREATE ROLE tillgate_web LOGIN PASSWORD :'web';
CREATE ROLE tillgate_worker LOGIN PASSWORD :'worker';
CREATE ROLE tillgate_watcher LOGIN PASSWORD :'watcher';
CREATE ROLE tillgate_signer LOGIN PASSWORD :'signer';
-- Read-only: for reports and support.
CREATE ROLE tillgate_reader LOGIN PASSWORD :'reader';
ALTER ROLE tillgate_reader SET default_transaction_read_only = on;
