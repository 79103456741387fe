#!/usr/bin/env bash
# Litecoin Core 0.21.2.1 (Debian 12: litecoind), dumpwallet and importwallet of a wallet that has coins
# in the private part (MWEB).
#
# Seen: neither call complains. The new wallet has the ordinary coins of the old one and none of its
# private coins, also after rescanblockchain. A copy made by backupwallet has both.
#
# Most expect: the whole balance, or an error that names what a dump can't hold.
#
# Why it matters: whoever keeps or moves a wallet by its dump learns of the loss when the old file is
# gone. Backups of wallets that have ever been paid privately have to be copies of the file.
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
ask createwallet two >/dev/null
ask -rpcwallet=one sendtoaddress "$(ask -rpcwallet=two getnewaddress)" 1 >/dev/null
ask -rpcwallet=one sendtoaddress "$(ask -rpcwallet=two getnewaddress "" mweb)" 2 >/dev/null
ask generatetoaddress 7 "$address" >/dev/null
ask -rpcwallet=two dumpwallet "$folder/data/dump.txt" >/dev/null
ask createwallet three >/dev/null
ask -rpcwallet=three importwallet "$folder/data/dump.txt"
ask -rpcwallet=three rescanblockchain >/dev/null
mkdir -p "$folder/data/regtest/wallets/four"
ask -rpcwallet=two backupwallet "$folder/data/regtest/wallets/four/wallet.dat"
ask loadwallet four >/dev/null
seen=$(for wallet in two three four; do echo "$(ask -rpcwallet=$wallet getbalance)"; done | xargs)
echo "the wallet, its dump, its copy: $seen"
[ "$seen" = "3.00000000 1.00000000 3.00000000" ] || { echo "no longer as described"; exit 1; }
echo "as described"
