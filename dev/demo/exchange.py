"""The exchange of the local chain: the contracts of Uniswap V2 as they run everywhere, with pools
of the demo's tokens."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from apps.chain.encoding.abi import encode
from apps.chain.sending.calls import Router
from apps.core import local_chain
from dev import anvil
from dev.demo.chain import DemoWallet, MinedReceipt

CHAIN = "ethereum"
NATIVE_WEI = 500 * 10**18
TOKENS_ATOMIC = 1_000_000 * 10**6
DEPLOY_GAS = 6_000_000
HOUR_SECONDS = 3600
_APPROVE = "0x095ea7b3"
_ADD_LIQUIDITY_NATIVE = "0xf305d719"


@dataclass(frozen=True)
class Pool:
    """A token with what its pool begins with."""

    token: str
    native_wei: int = NATIVE_WEI
    tokens_atomic: int = TOKENS_ATOMIC


def place(wallet: DemoWallet, tokens: Iterable[str], file: Path) -> str:
    """The exchange's line of SWAP_ROUTERS, with a pool for each token; made once per chain, and
    noted in the file.

    Empty when the set-up brought no contracts.
    """
    contracts = file.read_text().strip() if file.exists() else ""
    if not contracts or not wallet.has_code(contracts.partition(":")[0]):
        router = open_exchange(wallet)
        if router is None:
            return ""
        for token in tokens:
            fill(wallet, router, Pool(token))
        contracts = f"{router.address}:{router.wrapped_native}"
        file.write_text(contracts + "\n")
    return f"{CHAIN}={contracts}"


def open_exchange(wallet: DemoWallet) -> Router | None:
    """Put the exchange on the chain; None when the set-up brought no contracts."""
    codes = [
        anvil.exchange_bytecode(name) for name in ("UniswapV2Factory", "WETH9", "UniswapV2Router02")
    ]
    if None in codes:
        return None
    factory_code, wrapped_code, router_code = (str(code) for code in codes)
    factory = _put(wallet, factory_code + encode(["address"], [wallet.address]).hex())
    wrapped = _put(wallet, wrapped_code)
    return Router(
        _put(wallet, router_code + encode(["address", "address"], [factory, wrapped]).hex()),
        wrapped,
    )


def fill(wallet: DemoWallet, router: Router, pool: Pool) -> None:
    """Give the token's pool something to trade with; the wallet mints what it puts in."""
    _mined(wallet, wallet.mint(pool.token, wallet.address, pool.tokens_atomic))
    allow = _APPROVE + encode(["address", "uint256"], [router.address, pool.tokens_atomic]).hex()
    _mined(wallet, wallet.send(pool.token, data=allow))
    deadline = int(time.time()) + 1000 * 24 * HOUR_SECONDS
    shape = ["address", "uint256", "uint256", "uint256", "address", "uint256"]
    arguments = [pool.token, pool.tokens_atomic, 0, 0, wallet.address, deadline]
    _mined(
        wallet,
        wallet.send(
            router.address,
            pool.native_wei,
            _ADD_LIQUIDITY_NATIVE + encode(shape, arguments).hex(),
            gas=DEPLOY_GAS,
        ),
    )


def _put(wallet: DemoWallet, code: str) -> str:
    return str(
        _mined(wallet, wallet.send(None, data=code, gas=DEPLOY_GAS)).contract_address
    ).lower()


def _mined(wallet: DemoWallet, tx_hash: str) -> MinedReceipt:
    """The receipt, without waiting for the chain's next block."""
    local_chain.call(wallet.url, "evm_mine")
    return wallet.receipt(tx_hash)
