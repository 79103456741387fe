#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil), `--network tempo`: what an account must have to send.
#
# Seen: an account that holds 10 PathUSD, from which its fee is taken, can't send an ordinary
# transaction (type 2): eth_estimateGas answers, and eth_sendRawTransaction says "Insufficient funds for gas * price + value". eth_getBalance
# says 0x0 for it. After anvil_setBalance the same bytes are mined, the fee leaves in PathUSD, and the
# native balance stays as it was set. Tempo's own transaction (type 0x76) is mined without one.
#
# Most expect: a network whose fees are paid in a stablecoin asks for no native balance, which it can't
# be sent ("native value transfer not allowed in Tempo mode"); Tempo's own nodes tell the same large
# number for every account.
#
# Why it matters: a wallet of one's own, as of a service or of a deposit address, sends no ordinary
# transaction on a local Tempo until somebody sets a balance that doesn't exist.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @foundry-rs/anvil@1.7.1 >/dev/null
anvil=$(find "$folder/node_modules" -path '*bin/anvil' -type f | head -1)
"$anvil" --version | head -1
python3 -m venv venv
venv/bin/pip install --quiet eth-account==0.13.7
port=$((20000 + RANDOM % 20000))
"$anvil" --network tempo --port "$port" --silent &
node=$!
cat >ask.py <<'PY'
import json, sys, time, urllib.request
import rlp
from eth_account import Account
from eth_utils import keccak

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

def receipt_of(tx_hash):
    while (receipt := ask("eth_getTransactionReceipt", tx_hash)) is None:
        time.sleep(0.05)
    return receipt

PATH_USD = "0x20C0" + "0" * 36
payer = Account.create()
address = payer.address.lower()

def transfer(to, amount):
    return "0xa9059cbb" + to[2:].lower().rjust(64, "0") + f"{amount:064x}"

def held():
    data = "0x70a08231" + address[2:].rjust(64, "0")
    return int(ask("eth_call", {"to": PATH_USD, "data": data}, "latest"), 16)

funder = ask("eth_accounts")[0]
receipt_of(ask("eth_sendTransaction", {"from": funder, "to": PATH_USD, "data": transfer(address, 10**7)}))
call = {"from": address, "to": PATH_USD, "data": transfer(funder, 10**6)}
estimate = int(ask("eth_estimateGas", call), 16)
native = ask("eth_getBalance", address, "latest")
signed = payer.sign_transaction({
    "type": 2, "chainId": int(ask("eth_chainId"), 16), "nonce": 0, "to": PATH_USD, "value": 0,
    "data": call["data"], "gas": 400_000, "maxFeePerGas": 20 * 10**9, "maxPriorityFeePerGas": 0,
})
raw = "0x" + bytes(signed.raw_transaction).hex()
refused = answer("eth_sendRawTransaction", raw)["error"]["message"]
print(f"it holds {held()} PathUSD and {int(native, 16)} native, the estimate is {estimate}")
print("refused:", refused)
fields = [int(ask("eth_chainId"), 16), 0, 20 * 10**9, 400_000,
          [[bytes.fromhex(PATH_USD[2:]), 0, bytes.fromhex(call["data"][2:])]], [], 0, 0, b"", b"",
          bytes.fromhex(PATH_USD[2:]), b"", []]
by = payer.unsafe_sign_hash(keccak(b"\x76" + rlp.encode(fields)))
proof = by.r.to_bytes(32, "big") + by.s.to_bytes(32, "big") + bytes([by.v])
own = "0x" + (b"\x76" + rlp.encode([*fields, proof])).hex()
before = ask("evm_snapshot")
of_tempo = receipt_of(ask("eth_sendRawTransaction", own))
print(f"Tempo's own: status {of_tempo['status']}, type {of_tempo['type']}")
ask("evm_revert", before)
ask("anvil_setBalance", address, hex(10**18))
receipt = receipt_of(ask("eth_sendRawTransaction", raw))
fee = 10**7 - 10**6 - held()
after = ask("eth_getBalance", address, "latest")
print(f"with a balance that was set: status {receipt['status']}, fee {fee} PathUSD, native", int(after, 16))
is_as_described = (
    native == "0x0" and refused == "Insufficient funds for gas * price + value"
    and (of_tempo["status"], of_tempo["type"]) == ("0x1", "0x76")
    and receipt["status"] == "0x1" and fee > 0 and after == hex(10**18)
)
print("as described" if is_as_described else "no longer as described")
raise SystemExit(not is_as_described)
PY
venv/bin/python ask.py "$port"
