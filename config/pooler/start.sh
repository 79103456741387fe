#!/bin/sh
# Starts PgBouncer before PostgreSQL in transaction mode, for the roles of web and workers, and for the watcher's figures. Everything else connects directly.
# Passwords come from the environment (pooler.env), as PostgreSQL's container gets them; they are written where only this process reads.
set -eu
umask 077
folder=${POOLER_FOLDER:-/tmp}
# PgBouncer doubles quotation marks within a value.
user() { printf '"%s" "%s"\n' "$1" "$(printf %s "$2" | sed 's/"/""/g')"; }
{
    user tillgate_web "${POSTGRES_WEB_PASSWORD:?is missing in pooler.env}"
    user tillgate_worker "${POSTGRES_WORKER_PASSWORD:?is missing in pooler.env}"
    user tillgate_watcher "${POSTGRES_WATCHER_PASSWORD:?is missing in pooler.env}"
} > "$folder/users.txt"
cat > "$folder/pgbouncer.ini" <<END
[databases]
* = host=${POOLER_SERVER_HOST:-postgres} port=${POOLER_SERVER_PORT:-5432}
[pgbouncer]
listen_addr = ${POOLER_ADDRESS:-0.0.0.0}
listen_port = ${POOLER_PORT:-5432}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = $folder/users.txt
; The watcher tells Prometheus how many wait (DATABASE_POOLER_CONSOLE).
stats_users = tillgate_watcher
pool_mode = transaction
max_prepared_statements = 200
default_pool_size = ${POOLER_POOL_SIZE:-20}
max_client_conn = ${POOLER_CLIENTS_MAX:-1000}
; Without PostgreSQL a request is refused after these seconds, and doesn't hold its thread for two minutes.
query_wait_timeout = 5
; Once PostgreSQL is back, it is noticed within a second.
server_login_retry = 1
log_connections = 0
log_disconnections = 0
END
exec pgbouncer "$folder/pgbouncer.ini"
