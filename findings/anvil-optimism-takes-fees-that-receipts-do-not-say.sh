#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil) with --optimism, the share of Ethereum's fees (L1 data fee).
#
# Seen: once the L1Block contract has prices, a transfer costs its sender more than gas used times
# price, as on the network; but the receipt has no l1Fee that would say how much. A transaction whose
# sender can pay the gas and not that share is taken into the pool with a hash, and no block has it.
#
# Most expect: what op-geth does: l1Fee in each receipt, and "insufficient funds" for the second.
#
# Why it matters: books that are made of receipts are short by that share, and a sender that waits for
# a receipt waits forever. What left a wallet has to be read from its balance or from the prices.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @foundry-rs/anvil@1.7.1 >/dev/null
anvil=$(find "$folder/node_modules" -path '*bin/anvil' -type f | head -1)
"$anvil" --version | head -1
port=$((20000 + RANDOM % 20000))
"$anvil" --port "$port" --optimism --no-mining --silent &
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

def number(text):
    return int(text, 16)

# The base fee of Ethereum, its scalars and its blob fee, where the contract keeps them.
words = {1: 30 * 10**9, 3: (2269 << 96) | (1055762 << 64), 7: 10**9}
for place, word in words.items():
    contract = "0x4200000000000000000000000000000000000015"
    ask("anvil_setStorageAt", contract, f"0x{place:064x}", f"0x{word:064x}")
ask("evm_mine")
sender, other, receiver = ask("eth_accounts")[:3]
price = {"maxFeePerGas": hex(10**10), "maxPriorityFeePerGas": hex(10**9), "gas": hex(21000)}

def send(account, value):
    sent = ask(
        "eth_sendTransaction", {"from": account, "to": receiver, "value": hex(value), **price}
    )
    ask("evm_mine")
    return sent, ask("eth_getTransactionReceipt", sent)

before = number(ask("eth_getBalance", sender, "latest"))
_, receipt = send(sender, 1)
left = before - number(ask("eth_getBalance", sender, "latest")) - 1
gas = number(receipt["gasUsed"]) * number(receipt["effectiveGasPrice"])
print(f"paid beside the gas: {left > gas}; the receipt has l1Fee: {'l1Fee' in receipt}")
# All that the other has but the most that its gas may cost.
balance = number(ask("eth_getBalance", other, "latest"))
sent, receipt = send(other, balance - 21000 * 10**10)
for _ in range(5):
    ask("evm_mine")
receipt = ask("eth_getTransactionReceipt", sent)
print(f"the second has a hash: {len(sent) == 66}; a receipt after six blocks: {bool(receipt)}")
PY
seen=$(python3 ask.py "$port")
echo "$seen"
[ "$seen" = "paid beside the gas: True; the receipt has l1Fee: False
the second has a hash: True; a receipt after six blocks: False" ] || { echo "no longer as described"; exit 1; }
echo "as described"
