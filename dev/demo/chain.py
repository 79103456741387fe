"""A wallet on one of the local chains: it deploys the demo's two tokens and pays as a customer
would."""

import json
from pathlib import Path
from typing import Any

from msgspec import Struct, convert

from apps.chain.encoding.abi import encode
from apps.chain.encoding.transactions import Transaction
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.networks.evm.spelling import checksummed
from apps.core import local_chain
from dev import waiting

ARTIFACT = Path(__file__).parent / "tokens" / "DevToken.json"
# A transaction that the chain has taken and doesn't mine in so many blocks never gets there.
BLOCKS_MAX = 50
GAS = 3_000_000
GWEI = 10**9


class MinedReceipt(Struct, frozen=True, rename="camel"):
    """A receipt's success, and the contract that it deployed, if any."""

    status: str
    contract_address: str | None


class DemoWallet:
    """Signs with one key and sends to one chain."""

    still_seconds = waiting.STILL_SECONDS

    def __init__(self, url: str, private_key: str) -> None:
        self.url = url
        self._key = SigningKey(bytes.fromhex(private_key[2:]))
        self._chain_id = int(self._call("eth_chainId"), 16)

    @property
    def address(self) -> str:
        return checksummed(self._key.address)

    def _block_number(self) -> int:
        return int(self._call("eth_blockNumber"), 16)

    def _call(self, method: str, *params: Any) -> Any:
        return local_chain.call(self.url, method, *params)

    def send(self, to: str | None, value_wei: int = 0, data: str = "0x", gas: int = GAS) -> str:
        """The hash of a transaction that the chain has taken."""
        nonce = int(self._call("eth_getTransactionCount", self.address, "pending"), 16)
        unsigned = Transaction(
            self._chain_id, nonce, to or "", value_wei, data, gas, 50 * GWEI, GWEI
        )
        return str(self._call("eth_sendRawTransaction", unsigned.signed(self._key).raw))

    def receipt(self, tx_hash: str) -> MinedReceipt:
        """Wait until the transaction is in a block. Raises ChainRefused when it failed or so many
        blocks came without it, and NothingMoves when no block comes."""
        began_at = self._block_number()
        answers: list[Any] = []

        def is_mined() -> bool:
            number = self._block_number()
            answer = self._call("eth_getTransactionReceipt", tx_hash)
            if answer is None and number - began_at > BLOCKS_MAX:
                raise local_chain.ChainRefused(f"{tx_hash} is in none of {BLOCKS_MAX} blocks")
            answers.append(answer)
            return answer is not None

        blocks = waiting.ChangingReading(self._block_number, "no new block")
        waiting.until(
            is_mined, f"the block of {tx_hash}", blocks, still_seconds=self.still_seconds, pause=0.1
        )
        receipt = convert(answers[-1], MinedReceipt)
        if int(receipt.status, 16) != 1:
            raise local_chain.ChainRefused(f"{tx_hash} was reverted")
        return receipt

    def transfer(self, token: str, to: str, amount_atomic: int) -> str:
        return self.send(
            token, data="0xa9059cbb" + encode(["address", "uint256"], [to, amount_atomic]).hex()
        )

    def mint(self, token: str, to: str, amount_atomic: int) -> str:
        return self.send(
            token, data="0x40c10f19" + encode(["address", "uint256"], [to, amount_atomic]).hex()
        )

    def deploy_token(self, name: str, symbol: str, decimals: int) -> str:
        """Put the demo token on the chain; the hash of the transaction, whose receipt has the
        address."""
        bytecode = json.loads(ARTIFACT.read_text())["bytecode"]
        return self.send(
            None,
            data=bytecode + encode(["string", "string", "uint8"], [name, symbol, decimals]).hex(),
        )

    def has_code(self, address: str) -> bool:
        return bool(self._call("eth_getCode", address, "latest") != "0x")
