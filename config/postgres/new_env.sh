#!/bin/sh
# Writes a file with secrets for each process: its PostgreSQL connection, the approval keys, the signer's passphrase.
# Run it once next to compose.yaml, before the first start. Existing files are never overwritten.
# Web and workers connect through the pooler of compose.yaml; with --without-pooler, to PostgreSQL itself. With --watcher it only adds the
# watcher's file and password to the files of an earlier release.
set -eu
umask 077
names="postgres pooler owner web worker watcher approvals signer reader"
case "${1-}" in
    "") is_pooled=true ;;
    --without-pooler) is_pooled=false ;;
    --watcher) names=watcher ;;
    *)
        echo "usage: new_env.sh [--without-pooler | --watcher]" >&2
        exit 2
        ;;
esac
for name in $names; do
    if [ -e "$name.env" ]; then
        echo "$name.env is there already and is never overwritten" >&2
        exit 1
    fi
done
new() { od -An -tx1 -N24 /dev/urandom | tr -d ' \n'; }
url() { echo "postgresql://$1:$2@$3:5432/tillgate"; }
direct() { echo "DATABASE_URL=$(url "$1" "$2" postgres)"; }
pooled() {
    if [ "$is_pooled" = false ]; then
        direct "$1" "$2"
        return
    fi
    cat <<END
DATABASE_URL=$(url "$1" "$2" pooler)
DATABASE_POOLER=true
DATABASE_PREPARED_STATEMENTS=true
DATABASE_DIRECT_URL=$(url "$1" "$2" postgres)
END
}
if [ "$names" = watcher ]; then
    # The same addresses as the worker's, with the watcher's role and password.
    watcher=$(new)
    password=$(sed -n 's/^POSTGRES_WORKER_PASSWORD=//p' postgres.env)
    sed "s/tillgate_worker:$password@/tillgate_watcher:$watcher@/" worker.env > watcher.env
    grep -q "tillgate_watcher:$watcher@" watcher.env || {
        rm watcher.env
        echo "worker.env doesn't have the password of postgres.env: write watcher.env by hand" >&2
        exit 1
    }
    for file in postgres.env pooler.env; do
        [ ! -e "$file" ] || echo "POSTGRES_WATCHER_PASSWORD=$watcher" >> "$file"
    done
    exit
fi
owner=$(new) web=$(new) worker=$(new) watcher=$(new) signer=$(new) reader=$(new)
cat > postgres.env <<END
POSTGRES_PASSWORD=$owner
POSTGRES_WEB_PASSWORD=$web
POSTGRES_WORKER_PASSWORD=$worker
POSTGRES_WATCHER_PASSWORD=$watcher
POSTGRES_SIGNER_PASSWORD=$signer
POSTGRES_READER_PASSWORD=$reader
END
cat > pooler.env <<END
POSTGRES_WEB_PASSWORD=$web
POSTGRES_WORKER_PASSWORD=$worker
POSTGRES_WATCHER_PASSWORD=$watcher
END
direct tillgate "$owner" > owner.env
pooled tillgate_web "$web" > web.env
pooled tillgate_worker "$worker" > worker.env
{
    pooled tillgate_watcher "$watcher"
    [ "$is_pooled" = false ] || echo DATABASE_POOLER_CONSOLE=true
} > watcher.env
direct tillgate_reader "$reader" > reader.env
echo "APPROVAL_KEYS=first:$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')" > approvals.env
{
    direct tillgate_signer "$signer"
    echo "SIGNER_PASSPHRASE=$(new)"
} > signer.env
