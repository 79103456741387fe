-- Gives the watcher its role in a database of an earlier release, whose watcher came in as tillgate_worker. Run once, by a role that can
-- create roles, with the password in the environment (new_env.sh --watcher writes it). `manage.py migrate` grants the privileges.
\getenv watcher POSTGRES_WATCHER_PASSWORD
SELECT 'CREATE ROLE tillgate_watcher LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tillgate_watcher') \gexec
ALTER ROLE tillgate_watcher PASSWORD :'watcher';
