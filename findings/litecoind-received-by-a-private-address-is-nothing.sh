#!/usr/bin/env bash
# Litecoin Core 0.21.2.1 (Debian 12: litecoind), what a private (MWEB) address has received.
#
# Seen: a confirmed payment of 10 to a private address of the wallet is listed by
# listreceivedbyaddress with its amount, confirmation and id. getreceivedbyaddress, asked about the
# same address, answers 0 without an error. For an ordinary address both say the same.
#
# Most expect: the two calls to agree, or the one that can't know to say so.
#
# Why it matters: shops ask getreceivedbyaddress whether an order is paid, and would wait forever for
# coins that have come.
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
ordinary=$(ask -rpcwallet=one getnewaddress)
ask -rpcwallet=one sendtoaddress "$ordinary" 10 >/dev/null
ask generatetoaddress 1 "$address" >/dev/null
listed() {
    ask -rpcwallet=one listreceivedbyaddress 1 false true "$1" | field '[0]["amount"]'
}
seen="private: $(ask -rpcwallet=one getreceivedbyaddress "$private"), listed $(listed "$private")
ordinary: $(ask -rpcwallet=one getreceivedbyaddress "$ordinary"), listed $(listed "$ordinary")"
echo "$seen"
[ "$seen" = "private: 0.00000000, listed 10.0
ordinary: 10.00000000, listed 10.0" ] || { echo "no longer as described"; exit 1; }
echo "as described"
