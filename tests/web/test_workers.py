"""The web process outlives its workers, and has loaded what they run."""

import re
from pathlib import Path

from dev.demo import runner
from tests.stack import wait_for
from tests.web.wire import Web

# Of the 95 MB that are loaded: what is used is written to, and then a worker's own.
SHARED_MB_MIN = 20


def test_workers_share_what_the_server_has_loaded(web: Web) -> None:
    for worker in web.workers():
        told = Path(f"/proc/{worker}/smaps_rollup").read_text()
        shared = re.search(r"^Shared_Dirty:\s+(\d+) kB", told, re.MULTILINE)
        assert shared is not None and int(shared[1]) > SHARED_MB_MIN * 1024


def test_a_killed_worker_comes_back_and_the_others_go_on_answering(web: Web) -> None:
    before = web.workers()
    assert len(before) == 2
    lost = web.lose_a_worker()
    wait_for(web.workers, lambda now: lost not in now)

    def answers() -> int:
        try:
            return web.ask("GET", "/healthz").status
        except OSError:  # the lost one had taken this connection already
            return 0

    wait_for(lambda: {answers() for _ in range(20)}, lambda heard: heard == {200}, 10)
    wait_for(web.workers, lambda now: len(now - {lost}) == 2)
    assert before - {lost} < web.workers()


def test_the_demo_lives_through_it_too() -> None:
    assert "--respawn-failed-workers" in runner.web(8000)
