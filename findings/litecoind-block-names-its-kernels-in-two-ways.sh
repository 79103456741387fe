#!/usr/bin/env bash
# Litecoin Core 0.21.2.1 (Debian 12: litecoind), kernels of a block's private part (MWEB).
#
# Seen: getblock lists "kernels" of a block's "mweb". With verbosity 1 they are the kernels'
# commitments (excess); with verbosity 2 each has a kernel_id, another value. The inputs and outputs
# beside them are listed by their ids with both.
#
# Most expect: the shorter form to have the ids of the longer one, as it has for transactions, inputs
# and outputs.
#
# Why it matters: the id under which a payment out of that part has waited is its kernel's id
# (reversed). Looked for in the short form of blocks it is never found.
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
ask generatetoaddress 431 "$address" >/dev/null
ask sendtoaddress "$(ask getnewaddress "" mweb)" 10 >/dev/null
block=$(ask generatetoaddress 1 "$address" | field '[0]')
short=$(ask getblock "$block" 1 | field '["mweb"]["kernels"][0]')
id=$(ask getblock "$block" 2 | field '["mweb"]["kernels"][0]["kernel_id"]')
excess=$(ask getblock "$block" 2 | field '["mweb"]["kernels"][0]["excess"]')
echo "verbosity 1: kernel $short"
echo "verbosity 2: kernel_id $id, excess $excess"
outputs=$(ask getblock "$block" 1 | field '["mweb"]["outputs"][0]')
longer=$(ask getblock "$block" 2 | field '["mweb"]["outputs"][0]["output_id"]')
echo "an output with 1: $outputs; with 2: $longer"
[ "$short" = "$excess" ] && [ "$short" != "$id" ] || { echo "changed: the short form has others"; exit 1; }
[ "$outputs" = "$longer" ] || { echo "changed: outputs differ as well"; exit 1; }
echo "as described"
