"""A file that can't be made whole is an error, never a short file with a good status."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import RequestFactory

from apps.dashboard.exports import csv_answer
from tests.cast import Shop


def test_a_file_says_its_length_and_one_that_breaks_is_none(
    bakery: Shop, rf: RequestFactory
) -> None:
    request: Any = rf.get("/")
    request.access = bakery.access()
    answer = csv_answer(request, "things", ["a"], [["1"], ["2"]])
    body = b"".join(answer.streaming_content)  # type: ignore[arg-type]
    assert body.endswith(b"2\r\n") and int(answer.headers["Content-Length"]) == len(body)

    def broken() -> Iterator[list[str]]:
        yield ["1"]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        csv_answer(request, "things", ["a"], broken())
