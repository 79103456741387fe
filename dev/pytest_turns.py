"""pytest plugin: a run that has collected its tests waits for the one that goes first."""

import fcntl
import gc
import os
from pathlib import Path

# Names the file that is locked as long as the other run goes on.
AFTER = "TEST_AFTER"
# What is loaded by now stays until the end: the collector would look through it again and again.
COLLECTED_AFTER = 20_000

gc.disable()  # nothing that is loaded until then is garbage


def pytest_collection_finish() -> None:
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECTED_AFTER, 20, 100)
    if path := os.environ.get(AFTER):
        with Path(path).open() as other:
            fcntl.flock(other, fcntl.LOCK_SH)
