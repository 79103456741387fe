#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil), `trace_filter` by blocks.
#
# Seen: "latest" and "earliest" are refused ("expected a 8 byte hex string", -32602), while numbers are
# taken, and so is leaving them out. eth_getLogs of the same node takes the same tags.
#
# Most expect: `fromBlock` and `toBlock` to be numbers or tags in both, as the method is documented by
# the nodes that brought it (Erigon, Nethermind: "QUANTITY|TAG").
#
# Why it matters: a program that looks for native coins moved by contracts up to "latest" calls a local
# node one that can't trace.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @foundry-rs/anvil@1.7.1 >/dev/null
anvil=$(find "$folder/node_modules" -path '*bin/anvil' -type f | head -1)
"$anvil" --version | head -1
port=$((20000 + RANDOM % 20000))
"$anvil" --port "$port" --silent &
node=$!
cat >ask.py <<'PY'
import json, sys, time, urllib.request

def ask(method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{sys.argv[1]}", body, {"Content-Type": "application/json"}
    )
    for _ in range(100):
        try:
            answer = json.load(urllib.request.urlopen(request))
            return "taken" if "result" in answer else answer["error"]["code"]
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the node doesn't answer")

ask("evm_mine")
for blocks in ({"fromBlock": "earliest", "toBlock": "latest"}, {"fromBlock": "0x0", "toBlock": "0x1"}, {}):
    print(*blocks.values(), ask("eth_getLogs", blocks), ask("trace_filter", blocks))
PY
seen=$(python3 ask.py "$port")
echo "$seen"
[ "$seen" = "earliest latest taken -32602
0x0 0x1 taken taken
taken taken" ] || { echo "no longer as described"; exit 1; }
echo "as described"
