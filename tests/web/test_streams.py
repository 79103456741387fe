"""A file that can't be sent to its end breaks the connection: a client never takes a part for the
whole."""

import http.client
from collections.abc import Iterator
from contextlib import closing

import pytest

from dev.ports import free_port
from tests.bench.load import product, serving


@pytest.fixture(scope="module")
def port(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[int]:
    number = free_port()
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        command = product("tests.web.failing_stream:application", workers=1)
        with serving(*command, port=number):
            yield number


def read(port: int, path: str) -> bytes:
    # The server waits for connections that are open when it is told to stop.
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as client:
        client.request("GET", path)
        answer = client.getresponse()
        assert (answer.status, answer.getheader("transfer-encoding")) == (200, "chunked")
        return answer.read()


def test_a_file_that_fails_is_no_file(port: int) -> None:
    assert read(port, "/whole").endswith(b"x\nend\n")
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        read(port, "/broken")
    assert read(port, "/whole").endswith(b"x\nend\n")
