#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil), `--network tempo`: what a transaction costs.
#
# Seen: the fee is one more Transfer log of the transaction, to 0xfeec…, in whole units of a token with
# six decimals: gasUsed x effectiveGasPrice / 10^12, rounded up. The token is the sender's fee token
# (AlphaUSD of anvil's accounts), whatever the transaction moves: a transfer of PathUSD has a fee in
# AlphaUSD, one of AlphaUSD two logs of the same token. A reverted transaction has the log of its fee as
# well, and a call of nothing has no other. eth_getBalance says 10000 ether and never changes;
# a value of one is refused: "native value transfer not allowed in Tempo mode". No field of the receipt
# names the fee's token or amount.
#
# Most expect: gasUsed x effectiveGasPrice left the balance that eth_getBalance tells, logs are what
# the contract that was called has done, and a reverted transaction has none.
#
# Why it matters: whoever books fees from receipts' gas books a coin that doesn't exist; who sums Transfer
# logs of a token takes the fee for a payment that left; who checks the balance for gas signs what can't be
# paid.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @foundry-rs/anvil@1.7.1 >/dev/null
anvil=$(find "$folder/node_modules" -path '*bin/anvil' -type f | head -1)
"$anvil" --version | head -1
port=$((20000 + RANDOM % 20000))
"$anvil" --network tempo --port "$port" --silent &
node=$!
cat >ask.py <<'PY'
import json, sys, time, urllib.request

def answer(method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{sys.argv[1]}", body, {"Content-Type": "application/json"}
    )
    for _ in range(100):
        try:
            return json.load(urllib.request.urlopen(request))
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the node doesn't answer")

def ask(method, *params):
    return answer(method, *params)["result"]

sender, somebody = ask("eth_accounts")[0], "0x" + "12" * 20
PATH_USD, ALPHA_USD = ("0x20c0" + "0" * 35 + digit for digit in "01")
names = {PATH_USD: "PathUSD", ALPHA_USD: "AlphaUSD"}

def held(token):
    data = "0x70a08231" + sender[2:].rjust(64, "0")
    return int(ask("eth_call", {"to": token, "data": data}, "latest"), 16)

def transfer(amount):
    return "0xa9059cbb" + somebody[2:].rjust(64, "0") + f"{amount:064x}"

def send(what, **fields):
    """Logs as (token, recipient, amount), what left of each token, and the price of the gas."""
    before = {token: held(token) for token in names}
    sent = ask("eth_sendTransaction", {"from": sender, **fields})
    while (receipt := ask("eth_getTransactionReceipt", sent)) is None:
        time.sleep(0.05)
    logs = [
        (names[log["address"]], "0x" + log["topics"][2][-40:], int(log["data"], 16))
        for log in receipt["logs"]
    ]
    left = {names[token]: before[token] - held(token) for token in names}
    price = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    fee = -(-price // 10**12)
    print(f"{what}: status {int(receipt['status'], 16)}, fee {fee}, left {left}")
    for token, recipient, amount in logs:
        print(f"    Transfer of {amount} {token} to {recipient[:6]}…")
    return logs, left, fee

collector = "0xfeec" + "0" * 36
balance = ask("eth_getBalance", sender, "latest")
other = send("a transfer of PathUSD", to=PATH_USD, data=transfer(10**6))
same = send("a transfer of AlphaUSD", to=ALPHA_USD, data=transfer(10**6))
empty = send("a call of nothing", to=sender)
undone = send("a transfer of too much", to=PATH_USD, data=transfer(2**255), gas=hex(200_000))
refused = answer("eth_sendTransaction", {"from": sender, "to": somebody, "value": "0x1"})["error"]
print("native balance:", int(balance, 16) / 10**18, "- a value of one:", refused["message"])
is_as_described = (
    other[0] == [("PathUSD", somebody, 10**6), ("AlphaUSD", collector, other[2])]
    and other[1] == {"PathUSD": 10**6, "AlphaUSD": other[2]}
    and same[0] == [("AlphaUSD", somebody, 10**6), ("AlphaUSD", collector, same[2])]
    and same[1] == {"PathUSD": 0, "AlphaUSD": 10**6 + same[2]}
    and empty[0] == [("AlphaUSD", collector, empty[2])]
    and undone[0] == [("AlphaUSD", collector, undone[2])]
    and min(other[2], same[2], empty[2], undone[2]) > 0
    and ask("eth_getBalance", sender, "latest") == balance == hex(10_000 * 10**18)
    and "native value transfer" in refused["message"]
)
print("as described" if is_as_described else "no longer as described")
raise SystemExit(not is_as_described)
PY
python3 ask.py "$port"
