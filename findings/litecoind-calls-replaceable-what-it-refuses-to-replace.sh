#!/usr/bin/env bash
# Litecoin Core 0.21.2.1 (Debian 12: litecoind), transactions that say they may be replaced.
#
# Seen: getmempoolentry and gettransaction tell "bip125-replaceable" (true, yes) of a transaction, and
# the wallet's bumpfee makes another with a higher fee that the same node refuses:
# txn-mempool-conflict. Replacing is off (-mempoolreplacement) unless an operator turns it on.
#
# Most expect: what a node calls replaceable to be replaceable there, as with Bitcoin Core, whose RPC
# this is, and bumpfee to bump, or to say that it can't before it signs.
#
# Why it matters: a service that raises a fee by replacing waits forever. It has to spend the change.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 "$folder"
apt-get download -q litecoind=0.21.2.1-1+b1 libboost-filesystem1.74.0 libboost-thread1.74.0 \
    libdb5.3++ libevent-2.1-7 libevent-core-2.1-7 libevent-pthreads-2.1-7 libfmt9 libleveldb1d \
    libminiupnpc17 libsnappy1v5 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" .; done
export LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu"
./usr/lib/litecoin/litecoind -version | head -1
mkdir data
port=$((20000 + RANDOM % 20000))
./usr/lib/litecoin/litecoind -regtest -datadir="$folder/data" -rpcport="$port" -listen=0 \
    -connect=0 -dnsseed=0 -fallbackfee=0.0002 -printtoconsole=0 &
node=$!
ask() {
    ./usr/bin/litecoin-cli -regtest -datadir="$folder/data" -rpcport="$port" "$@"
}
field() {
    python3 -c 'import json, sys; print(eval("told" + sys.argv[1], {"told": json.load(sys.stdin)}))' "$1"
}
for _ in $(seq 300); do
    ask getblockcount >/dev/null 2>&1 && break
    sleep 0.2
done
ask createwallet one >/dev/null
address=$(ask getnewaddress)
ask generatetoaddress 101 "$address" >/dev/null
target=$(ask getnewaddress)
hash=$(ask sendtoaddress "$target" 1 "" "" false true)
told=$(ask getmempoolentry "$hash" | field '["bip125-replaceable"]')
echo "bip125-replaceable: $told"
bumped=$(ask bumpfee "$hash")
errors=$(field '["errors"]' <<<"$bumped")
other=$(field '["txid"]' <<<"$bumped")
echo "bumpfee: errors $errors"
waiting=$(ask getrawmempool | field '')
echo "what waits: $waiting"
refused=$(ask sendrawtransaction "$(ask gettransaction "$other" | field '["hex"]')" 2>&1 || true)
echo "sent again: $(tail -1 <<<"$refused")"
[ "$told" = True ] || { echo "changed: it isn't called replaceable"; exit 1; }
[ "$waiting" = "['$hash']" ] || { echo "changed: another transaction waits"; exit 1; }
grep -q txn-mempool-conflict <<<"$refused" || { echo "changed: it is refused otherwise"; exit 1; }
echo "as described"
