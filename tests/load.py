"""Bounds of time on a machine that has other work to do."""

import os


def on_this_machine(quiet_seconds: float) -> float:
    """Seconds that work may take which takes so many on a quiet machine: in proportion to the
    processes that wait for each processor now."""
    return quiet_seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
