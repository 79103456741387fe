#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil), a waiting transaction replaced by another with its nonce.
#
# Seen: one wei more of maxFeePerGas is enough, even with half of the tip. The first one is gone.
#
# Most expect: what nodes of the network ask for, 10 % more of both the fee and the tip, and
# "replacement transaction underpriced" otherwise.
#
# Why it matters: code that raises fees passes its tests with any step, and on a network it waits
# behind a transaction that nobody lets it replace.
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
            answer = json.load(urllib.request.urlopen(request))
            return answer["result"] if "result" in answer else answer["error"]["message"]
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the node doesn't answer")

GWEI = 10**9
sender, receiver = ask("eth_accounts")[:2]

def send(nonce, value, fee, tip):
    return ask(
        "eth_sendTransaction",
        {
            "from": sender, "to": receiver, "nonce": hex(nonce), "value": hex(value),
            "gas": hex(21000), "maxFeePerGas": hex(fee), "maxPriorityFeePerGas": hex(tip),
        },
    )

first = send(0, 1, 10 * GWEI, 2 * GWEI)
second = send(0, 2, 10 * GWEI + 1, GWEI)
ask("evm_mine")
print("the second is taken:", second.startswith("0x") and len(second) == 66)
print("mined:", [bool(ask("eth_getTransactionReceipt", each)) for each in (first, second)])
PY
seen=$(python3 ask.py "$port")
echo "$seen"
[ "$seen" = "the second is taken: True
mined: [False, True]" ] || { echo "no longer as described"; exit 1; }
echo "as described"
