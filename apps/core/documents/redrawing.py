"""Files of strangers are drawn anew: a process that can do nothing else opens them, and what comes
back is pixels, of which we make files of our own.

No other process reads a byte of what was uploaded but the signature at its beginning. Whatever
takes that process over can answer with another picture, and with nothing else.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import structlog

from apps.core.documents import redrawer
from apps.core.documents.redrawer import Bounds as Bounds

log = structlog.get_logger(__name__)
PDF = "PDF"
PNG = "PNG"
JPEG = "JPEG"
WEBP = "WEBP"
GIF = "GIF"
_SIGNATURES = (
    (PDF, b"%PDF-"),
    (PNG, b"\x89PNG\r\n\x1a\n"),
    (JPEG, b"\xff\xd8\xff"),
    (GIF, b"GIF8"),
)
WAIT_SECONDS = 30.0
QUALITY = 85
_DPI = 150
_ENVIRONMENT = ("LD_LIBRARY_PATH",)  # where a set-up without rights keeps libseccomp
_PROGRAM = Path(redrawer.__file__)


class NotRedrawn(Exception):
    """The file is damaged, protected by a password, or too much to draw."""


class TooManyPixels(NotRedrawn):
    """A picture or page has too many pixels."""


class PageLimitExceeded(NotRedrawn):
    """The document has too many pages."""


class NotPossible(Exception):
    """Nothing could be opened: this machine can't close the process in, or has no time for it."""


def kind_of(uploaded: bytes) -> str:
    """Kind of an uploaded file by its first bytes; empty for anything that isn't drawn."""
    if uploaded[:4] == b"RIFF" and uploaded[8:12] == WEBP.encode():
        return WEBP
    return next((kind for kind, begin in _SIGNATURES if uploaded.startswith(begin)), "")


def picture(uploaded: bytes, bounds: Bounds, *, is_transparent: bool = False) -> bytes:
    """The first frame of a picture as a file of ours: a JPEG of a JPEG, else a PNG. Raises
    NotRedrawn or NotPossible."""
    kind = kind_of(uploaded)
    image = next(_pages(uploaded, kind, bounds, "RGBA" if is_transparent else "RGB"))
    buffer = BytesIO()
    if kind == JPEG and not is_transparent:
        image.save(buffer, JPEG, quality=QUALITY)
    else:
        image.save(buffer, PNG, optimize=is_transparent)
    return buffer.getvalue()


def pdf(uploaded: bytes, bounds: Bounds) -> bytes:
    """A PDF of pictures of the pages. Raises NotRedrawn or NotPossible."""
    with tempfile.TemporaryFile() as file:
        for number, image in enumerate(_pages(uploaded, PDF, bounds, "RGB")):
            image.save(file, PDF, append=number > 0, resolution=_DPI, quality=QUALITY)
        file.seek(0)
        return file.read()


def _pages(uploaded: bytes, kind: str, bounds: Bounds, mode: str) -> Iterator[Any]:
    """The pages as pictures of Pillow, one after the other; there is at least one."""
    from PIL import Image  # for those few requests alone

    command = [sys.executable, "-I", str(_PROGRAM), kind, mode, *(str(bound) for bound in bounds)]
    process = subprocess.Popen(  # noqa: S603  our own program
        command,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    end = _End(process)
    timer = threading.Timer(WAIT_SECONDS, end.because_late)
    timer.daemon = True
    timer.start()
    try:
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(uploaded)
        for width, height, pixels in _frames(process.stdout, bounds, len(mode)):
            yield Image.frombytes(mode, (width, height), pixels)
    except NotRedrawn:
        if end.is_late:
            log.warning("redrawing_took_too_long", kind=kind, size=len(uploaded))
            raise NotPossible from None
        raise
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


class _End:
    """Ends a process that takes too long, and remembers that."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.is_late = False

    def because_late(self) -> None:
        self.is_late = True
        self._process.kill()


def _frames(answer: IO[bytes], bounds: Bounds, channels: int) -> Iterator[tuple[int, int, bytes]]:
    """Believes the process nothing but the pixels, and of those only as many as may be."""
    for number in range(bounds.pages + 1):
        head = answer.read(redrawer.FRAME.size)
        if len(head) < redrawer.FRAME.size:
            raise NotRedrawn
        name, width, height = redrawer.FRAME.unpack(head)
        if name == redrawer.DONE and number:
            return
        if name != redrawer.PAGE or number == bounds.pages:
            raise _refusal_of(name)
        size = width * height * channels
        if not size or width > bounds.width or height > bounds.height:
            raise NotRedrawn
        pixels = answer.read(size)
        if len(pixels) < size:
            raise NotRedrawn
        yield width, height, pixels


def _refusal_of(name: bytes) -> Exception:
    if name == redrawer.UNSAFE:
        log.error("redrawing_not_closed_in")
        return NotPossible()
    refusals = {redrawer.TOO_LARGE: TooManyPixels, redrawer.TOO_LONG: PageLimitExceeded}
    return refusals.get(name, NotRedrawn)()
