#!/usr/bin/env bash
# anvil 1.7.1 (npm: @foundry-rs/anvil), the gas of a transaction that delegates an account (EIP-7702),
# beside @ethereumjs/vm 10.1.0, which has the same rules.
#
# Seen: anvil gives back what the EIP gives back for an account that exists (12,500 gas, a fifth of the
# whole at most), also for one that no block has ever had: 36,800 gas, as for an account with one wei.
# ethereumjs takes 46,000 for the first and 36,800 for the second.
#
# Most expect: 46,000. Of each delegation 25,000 are taken, and the half comes back only "if authority
# is not empty".
#
# Why it matters: who measures on anvil what a delegation of a new address takes finds less than any
# network will take: up to 20 % of the transaction.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"refunds","version":"1.0.0","type":"module"}' >package.json
npm install --silent --no-audit --no-fund @foundry-rs/anvil@1.7.1 @ethereumjs/vm@10.1.0 \
    @ethereumjs/tx@10.1.0 @ethereumjs/common@10.1.0 @ethereumjs/util@10.1.0 >/dev/null
anvil=$(find "$folder/node_modules" -path '*bin/anvil' -type f | head -1)
"$anvil" --version | head -1
port=$((20000 + RANDOM % 20000))
"$anvil" --port "$port" --chain-id 1 --hardfork prague --silent &
node=$!
cat >refunds.js <<'JS'
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { createEOACode7702Tx } from "@ethereumjs/tx";
import {
  Account, bytesToHex, createAddressFromPrivateKey, eoaCode7702SignAuthorization, hexToBytes,
} from "@ethereumjs/util";
import { createVM, runTx } from "@ethereumjs/vm";

async function ask(method, ...params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      const answer = await fetch(`http://127.0.0.1:${process.argv[2]}`, {
        method: "POST", body, headers: { "Content-Type": "application/json" },
      });
      return (await answer.json()).result;
    } catch {
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  throw new Error("the node doesn't answer");
}

const common = new Common({ chain: Mainnet, hardfork: Hardfork.Prague });
const key = (number) => hexToBytes(`0x${number.toString(16).padStart(64, "0")}`);
const sender = key(1000);
const code = `0x${"00".repeat(19)}aa`;
const coins = 10n ** 20n;
const vm = await createVM({ common });
const from = createAddressFromPrivateKey(sender);
await vm.stateManager.putAccount(from, new Account(0n, coins));
await ask("anvil_setBalance", from.toString(), `0x${coins.toString(16)}`);

let nonce = 0n;
async function gas(authority, hasWei) {
  const address = createAddressFromPrivateKey(key(authority));
  if (hasWei) {
    await vm.stateManager.putAccount(address, new Account(0n, 1n));
    await ask("anvil_setBalance", address.toString(), "0x1");
  }
  const signed = eoaCode7702SignAuthorization(
    { chainId: "0x1", address: code, nonce: "0x" }, key(authority),
  );
  const tx = createEOACode7702Tx(
    {
      chainId: 1n, nonce: nonce++, to: code, gasLimit: 200000n, maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n, authorizationList: [signed],
    },
    { common },
  ).sign(sender);
  const here = await runTx(vm, { tx, skipBlockGasLimitValidation: true });
  const hash = await ask("eth_sendRawTransaction", bytesToHex(tx.serialize()));
  let receipt = null;
  while (!receipt) receipt = await ask("eth_getTransactionReceipt", hash);
  const there = await ask("eth_getCode", address.toString(), "latest");
  const isDelegated = there === `0xef0100${code.slice(2)}`;
  return `anvil ${Number(receipt.gasUsed)}, ethereumjs ${here.totalGasSpent}, delegated: ${isDelegated}`;
}
console.log("an account that never was:", await gas(7001, false));
console.log("an account with one wei:", await gas(7002, true));
JS
seen=$(node refunds.js "$port")
echo "$seen"
[ "$seen" = "an account that never was: anvil 36800, ethereumjs 46000, delegated: true
an account with one wei: anvil 36800, ethereumjs 36800, delegated: true" ] || {
    echo "no longer as described"
    exit 1
}
echo "as described"
