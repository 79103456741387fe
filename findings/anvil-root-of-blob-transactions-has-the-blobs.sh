#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil-linux-amd64), a block with one blob transaction (type 3).
#
# Seen: the block lists the hash of the transaction without its blobs, as it should, but its header's
# transactionsRoot is not the root of that transaction: it is the root of the form in which a wallet
# hands it to a node, with blobs, commitments and proofs (131,336 bytes in place of 152).
#
# Most expect: the root of the transaction without its blobs (EIP-4844 puts only that into a block),
# as anvil's own roots of types 0, 1, 2 and 4 are.
#
# Why it matters: who compares a block's transactions with its header, as against nodes that alter a
# value, takes an honest local node for a liar as soon as somebody sends a blob.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @foundry-rs/anvil-linux-amd64@1.7.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check eth-account==0.13.7 ckzg==2.1.1 trie==3.1.0 rlp==4.1.0
anvil="$folder/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"
chmod +x "$anvil"
"$anvil" --version | head -1
port=$((20000 + RANDOM % 20000))
"$anvil" --silent --host 127.0.0.1 --port "$port" &
node=$!
venv/bin/python - "$port" <<'PYTHON'
import json
import secrets
import sys
import time
from urllib.request import Request, urlopen

import rlp
from eth_account import Account
from eth_utils import keccak
from trie import HexaryTrie


def ask(method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    head = {"Content-Type": "application/json"}
    with urlopen(Request(f"http://127.0.0.1:{sys.argv[1]}", body, head)) as answer:
        return json.load(answer)["result"]


def root(value):
    tree = HexaryTrie({})
    tree[rlp.encode(0)] = value
    return "0x" + tree.root_hash.hex()


for _ in range(100):
    try:
        chain = int(ask("eth_chainId"), 16)
        break
    except OSError:
        time.sleep(0.2)
payer = Account.from_key(secrets.token_bytes(32))
ask("anvil_setBalance", payer.address, hex(10**20))


def send(**fields):
    blobs = fields.pop("blobs", None)
    order = {
        "chainId": chain, "nonce": int(ask("eth_getTransactionCount", payer.address, "latest"), 16),
        "to": payer.address, "value": 1, "gas": 100_000, "maxFeePerGas": 10**11,
        "maxPriorityFeePerGas": 10**9, "type": 2, **fields,
    }
    signed = payer.sign_transaction(order, blobs=blobs)
    tx_hash = ask("eth_sendRawTransaction", "0x" + bytes(signed.raw_transaction).hex())
    receipt = ask("eth_getTransactionReceipt", tx_hash)
    return bytes(signed.raw_transaction), tx_hash, ask("eth_getBlockByNumber", receipt["blockNumber"], False)


raw, tx_hash, block = send()
print("type 2: root of the transaction is the header's:", root(raw) == block["transactionsRoot"])
plain = root(raw) == block["transactionsRoot"]
raw, tx_hash, block = send(type=3, maxFeePerBlobGas=10**9, blobs=[bytes(131072)])
alone = b"\x03" + rlp.encode(rlp.decode(raw[1:])[0])
print("type 3: hash is of", len(alone), "bytes without the blobs:", "0x" + keccak(alone).hex() == tx_hash)
print("type 3: root of those is the header's:", root(alone) == block["transactionsRoot"])
print("type 3: root of all", len(raw), "bytes is the header's:", root(raw) == block["transactionsRoot"])
seen = [
    plain,
    "0x" + keccak(alone).hex() == tx_hash,
    root(alone) != block["transactionsRoot"],
    root(raw) == block["transactionsRoot"],
]
if not all(seen):
    sys.exit("changed")
print("as described")
PYTHON
