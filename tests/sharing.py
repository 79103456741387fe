"""How the tests of a divided run are shared among its workers: file by file.

What a file sets up for its tests is then made once, and not once in each worker. Files that commit
come in two parts, so that no worker goes back to what rolls back.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# Tests of a running demo share it, since it is dear to start: they are one share.
WITH_A_DEMO = ("tests/clients/", "tests/browser/test_main_job.py")


# So do those that share the server as we ship it.
WITH_A_SERVER = "tests/web/"


def has_demo(nodeid: str) -> bool:
    return nodeid.startswith(WITH_A_DEMO)


def name_of(nodeid: str) -> str:
    """Of the share, which consecutive tests with this name are."""
    if has_demo(nodeid):
        return "with a demo"
    return "with a server" if nodeid.startswith(WITH_A_SERVER) else nodeid.partition("::")[0]


def shares(nodeids: list[str]) -> dict[str, str]:
    """Test -> its share: consecutive tests of one file, of the running demo, or of the server."""
    share_of = {}
    number = 0
    before = ""
    for nodeid in nodeids:
        name = name_of(nodeid)
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
