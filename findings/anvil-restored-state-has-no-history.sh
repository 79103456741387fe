#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil-linux-amd64) started again from its own --state file.
#
# Seen: blocks, transactions and receipts of before the restart are all answered, but a balance or a
# call at any block before the last one fails with BlockOutOfRangeError, "block height is 20 but
# requested was 5", as if block 5 lay in the future. With --preserve-historical-states, which reads
# like the remedy, the same start answers.
#
# Most expect: either the past balance, or an error that says the state is not kept ("missing trie
# node", "pruned"), as full nodes have it.
#
# Why it matters: whoever reads balances at a block (audits, payments by contracts, reorganizations)
# and rehearses on a chain that was restarted takes the error for a clock or height fault. A client
# that retries "out of range" as "not mined yet" never ends.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @foundry-rs/anvil-linux-amd64@1.7.1
anvil="$folder/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"
chmod +x "$anvil"
"$anvil" --version | head -1
port=$((20000 + RANDOM % 20000))

ask() {
    curl -s "http://127.0.0.1:$port" -H 'Content-Type: application/json' \
        -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}"
}

begin() {
    "$anvil" --quiet --port "$port" --state "$folder/state.json" "$@" &
    node=$!
    for _ in $(seq 100); do
        ask eth_chainId '[]' | grep -q result && return
        sleep 0.1
    done
    echo "anvil didn't start"
    exit 1
}

end() {
    kill -INT "$node"
    wait "$node" || true
}

address=0x00000000000000000000000000000000000000aa
try() {
    echo "--- $1"
    shift
    begin "$@"
    ask anvil_setBalance "[\"$address\",\"0x64\"]" >/dev/null
    ask anvil_mine '["0x14"]' >/dev/null
    echo "before the restart, balance at block 5: $(ask eth_getBalance "[\"$address\",\"0x5\"]")"
    end
    begin "$@"
    echo "after it, height: $(ask eth_blockNumber '[]')"
    echo "block 5: $(ask eth_getBlockByNumber '["0x5",false]' | cut -c1-90)"
    past=$(ask eth_getBalance "[\"$address\",\"0x5\"]")
    echo "balance at block 5: $past"
    end
    rm -f "$folder/state.json"
}

try "--state alone"
alone=$past
try "--state with --preserve-historical-states" --preserve-historical-states
kept=$past
grep -q "BlockOutOfRangeError" <<<"$alone" || { echo "changed: it says something else now"; exit 1; }
grep -q '"result":"0x64"' <<<"$kept" || { echo "changed: the other option doesn't keep it"; exit 1; }
echo "as described"
