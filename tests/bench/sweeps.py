"""Gas of a sweep: a transfer of its own with the gas that is sent for it, against a batch by
delegation (EIP-7702) and one by signed transfers (EIP-3009), at 1, 10 and 100 deposits.

    .venv/bin/python -m tests.bench.sweeps

Both run on the same node, of the same token, to a wallet that holds some: a plain one, and one
behind a proxy, as USDC is. A batch is measured twice: of new addresses, each of which delegates,
and of the same addresses after that. Signed transfers cost the same each time.

anvil gives back half of what each delegation took, as if the address had been there before
(findings/anvil-refunds-delegations-of-accounts-that-never-were.sh). No network does, so that a
first batch is computed from what was taken before anything was given back.
"""

import json
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from tests.bench.harness import bench_database, chain_program, figure, print_table

if TYPE_CHECKING:
    from apps.chain.keys.secp256k1 import SigningKey
    from tests.chain.local import LocalChain

COUNTS = (1, 10, 100)
COINS = 10**7
ETHER = 10**18
# Given back for a balance that becomes nothing, and of what a transaction takes at most.
CLEARED = 4_800
GIVEN_BACK_MAX = 5
# What anvil gives back besides for a delegation of an address that never was.
NEVER_WAS = 12_500


def signed_call(token: str, contract: str, keys: "Sequence[SigningKey]") -> str:
    """The call that collects what these keys sign."""
    from apps.assets.models import Asset, Chain
    from apps.chain.networks.evm import sweepers
    from apps.chain.sending.sweep_authorizations import digest
    from tests.chain.local import SEPOLIA_ID

    chain, number = Chain(chain_id=SEPOLIA_ID), b"\x01" * 32
    domain = {"eip712_name": "USD Coin", "eip712_version": "1"}
    asset = Asset(chain=chain, contract_address=token, **domain)
    signatures = {
        key.address: key.sign(digest(asset, contract, key.address, COINS, number)) for key in keys
    }
    pairs = [(key.address, COINS) for key in keys]
    return sweepers.collecting(token, number, pairs, signatures)


def nonce_of(chain: "LocalChain", address: str) -> int:
    return int(chain.call("eth_getTransactionCount", address, "latest"), 16)


def held(chain: "LocalChain", token: str, address: str) -> int:
    call = {"to": token, "data": f"0x70a08231{address[2:]:0>64}"}
    return int(chain.call("eth_call", call, "latest"), 16)


def as_networks_take(used: int, count: int) -> int:
    """Gas of a first batch of so many new addresses, of what anvil says that it was."""
    taken = used + count * (CLEARED + NEVER_WAS)
    if taken > used * GIVEN_BACK_MAX // (GIVEN_BACK_MAX - 1):  # no more than a fifth came back
        taken = used * GIVEN_BACK_MAX // (GIVEN_BACK_MAX - 1)
    return taken - min(count * CLEARED, taken // GIVEN_BACK_MAX)


def gas_of(program: str, count: int, *, is_proxied: bool) -> tuple[float, float, float, float]:
    """Gas of each of so many sweeps: single, in a batch at first, in one later, and in a batch of
    signed transfers."""
    from apps.chain.encoding.abi import encode
    from apps.chain.encoding.transactions import Delegation, Transaction
    from apps.chain.keys.secp256k1 import SigningKey
    from apps.chain.networks.evm import sweepers
    from tests.chain.local import SEPOLIA_ID, LocalChain

    chain = LocalChain(program)
    wallet = SigningKey(b"\x11" * 32)
    chain.call("anvil_setBalance", wallet.address, hex(1000 * ETHER))
    token = chain.deploy_token_behind_proxy() if is_proxied else chain.deploy_token()
    chain.mint(token, wallet.address, COINS)
    to, data = sweepers.deployment(wallet.address)
    chain.wait(chain.send(to, data=data))

    def spent(
        key: SigningKey, to: str, wei: int, data: str, gas: int, given: list[Delegation]
    ) -> int:
        transaction = Transaction(
            *(SEPOLIA_ID, nonce_of(chain, key.address), to, wei, data, gas),
            max_fee_wei=10**11,
            priority_fee_wei=10**9,
            delegations=given,
        ).signed(key)
        chain.wait(chain.call("eth_sendRawTransaction", transaction.raw))
        receipt = chain.call("eth_getTransactionReceipt", transaction.tx_hash)
        if receipt["status"] != "0x1":
            raise RuntimeError(f"reverted: {json.dumps(receipt)[:200]}")
        return int(receipt["gasUsed"], 16)

    transfer = "0xa9059cbb" + encode(["address", "uint256"], [wallet.address, COINS]).hex()
    single = 0
    for place in range(count):
        key = SigningKey((1_000 + place).to_bytes(32))
        chain.mint(token, key.address, COINS)
        single += spent(wallet, key.address, ETHER // 10, "0x", 21_000, [])
        single += spent(key, token, 0, transfer, 120_000, [])
    keys = [SigningKey((5_000 + place).to_bytes(32)) for place in range(count)]
    call = sweepers.call(token, [(key.address, COINS) for key in keys])
    batches: list[float] = []
    for _ in range(2):
        for key in keys:
            chain.mint(token, key.address, COINS)
        before = held(chain, token, wallet.address)
        given = (
            []
            if batches
            else [sweepers.delegation(wallet.address, SEPOLIA_ID, 0, key) for key in keys]
        )
        limit = 500_000 + count * 100_000
        used = spent(wallet, sweepers.contract(wallet.address), 0, call, limit, given)
        batches.append((as_networks_take(used, count) if given else used) / count)
        if held(chain, token, wallet.address) != before + count * COINS:
            raise RuntimeError("the batch has left coins behind")
    signers = [SigningKey((9_000 + place).to_bytes(32)) for place in range(count)]
    for key in signers:
        chain.mint(token, key.address, COINS)
    contract = sweepers.contract(wallet.address)
    data = signed_call(token, contract, signers)
    before = held(chain, token, wallet.address)
    by_signature = spent(wallet, contract, 0, data, 1_000_000 + count * 100_000, []) / count
    if held(chain, token, wallet.address) != before + count * COINS:
        raise RuntimeError("the batch has left coins behind")
    chain.close()
    return single / count, batches[0], batches[1], by_signature


def main() -> None:
    program = chain_program()
    with bench_database():
        rows = []
        for is_proxied, count in product((False, True), COUNTS):
            single, first, later, by_signature = gas_of(program, count, is_proxied=is_proxied)
            rows.append(
                [
                    "behind a proxy" if is_proxied else "plain",
                    str(count),
                    f"{single:,.0f}",
                    f"{first:,.0f}",
                    f"{first / single:.2f}",
                    f"{later:,.0f}",
                    f"{later / single:.2f}",
                    f"{by_signature:,.0f}",
                    f"{by_signature / single:.2f}",
                ]
            )
        print_table(
            [
                *("token", "deposits", "single", "batch, new addresses", "ratio"),
                *("batch, later", "ratio", "signed transfers", "ratio"),
            ],
            rows,
        )
        figure("gas of a sweep in a batch, new addresses", first / single)
        figure("gas of a sweep in a batch, later", later / single)
        figure("gas of a sweep in a batch of signed transfers", by_signature / single)


if __name__ == "__main__":
    main()
