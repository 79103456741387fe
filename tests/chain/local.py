"""A chain of one's own for a test: anvil with unlocked accounts, and small contracts that do what
customers' contracts do."""

import atexit
import itertools
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import requests
from eth_abi.abi import encode

from apps.chain.networks.evm.block_headers import TRANSFER_TOPIC
from apps.chain.sending.permits import PERMIT2
from dev import anvil
from dev.demo import permit2
from dev.ports import free_port

SEPOLIA_ID = 11155111
ACCOUNTS = 5  # half of anvil's time to start goes into the keys of the usual ten
ARTIFACT = Path(__file__).parents[2] / "dev" / "demo" / "tokens" / "DevToken.json"
MOODY = Path(__file__).parent / "tokens" / "MoodyToken.json"
# Sends the coins of the call to the address in the first word.
FORWARDER = "0x5f5f5f5f345f355af100"
# The same, then reverts.
REVERTER = "0x5f5f5f5f345f355af1505f5ffd"
# Sends half of the coins to each of the addresses in the first two words.
SPLITTER = "0x5f5f5f5f600234045f355af1505f5f5f5f600234046020355af100"
# Emits a Transfer log for each (to, amount) pair in the data, without keeping balances.
LOGGER = (
    "0x5f5b80361115603e5780602001355f52803533"
    + "7f"
    + TRANSFER_TOPIC[2:]
    + "60205fa36040016001565b00"
)


# Has the contract whose address is in the slot of EIP-1967 do everything, as USDC's has.
IMPLEMENTATION = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
PROXY = "0x363d3d373d3d363d7f" + IMPLEMENTATION[2:] + "545af43d6000803e6038573d6000fd5b3d6000f3"


