#!/usr/bin/env bash
# Litecoin Core 0.21.2.1 (Debian 12: litecoind), walletcreatefundedpsbt of a wallet whose coins are all
# in the private part (MWEB).
#
# Seen: the call succeeds, with a fee and a PSBT. The PSBT has the output and no input at all, as the
# format has no place for private inputs; nothing says that it can't be completed. A wallet without
# coins is told "Insufficient funds".
#
# Most expect: an error, or a PSBT that can be signed.
#
# Why it matters: software that hands PSBTs to a signer shows a funded payment with a fee that nobody
# can sign. The number of inputs has to be looked at, not the answer alone.
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
ask -rpcwallet=one sendtoaddress "$(ask -rpcwallet=two getnewaddress "" mweb)" 3 >/dev/null
ask generatetoaddress 7 "$address" >/dev/null
echo "balance: $(ask -rpcwallet=two getbalance)"
answer=$(ask -rpcwallet=two walletcreatefundedpsbt '[]' "{\"$address\": 1}")
psbt=$(echo "$answer" | field '["psbt"]')
echo "fee: $(echo "$answer" | field '["fee"]')"
inputs=$(ask decodepsbt "$psbt" | field '["inputs"]')
outputs=$(ask decodepsbt "$psbt" | field '["outputs"].__len__()')
echo "inputs: $inputs, outputs: $outputs"
ask createwallet empty >/dev/null
none=$(ask -rpcwallet=empty walletcreatefundedpsbt '[]' "{\"$address\": 1}" 2>&1 | tail -1 || true)
echo "of a wallet without coins: $none"
[ "$inputs,$outputs,$none" = "[],1,Insufficient funds" ] || { echo "no longer as described"; exit 1; }
echo "as described"
