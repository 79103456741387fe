"""An answer that fails on its way, behind the gateway that the product has."""

from collections.abc import Callable, Iterator
from typing import Any

import django

django.setup()

from config.gateway import PIECE_BYTES, Gateway  # noqa: E402  # its lanes are settings

LINE = b"x" * 1023 + b"\n"


class Stream:
    """More lines than the gateway holds back; `/broken` fails before the last of them."""

    streaming = True

    def __init__(self, path: str) -> None:
        self._path = path

    def __iter__(self) -> Iterator[bytes]:
        for _ in range(3 * PIECE_BYTES // len(LINE)):
            yield LINE
        if self._path == "/broken":
            raise ValueError("the database went away")
        yield b"end\n"


def _answer(environ: dict[str, Any], start: Callable[..., Any]) -> Stream:
    start("200 OK", [("Content-Type", "text/csv")])
    return Stream(environ["PATH_INFO"])


application = Gateway(_answer, lambda scope: [])
