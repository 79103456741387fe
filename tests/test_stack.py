"""Processes that tests start are gone when one didn't start."""

from pathlib import Path

import pytest

from dev import anvil
from tests.stack import Demo, processes_of

pytestmark = [
    pytest.mark.chain,
    pytest.mark.skipif(anvil.anvil_program() is None, reason="no local chain on this machine"),
]
SERVICES = ("redis-server", "anvil")


class Slow(Demo):
    """One that takes too long once its services run."""

    def is_late(self) -> bool:
        self.seen = processes_of(Path(self.folder.name))
        slow.append(self)
        return super().is_late() or all(
            any(name in command for command in self.seen.values()) for name in SERVICES
        )


slow: list[Slow] = []


def test_a_demo_that_starts_too_late_leaves_neither_process_nor_file() -> None:
    with pytest.raises(AssertionError, match="the demo didn't start"):
        Slow()
    folder = Path(slow[-1].folder.name)
    commands = " ".join(slow[-1].seen.values())
    assert all(name in commands for name in SERVICES), "it had something to leave"
    assert processes_of(folder) == {}
    assert not folder.exists()
