#!/usr/bin/env bash
# Hardhat 2.29.1 (npm: hardhat; its node is EDR), the first block of a new local chain.
#
# Seen: block 0 has no transactions, and its transactionsRoot is 0xc5d246…a470, the Keccak-256 of no
# bytes at all. Its receiptsRoot, and both roots of block 1, mined empty by the same node, are
# 0x56e81f…b421, the root of an empty trie.
#
# Most expect: both roots of every empty block to be that of an empty trie, since that is what a
# header is checked against.
#
# Why it matters: a reader that compares a block's list with its root, as one does against nodes that
# answer short lists, holds block 0 to have transactions that weren't listed, and never gets past it.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"genesis","version":"1.0.0"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts hardhat@2.29.1
echo 'module.exports = { solidity: "0.8.28" };' >hardhat.config.js
export HARDHAT_DISABLE_TELEMETRY_PROMPT=true
echo "hardhat $(node node_modules/hardhat/internal/cli/bootstrap.js --version)"
port=$((20000 + RANDOM % 20000))
node node_modules/hardhat/internal/cli/bootstrap.js node --hostname 127.0.0.1 --port "$port" >node.log 2>&1 &
node=$!

ask() {
    curl -s "http://127.0.0.1:$port" -H 'Content-Type: application/json' \
        -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}"
}

for _ in $(seq 300); do
    ask eth_chainId '[]' 2>/dev/null | grep -q result && break
    sleep 0.2
done
ask hardhat_mine '["0x1"]' >/dev/null
root() {
    ask eth_getBlockByNumber "[\"$1\",false]" | node -e '
        const block = JSON.parse(require("fs").readFileSync(0)).result;
        console.log(`${block.transactions.length} ${block.transactionsRoot} ${block.receiptsRoot}`);'
}
first=$(root 0x0)
second=$(root 0x1)
echo "block 0: transactions, transactionsRoot, receiptsRoot: $first"
echo "block 1: transactions, transactionsRoot, receiptsRoot: $second"
nothing=0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470
empty=0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421
grep -q "^0 $nothing $empty\$" <<<"$first" || { echo "changed: block 0 has another root"; exit 1; }
grep -q "^0 $empty" <<<"$second" || { echo "changed: block 1 has another root"; exit 1; }
echo "as described"
