#!/usr/bin/env bash
# Litecoin Core 0.21.2.1 (Debian 12: litecoind), createrawtransaction with a private (MWEB) address.
#
# Seen: validateaddress calls the address valid and its scriptPubKey is empty. createrawtransaction
# takes it without an error and makes an ordinary output of the whole amount whose script is empty:
# nothing in the transaction names the address any more.
#
# Most expect: an output of the private part, or an error that says to let the wallet send
# (sendtoaddress pays the same address rightly).
#
# Why it matters: payout software that builds its own transactions and checks addresses by asking the
# node would send coins that their receiver never gets. Such addresses have to be refused by prefix.
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
script=$(ask validateaddress "$private" | field '["scriptPubKey"]')
valid=$(ask validateaddress "$private" | field '["isvalid"]')
raw=$(ask createrawtransaction '[]' "{\"$private\": 1}")
# No input, hence read as a transaction without witness: version, inputs, outputs.
output=$(ask decoderawtransaction "$raw" false | field '["vout"][0]')
echo "valid: $valid, script: '$script'"
echo "the output: $output"
amount=$(ask decoderawtransaction "$raw" false | field '["vout"][0]["value"]')
hex=$(ask decoderawtransaction "$raw" false | field '["vout"][0]["scriptPubKey"]["hex"]')
[ "$valid,$script,$amount,$hex" = "True,,1.0," ] || { echo "no longer as described"; exit 1; }
echo "as described"
