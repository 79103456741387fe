#!/usr/bin/env bash
# Litecoin Core 0.21.2.1 (Debian 12: litecoind), transactions within the private part (MWEB).
#
# Seen: a payment from one private address to another waits in the mempool with a fee, and with a
# vsize and a weight of 0; getmempoolinfo counts it among "size" and adds nothing to "bytes". Its own
# measure, mwebweight, is a field that Bitcoin Core doesn't have.
#
# Most expect: every transaction to have a size, so that a fee rate is the fee by vsize.
#
# Why it matters: tools written for Bitcoin Core divide by vsize to compare fee rates, or sort by it,
# and meet a division by zero.
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
address=$(ask -rpcwallet=one getnewaddress)
private=$(ask -rpcwallet=one getnewaddress "" mweb)
ask generatetoaddress 431 "$address" >/dev/null
ask -rpcwallet=one sendtoaddress "$private" 10 >/dev/null
ask generatetoaddress 7 "$address" >/dev/null
ask createwallet two >/dev/null
ask -rpcwallet=one sendtoaddress "$(ask -rpcwallet=two getnewaddress "" mweb)" 3 >/dev/null
ask generatetoaddress 7 "$address" >/dev/null
inner=$(ask -rpcwallet=two sendtoaddress "$(ask -rpcwallet=one getnewaddress "" mweb)" 1)
entry=$(ask getmempoolentry "$inner")
seen=$(echo "$entry" | field '["vsize"]')
seen="$seen,$(echo "$entry" | field '["weight"]')"
seen="$seen,$(ask getmempoolinfo | field '["size"]'),$(ask getmempoolinfo | field '["bytes"]')"
echo "vsize, weight, transactions, bytes: $seen"
echo "fee: $(echo "$entry" | field '["fee"]'), mwebweight: $(echo "$entry" | field '["mwebweight"]')"
echo "$entry" | field '["fee"]' | python3 -c 'assert float(input()) > 0'
[ "$seen" = "0,0,1,0" ] || { echo "no longer as described"; exit 1; }
echo "as described"
