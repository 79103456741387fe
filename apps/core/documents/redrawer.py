"""The process that opens a stranger's file: it answers with nothing but the pixels of its pages.

It is run by its path, apart from the project (apps/core/documents/redrawing.py): without an
environment, a network or a file. All code is loaded first; then it can only read what it was
given, compute, and write its answer, and the system ends it when it takes too long or too much.
"""

import ctypes
import errno
import io
import os
import resource
import struct
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

FRAME = struct.Struct(">4sHH")  # what it is, and the width and height of a page
PAGE = b"PAGE"
DONE = b"DONE"
TOO_LARGE = b"SIZE"
TOO_LONG = b"LONG"
UNREADABLE = b"FAIL"
UNSAFE = b"OPEN"  # this machine can't close it in, or lacks a library, so nothing was opened
MEMORY_BYTES_MAX = 1024 * 1024 * 1024
NICENESS = 5
_POINTS_PER_INCH = 72
_DPI = 150
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
# What computing takes, and reading and writing what is open already.
_CALLS = (
    *(b"read", b"write", b"brk", b"mmap", b"munmap", b"mremap", b"mprotect", b"madvise"),
    *(b"futex", b"clock_gettime", b"getrandom", b"rt_sigaction", b"rt_sigprocmask"),
    *(b"rt_sigreturn", b"exit", b"exit_group"),
)


class Bounds(NamedTuple):
    """How much may be drawn: pixels of a picture as it comes, width and height of what is answered,
    pages, and seconds of the processor."""

    pixels: int
    width: int
    height: int
    pages: int
    cpu_seconds: int


class RedrawRefusal(Exception):
    """Why there are no pages, as the frame that says so."""


def main(kind: str, mode: str, bounds: Bounds) -> None:
    """Read a file of a kind from standard input, and write its pages as frames, each followed by
    its pixels in a mode of Pillow."""
    os.nice(NICENESS)
    for resource_kind, most in (
        (resource.RLIMIT_CPU, bounds.cpu_seconds),
        (resource.RLIMIT_AS, MEMORY_BYTES_MAX),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(resource_kind, (most, most))
    pages = _pdf if kind == "PDF" else _picture
    uploaded = sys.stdin.buffer.read()
    try:
        library = _library_of(kind)
        _close_in()
    except (ImportError, OSError):
        _answer(UNSAFE)
        return
    try:
        for width, height, pixels in pages(library, uploaded, kind, mode, bounds):
            _answer(PAGE, width, height, pixels)
    except RedrawRefusal as refusal:
        _answer(refusal.args[0])
    except Exception:
        _answer(UNREADABLE)
    else:
        _answer(DONE)


def _answer(name: bytes, width: int = 0, height: int = 0, pixels: bytes = b"") -> None:
    answer = sys.stdout.buffer
    answer.write(FRAME.pack(name, width, height))
    answer.write(pixels)
    answer.flush()


def _library_of(kind: str) -> Any:
    """Library that reads the kind, whole: nothing can be loaded later."""
    if kind == "PDF":
        import pypdfium2

        return pypdfium2
    from PIL import (  # noqa: F401
        GifImagePlugin,
        Image,
        ImageOps,
        JpegImagePlugin,
        MpoImagePlugin,
        PngImagePlugin,
        TiffImagePlugin,
        WebPImagePlugin,
    )

    Image._initialized = 2  # it would search for further formats
    first = io.BytesIO()
    Image.new("P" if kind == "GIF" else "RGB", (1, 1)).save(first, kind)
    # Some of it loads more when it is first used.
    list(_picture((Image, ImageOps), first.getvalue(), kind, "RGBA", Bounds(1, 1, 1, 1, 1)))
    return Image, ImageOps


def _close_in() -> None:
    """From now on every other call of the system fails. Raises OSError where that can't be had."""
    seccomp = ctypes.CDLL("libseccomp.so.2")
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_rule_add.argtypes = (
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
    )
    seccomp.seccomp_load.argtypes = (ctypes.c_void_p,)
    rules = seccomp.seccomp_init(_REFUSE)
    outcomes = [
        seccomp.seccomp_rule_add(rules, _ALLOW, seccomp.seccomp_syscall_resolve_name(name), 0)
        for name in _CALLS
    ]
    if not rules or any(outcomes) or seccomp.seccomp_load(rules):
        raise OSError(errno.ENOSYS, "no filter of system calls")


def _picture(
    library: Any, uploaded: bytes, kind: str, mode: str, bounds: Bounds
) -> Iterator[tuple[int, int, bytes]]:
    """The first frame, upright and no larger than may be; its header is judged before it is
    decoded."""
    longest = max(bounds.width, bounds.height)
    image, operations = library
    image.MAX_IMAGE_PIXELS = None  # our own bound is lower
    with image.open(io.BytesIO(uploaded), formats=(kind,)) as picture:
        if picture.width * picture.height > bounds.pixels:
            raise RedrawRefusal(TOO_LARGE)
        picture.draft("RGB", (longest, longest))  # a JPEG is decoded no larger than needed
        upright = operations.exif_transpose(picture).convert(mode)
        upright.thumbnail((bounds.width, bounds.height))
    yield upright.width, upright.height, upright.tobytes()


def _pdf(
    library: Any, uploaded: bytes, kind: str, mode: str, bounds: Bounds
) -> Iterator[tuple[int, int, bytes]]:
    """Each page with what is filled in on its forms, on white."""
    document = library.PdfDocument(uploaded)
    if len(document) > bounds.pages:
        raise RedrawRefusal(TOO_LONG)
    if not len(document):
        raise RedrawRefusal(UNREADABLE)
    document.init_forms()
    for page in document:
        width, height = page.get_size()
        if not (0 < width < float("inf") and 0 < height < float("inf")):
            raise RedrawRefusal(UNREADABLE)
        fitting = ((bounds.width - 1) / width, (bounds.height - 1) / height)
        scale = min(_DPI / _POINTS_PER_INCH, *fitting)
        drawn = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
        row = drawn.width * drawn.n_channels
        pixels = bytes(drawn.buffer)
        if drawn.n_channels != len(mode):
            raise RedrawRefusal(UNREADABLE)
        if drawn.stride != row:
            starts = range(0, drawn.stride * drawn.height, drawn.stride)
            pixels = b"".join(pixels[start : start + row] for start in starts)
        yield drawn.width, drawn.height, pixels


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Bounds(*(int(text) for text in sys.argv[3:])))
