#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil), `--network tempo`: a token sent to a virtual address (TIP-1022)
# that nobody has registered.
#
# Seen: without more, the transfer succeeds and the coins are the virtual address's own, which no key
# opens. With `--hardfork t4` the same transfer is undone. (TIP-1022 came with T3.)
#
# Most expect: `--network tempo` to have Tempo's rules of today, as anvil's other networks have the
# newest it knows; and no difference that loses coins without an error.
#
# Why it matters: a test of deposits at virtual addresses passes or fails by a flag that isn't Tempo's
# own, and code that looks right on the local node loses coins there in silence.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @foundry-rs/anvil@1.7.1 >/dev/null
anvil=$(find "$folder/node_modules" -path '*bin/anvil' -type f | head -1)
"$anvil" --version | head -1
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

PATH_USD = "0x20c0" + "0" * 36
virtual = "0x01020304" + "fd" * 10 + "000000000001"
sender = ask("eth_accounts")[0]
data = "0xa9059cbb" + virtual[2:].rjust(64, "0") + f"{10**6:064x}"
sent = ask("eth_sendTransaction", {"from": sender, "to": PATH_USD, "data": data, "gas": hex(600_000)})
while (receipt := ask("eth_getTransactionReceipt", sent)) is None:
    time.sleep(0.05)
held = ask("eth_call", {"to": PATH_USD, "data": "0x70a08231" + virtual[2:].rjust(64, "0")}, "latest")
print("status", int(receipt["status"], 16), "- held there:", int(held, 16))
PY
try() {
    local port=$((20000 + RANDOM % 20000))
    "$anvil" --network tempo --port "$port" --silent "$@" &
    node=$!
    echo "${*:-without more}: $(python3 ask.py "$port")"
    kill "$node"
    wait "$node" 2>/dev/null || true
}
try >seen
try --hardfork t4 >>seen
cat seen
[ "$(cat seen)" = "without more: status 1 - held there: 1000000
--hardfork t4: status 0 - held there: 0" ] || { echo "no longer as described"; exit 1; }
echo "as described"
