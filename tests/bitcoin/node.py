"""A real litecoind of a test's own, with a wallet of others (`faucet`) that pays and mines."""

import shutil
from collections.abc import Callable
from functools import partial
from typing import Any

from apps.chain.networks.bitcoin.parameters import LITECOIN_REGTEST
from apps.chain.providers.bitcoind import BitcoinNodes
from dev import embedded, litecoind


class Litecoin:
    def __init__(self, name: str, *, replaces: bool = False) -> None:
        self._folder = embedded.var_folder(embedded.TEST)
        self._name = name
        self._replaces = replaces
        litecoind.stop(self._folder, name)
        shutil.rmtree(litecoind.data_of(self._folder, name), ignore_errors=True)
        url = litecoind.ensure(self._folder, name, replaces=replaces)
        assert url is not None
        self.url: str = url

    def ask(self, method: str, *parameters: Any) -> Any:
        return litecoind.call(self.url, method, *parameters)

    def faucet(self, method: str, *parameters: Any) -> Any:
        return litecoind.call(self.url, method, *parameters, wallet=litecoind.FAUCET)

    def nodes(self) -> BitcoinNodes:
        return BitcoinNodes("litecoin", LITECOIN_REGTEST.network_number, [self.url])

    def pay(self, address: str, coins: str, *, is_replaceable: bool = False) -> str:
        """The hash of the payment, which waits to be mined."""
        return str(self.faucet("sendtoaddress", address, coins, "", "", False, is_replaceable))

    def mine(self, count: int = 1) -> list[str]:
        return litecoind.mine(self.url, count)

    def take_back(self, count: int) -> str:
        """The last blocks, as a reorganization does; what was in them waits again."""
        first = self.ask("getblockhash", self.height - count + 1)
        self.ask("invalidateblock", first)
        return str(first)

    def mine_without(self, tx_hash: str, count: int = 1) -> None:
        """Blocks that leave out one that waits."""
        self.ask("prioritisetransaction", tx_hash, 0, -(10**8))
        self.mine(count)
        self.ask("prioritisetransaction", tx_hash, 0, 10**8)

    @property
    def height(self) -> int:
        return int(self.ask("getblockcount"))

    @property
    def waiting(self) -> list[str]:
        return list(self.ask("getrawmempool"))

    def from_private(self, address: str, coins: str) -> str:
        """A payment out of the private part; its id while it waits."""
        return litecoind.pay(self.url, address, coins, is_private=True)

    def wallet_without_private_coins(self, name: str) -> Callable[..., Any]:
        """A wallet of others that has ten coins in one output, and its calls."""
        self.ask("createwallet", name)
        calls = partial(litecoind.call, self.url, wallet=name)
        self.pay(calls("getnewaddress"), "10")
        self.mine()
        return calls

    def send(self, raw: str) -> str:
        return str(self.ask("sendrawtransaction", raw))

    def forget(self) -> None:
        """Starts anew, at another address, with nothing that waits."""
        litecoind.stop(self._folder, self._name)
        data = litecoind.data_of(self._folder, self._name)
        (data / "regtest" / "mempool.dat").unlink(missing_ok=True)
        url = litecoind.ensure(self._folder, self._name, replaces=self._replaces)
        assert url is not None
        self.url = url

    def stop(self) -> None:
        litecoind.stop(self._folder, self._name)
