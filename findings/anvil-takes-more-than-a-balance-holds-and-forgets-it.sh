#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil), waiting transactions that cost more than their sender has.
#
# Seen: of an account two transfers of 60 % of its balance each are taken, with a hash. With the next
# block the second leaves the pool without having been mined, and no call tells of it: no receipt, no
# transaction, nothing queued.
#
# Most expect: what geth does, which adds up what waits: "insufficient funds" for the second.
#
# Why it matters: a sender that looks at each transaction alone never sees an error here. It has to
# add up what it has sent, and send again what is nowhere.
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

balance = int(ask("eth_getBalance", sender, "latest"), 16)
sent = [send(nonce, balance * 6 // 10, 10 * GWEI, GWEI) for nonce in (0, 1)]
print("taken:", [each.startswith("0x") and len(each) == 66 for each in sent])
print("waiting:", int(ask("txpool_status")["pending"], 16))
ask("evm_mine")
print("mined:", [bool(ask("eth_getTransactionReceipt", each)) for each in sent])
status = ask("txpool_status")
print("waiting:", int(status["pending"], 16), "queued:", int(status["queued"], 16))
print("the second is known:", bool(ask("eth_getTransactionByHash", sent[1])))
PY
seen=$(python3 ask.py "$port")
echo "$seen"
[ "$seen" = "taken: [True, True]
waiting: 2
mined: [True, False]
waiting: 0 queued: 0
the second is known: False" ] || { echo "no longer as described"; exit 1; }
echo "as described"
