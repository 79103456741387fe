"""Counts of the server, asked of any of its processes."""

import re

from django.conf import settings

from tests.stack import wait_for
from tests.web.wire import Web, bearer

TOKEN = bearer(settings.METRICS_TOKEN)
REQUESTS = re.compile(rb"^django_http_requests_before_middlewares_total (\S+)$", re.MULTILINE)


def counted(web: Web) -> float:
    """Requests since the server began."""
    found = REQUESTS.search(web.ask("GET", "/metrics", TOKEN).content)
    assert found is not None
    return float(found[1])


def test_every_process_tells_the_sum_of_all(web: Web) -> None:
    assert len(web.workers()) > 1
    figures = [counted(web) for _ in range(8)]
    assert figures == [figures[0] + number for number in range(8)]


def test_what_a_process_counted_stays_when_it_is_gone(web: Web) -> None:
    before = counted(web)
    lost = web.lose_a_worker()
    wait_for(web.workers, lambda found: lost not in found and len(found) > 1)

    def counted_again() -> float:
        try:
            return counted(web)
        except OSError:  # the lost one had taken this connection already
            return 0.0

    assert wait_for(counted_again, lambda figure: figure > 0) > before


def test_figures_of_the_database_are_told_once(web: Web) -> None:
    page = web.ask("GET", "/metrics", TOKEN).content.decode().splitlines()
    for line in ('tillgate_waiting{queue="mail"}', "# TYPE tillgate_rows_dead"):
        assert len([found for found in page if found.startswith(line)]) == 1
