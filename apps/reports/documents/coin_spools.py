"""The lines of a statement coin by coin, kept in files meanwhile: they come in the order of
time."""

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO

from apps.core.db.streams import IN_MEMORY_BYTES
from apps.reports.documents.statement_lines import BankLine, BankStatement, CoinStatement


class CoinSpools:
    """Lines and their sum for each coin; a context that closes its files."""

    def __init__(self, statement: BankStatement) -> None:
        self._statement = statement
        self._stack = ExitStack()
        self._files: dict[str, IO[bytes]] = {}
        self._counts: dict[str, int] = {}
        self._cents: dict[str, int] = {}

    def __enter__(self) -> "CoinSpools":
        with ExitStack() as stack:
            for coin in self._statement.coins:
                file = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES))
                self._files[coin.asset_id] = file
            for line in self._statement.lines():
                pickle.dump(tuple(line), self._files[line.asset_id], pickle.HIGHEST_PROTOCOL)
                self._counts[line.asset_id] = self._counts.get(line.asset_id, 0) + 1
                self._cents[line.asset_id] = self._cents.get(line.asset_id, 0) + line.cents
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def coins(self) -> Iterator[tuple[CoinStatement, int]]:
        """Each coin that has lines or a balance, and the worth of its closing balance in cents."""
        for coin in self._statement.coins:
            if coin.asset_id in self._counts or coin.opening_atomic or coin.closing_atomic:
                yield coin, coin.opening_cents + self._cents.get(coin.asset_id, 0)

    def lines(self, coin: CoinStatement) -> Iterator[BankLine]:
        file = self._files[coin.asset_id]
        file.seek(0)
        for _ in range(self._counts.get(coin.asset_id, 0)):
            yield BankLine._make(pickle.load(file))  # noqa: S301  # written above, to a file that nobody else can open
