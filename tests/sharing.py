"""How the tests of a divided run are shared among its workers: file by file (decision 319).

What a file sets up for its tests is then made once, and not once in each worker. Files that commit
come in two parts, so that no worker goes back to what rolls back.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# Tests of these folders share what is dear to start, so they are one share.
TOGETHER = ("tests/clients/",)


def folder_of(nodeid: str) -> str | None:
    """The folder whose files belong together, of a test in one of them."""
    return next((folder for folder in TOGETHER if nodeid.startswith(folder)), None)


def shares(nodeids: list[str]) -> dict[str, str]:
    """Test -> its share: consecutive tests of one file or of one folder."""
    share_of = {}
    number = 0
    before = ""
    for nodeid in nodeids:
        name = folder_of(nodeid) or nodeid.partition("::")[0]
        if name != before:
            number += 1
            before = name
        share_of[nodeid] = f"{number} {name}"
    return share_of


class FileByFile(LoadScopeScheduling):  # type: ignore[misc]  # untyped
    """A worker that is nearly done with a share gets the next one."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        config.option.loadscopereorder = False  # the order has the slowest files first
        super().__init__(config, log)
        self._share_of: dict[str, str] = {}

    def schedule(self) -> None:
        if self.collection is None:
            self._share_of = shares(next(iter(self.registered_collections.values())))

        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._share_of[nodeid]