class Node:
    """An anvil that has been started, and may not answer yet."""

    def __init__(self, program: str, *options: str, chain_id: int = SEPOLIA_ID) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.began = time.monotonic()
        usual = ["--port", str(port), "--chain-id", str(chain_id), "--quiet"]
        command = [program, *usual, "--accounts", str(ACCOUNTS), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


# One that starts while a test goes on, for the test after it: a start is a third of a second.
_spares: list[Node] = []
SPARE_SECONDS_MAX = 10  # a chain begins at about the time of its test


def _take_spare(program: str) -> Node:
    """The node that was started ahead, or a new one; another is started for the next test."""
    found = _spares.pop() if _spares else Node(program)
    if time.monotonic() - found.began > SPARE_SECONDS_MAX:
        found.end()
        found = Node(program)
    _spares.append(Node(program))
    return found


@atexit.register
def end_spares() -> None:
    while _spares:
        _spares.pop().end()


class LocalChain:
    """anvil, mining each transaction immediately by default."""

    def __init__(self, program: str, *options: str, chain_id: int = SEPOLIA_ID) -> None:
        is_usual = not options and chain_id == SEPOLIA_ID
        node = _take_spare(program) if is_usual else Node(program, *options, chain_id=chain_id)
        self.url = node.url
        self.process = node.process
        self._session = requests.Session()
        deadline = time.monotonic() + 20
        while True:
            try:
                self.accounts = self.call("eth_accounts")
                break
            except requests.ConnectionError:
                assert time.monotonic() < deadline, "anvil did not start"
                time.sleep(0.01)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()

    def call(self, method: str, *parameters: Any) -> Any:
        answer = self._session.post(
            self.url,
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": list(parameters)},
            timeout=60,
        ).json()
        assert "error" not in answer, answer
        return answer["result"]

    @property
    def height(self) -> int:
        return int(self.call("eth_blockNumber"), 16)

    def block(self, number: int) -> Any:
        return self.call("eth_getBlockByNumber", hex(number), False)

    def mine(self, count: int = 1) -> None:
        self.call("anvil_mine", hex(count))

    def mine_after(self, moment: datetime) -> None:
        """A block whose timestamp is past the moment: whatever was mined by then is before it."""
        self.call(
            "evm_setNextBlockTimestamp",
            max(int(moment.timestamp()), int(self.block(self.height)["timestamp"], 16)) + 1,
        )
        self.mine()

    def put(self, code: str, address: str) -> str:
        """A contract with this code, in a block of its own so that a reorg above leaves it
        standing."""
        self.call("anvil_setCode", address, code)
        self.mine()
        return address

    def send(
        self, to: str, amount_atomic: int = 0, data: str = "0x", sender: int = 0, **fields: Any
    ) -> str:
        """Send a transaction; its hash. It is mined when the node mines."""
        transaction = {
            "from": self.accounts[sender],
            "to": to,
            "value": hex(amount_atomic),
            "data": data,
            "gas": hex(2_000_000),
            **fields,
        }
        tx_hash = self.call("eth_sendTransaction", transaction)
        assert isinstance(tx_hash, str)
        return tx_hash

    def pay(self, to: str, amount_atomic: int, sender: int = 0) -> str:
        return self.wait(self.send(to, amount_atomic, sender=sender))

    def log_transfers(self, token: str, *transfers: tuple[str, int]) -> str:
        """One transaction in which the LOGGER at `token` tells of these transfers."""
        words = itertools.chain.from_iterable(transfers)
        data = encode(["address", "uint256"] * len(transfers), list(words)).hex()
        return self.wait(self.send(token, data="0x" + data))

    def through(self, contract: str, amount_atomic: int, *to: str) -> str:
        """Send coins by way of a contract."""
        return self.wait(
            self.send(contract, amount_atomic, "0x" + encode(["address"] * len(to), list(to)).hex())
        )

    def deploy_token(self, decimals: int = 6) -> str:
        """A real ERC-20; its address in lower case."""
        bytecode = json.loads(ARTIFACT.read_text())["bytecode"]
        data = (
            bytecode + encode(["string", "string", "uint8"], ["USD Coin", "USDC", decimals]).hex()
        )
        transaction = {"from": self.accounts[0], "data": data, "gas": hex(5_000_000)}
        tx_hash = self.wait(self.call("eth_sendTransaction", transaction))
        return str(self.call("eth_getTransactionReceipt", tx_hash)["contractAddress"]).lower()

    def deploy_token_behind_proxy(self) -> str:
        """The token with its balances at a contract that has another's code run there."""
        code = self.deploy_token()
        address = self.put(PROXY, "0x" + "9c" * 20)
        self.call("anvil_setStorageAt", address, IMPLEMENTATION, f"0x{code[2:]:0>64}")
        self.mine()
        return address

    def deploy_moody_token(self) -> str:
        """An ERC-20 whose issuer pauses, freezes, taxes and lies (tests/chain/tokens)."""
        data = json.loads(MOODY.read_text())["bytecode"]
        transaction = {"from": self.accounts[0], "data": data, "gas": hex(5_000_000)}
        tx_hash = self.wait(self.call("eth_sendTransaction", transaction))
        return str(self.call("eth_getTransactionReceipt", tx_hash)["contractAddress"]).lower()

    def place_permit2(self) -> None:
        """Permit2 at its address, as on the public networks."""
        self.put(permit2.code(int(self.call("eth_chainId"), 16)), PERMIT2)

    def allow(self, token: str, spender: str, amount_atomic: int, holder: str) -> None:
        """Let the spender take so much of the holder's tokens; the holder's gas is given to it."""
        data = "0x095ea7b3" + encode(["address", "uint256"], [spender, amount_atomic]).hex()
        call = {"from": holder, "to": token, "data": data, "gas": hex(200_000)}
        self.call("anvil_impersonateAccount", holder)
        self.call("anvil_setBalance", holder, hex(10**18))
        self.wait(self.call("eth_sendTransaction", call))
        self.call("anvil_setBalance", holder, "0x0")
        self.call("anvil_stopImpersonatingAccount", holder)

    def mint(self, token: str, to: str, amount_atomic: int) -> str:
        return self.wait(
            self.send(
                token, data="0x40c10f19" + encode(["address", "uint256"], [to, amount_atomic]).hex()
            )
        )

    def transfer(self, token: str, to: str, amount_atomic: int) -> str:
        return self.wait(
            self.send(
                token, data="0xa9059cbb" + encode(["address", "uint256"], [to, amount_atomic]).hex()
            )
        )

    def raw(self, tx_hash: str) -> str:
        return str(self.call("eth_getRawTransactionByHash", tx_hash))

    def reorg(self, depth: int, *again: tuple[str, int]) -> None:
        """Replace the newest blocks; raw transactions go into the new block at the given place
        again."""
        self.call("anvil_reorg", depth, [list(item) for item in again])

    @contextmanager
    def going_back(self) -> Iterator[None]:
        """Afterwards the chain is what it was, with what gas costs."""
        fee = self.call("eth_getBlockByNumber", "pending", False)["baseFeePerGas"]
        before = self.call("evm_snapshot")
        yield
        self.call("anvil_dropAllTransactions")
        self.call("evm_revert", before)
        self.call("anvil_setNextBlockBaseFeePerGas", fee)
        self.call("evm_setAutomine", True)

    def wait(self, tx_hash: str) -> str:
        deadline = time.monotonic() + 20
        while self.call("eth_getTransactionReceipt", tx_hash) is None:
            assert time.monotonic() < deadline, f"{tx_hash} was not mined"
        return tx_hash


def program() -> str | None:
    return anvil.anvil_program()
