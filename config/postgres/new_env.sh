#!/bin/sh
# Writes a file with secrets for each process: its PostgreSQL connection, the approval keys, the signer's passphrase.
# Run it once next to compose.yaml, before the first start. Existing files are never overwritten.
set -eu
umask 077
for name in postgres owner web worker approvals signer reader; do
    if [ -e "$name.env" ]; then
        echo "$name.env is there already and is never overwritten" >&2
        exit 1
    fi
done
new() { od -An -tx1 -N24 /dev/urandom | tr -d ' \n'; }
url() { echo "DATABASE_URL=postgresql://$1:$2@postgres:5432/tillgate"; }
owner=$(new) web=$(new) worker=$(new) signer=$(new) reader=$(new)
cat > postgres.env <<END
POSTGRES_PASSWORD=$owner
POSTGRES_WEB_PASSWORD=$web
POSTGRES_WORKER_PASSWORD=$worker
POSTGRES_SIGNER_PASSWORD=$signer
POSTGRES_READER_PASSWORD=$reader
END
url tillgate "$owner" > owner.env
url tillgate_web "$web" > web.env
url tillgate_worker "$worker" > worker.env
url tillgate_reader "$reader" > reader.env
echo "APPROVAL_KEYS=first:$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')" > approvals.env
{
    url tillgate_signer "$signer"
    echo "SIGNER_PASSPHRASE=$(new)"
} > signer.env
