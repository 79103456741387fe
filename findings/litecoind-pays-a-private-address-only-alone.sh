#!/usr/bin/env bash
# Litecoin Core 0.21.2.1 (Debian 12: litecoind), `sendmany` to private (MWEB) and ordinary addresses.
#
# Seen: a private address is paid when it is the only recipient. Beside another recipient, private or
# ordinary, the whole call is refused: "Only one MWEB recipient supported at this time".
#
# Most expect: one call to pay any list of addresses that the node calls valid, as it has always been.
#
# Why it matters: who pays many people in one transaction loses the whole batch by one person's choice
# of wallet, and has to pay those one by one.
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
for _ in $(seq 300); do
    ask getblockcount >/dev/null 2>&1 && break
    sleep 0.2
done
ask createwallet one >/dev/null
ask generatetoaddress 431 "$(ask -rpcwallet=one getnewaddress)" >/dev/null
ask -rpcwallet=one sendtoaddress "$(ask -rpcwallet=one getnewaddress "" mweb)" 10 >/dev/null
ask generatetoaddress 10 "$(ask -rpcwallet=one getnewaddress)" >/dev/null
pays() {
    local list="" kind
    for kind in "$@"; do
        list="$list,\"$(ask -rpcwallet=one getnewaddress "" "$kind")\":1"
    done
    if ask -rpcwallet=one sendmany "" "{${list#,}}" >said 2>&1; then
        echo "$*: paid"
    else
        echo "$*: refused"
        tail -1 said >&2
    fi
    ask generatetoaddress 1 "$(ask -rpcwallet=one getnewaddress)" >/dev/null
}
seen="$(pays mweb)
$(pays bech32)
$(pays mweb mweb)
$(pays bech32 bech32)
$(pays mweb bech32)
$(pays bech32 mweb)"
echo "$seen"
[ "$seen" = "mweb: paid
bech32: paid
mweb mweb: refused
bech32 bech32: paid
mweb bech32: refused
bech32 mweb: refused" ] || { echo "no longer as described"; exit 1; }
echo "as described"
