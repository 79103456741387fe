#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil), logs of blocks that a reorg replaced.
#
# Seen: after anvil_reorg a filter made by eth_newFilter has no changes, although the logs that it has
# handed out are of blocks that are gone. A block filter names the new blocks. The transactions of the
# replaced blocks are neither mined again nor back in the pool.
#
# Most expect: what the JSON-RPC of Ethereum clients says: the same logs again, with "removed": true.
#
# Why it matters: a watcher that takes back credits only for removed logs passes its reorg tests by
# never being told; it has to compare the hashes of blocks.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @foundry-rs/anvil@1.7.1 >/dev/null
anvil=$(find "$folder/node_modules" -path '*bin/anvil' -type f | head -1)
"$anvil" --version | head -1
port=$((20000 + RANDOM % 20000))
"$anvil" --port "$port" --no-mining --silent &
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
            return json.load(urllib.request.urlopen(request))["result"]
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the node doesn't answer")

sender = ask("eth_accounts")[0]
# A contract that logs nothing but its address whenever it is called.
made = ask("eth_sendTransaction", {"from": sender, "data": "0x6560006000a0006000526006601af3"})
ask("evm_mine")
contract = ask("eth_getTransactionReceipt", made)["contractAddress"]
logs, blocks = ask("eth_newFilter", {"address": contract}), ask("eth_newBlockFilter")
for _ in range(2):
    called = ask("eth_sendTransaction", {"from": sender, "to": contract})
    ask("evm_mine")
before = [ask("eth_getFilterChanges", name) for name in (logs, blocks)]
gone = before[0][1]["blockHash"]
ask("anvil_reorg", 2, [])
after = [ask("eth_getFilterChanges", name) for name in (logs, blocks)]
print(f"before: {len(before[0])} logs, {len(before[1])} blocks")
print(f"after: {len(after[0])} logs, {len(after[1])} blocks")
print("the block of the last log:", ask("eth_getBlockByHash", gone, False))
print("its transaction:", ask("eth_getTransactionByHash", called))
seen = [len(before[0]), len(before[1]), len(after[0]), len(after[1])]
is_as_described = seen == [2, 2, 0, 2] and ask("eth_getTransactionByHash", called) is None
print("as described" if is_as_described else "no longer as described")
raise SystemExit(not is_as_described)
PY
python3 ask.py "$port"
