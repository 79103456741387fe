-- The role of every process but the migrations: it reads and writes rows, and can't take a trigger, a constraint or a table away.
-- Run once, before the first migration, by the role that will own the tables. PostgreSQL's container does it when it makes the database.
\getenv password POSTGRES_APP_PASSWORD
CREATE ROLE tillgate_app LOGIN PASSWORD :'password';
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO tillgate_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO tillgate_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO tillgate_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO tillgate_app;
