"""The process that opens a stranger's file can do nothing else: read no other file, reach nobody,
start nothing, know no secret, and answer with nothing but pixels."""

import io
import json
import struct
import sys
import zlib
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
from PIL import Image

from apps.core.documents import redrawer, redrawing

BOUNDS = redrawing.Bounds(pixels=1000 * 1000, width=400, height=400, pages=3, cpu_seconds=5)
PICTURE = b"\x89PNG\r\n\x1a\n"
TRIES = f"""
import ctypes, json, os, resource, runpy, signal, socket, subprocess, sys
program = runpy.run_path({redrawer.__file__!r})
library = program["_library_of"]("PNG")
libc = ctypes.CDLL(None, use_errno=True)
program["_close_in"]()
told = {{}}
for name, act in {{
    "open": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "write": lambda: os.open("/tmp/redrawn", os.O_CREAT | os.O_WRONLY),
    "list": lambda: os.listdir("/proc"),
    "socket": lambda: socket.socket(),
    "pair": lambda: os.pipe(),
    "fork": lambda: os.fork(),
    "thread": lambda: __import__("_thread").start_new_thread(print, ()),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "kill": lambda: os.kill(os.getppid(), 0),
    "limit": lambda: resource.setrlimit(resource.RLIMIT_CPU, (99, 99)),
    "trace": lambda: 1 / (libc.ptrace(0, 0, 0, 0) + 1),
}}.items():
    try:
        act()
        told[name] = "done"
    except Exception as error:
        told[name] = "refused"
print(json.dumps(told))
"""
REPORT = """
import json, os, struct, sys
sys.stdin.buffer.read()
report = {"environment": dict(os.environ), "path": sys.path, "folder": os.getcwd(),
          "files": sorted(os.listdir("/proc/self/fd"), key=int)}
raw = json.dumps(report).encode().ljust(400 * 30 * 3)
sys.stdout.buffer.write(struct.pack(">4sHH", b"PAGE", 400, 30) + raw)
sys.stdout.buffer.write(struct.pack(">4sHH", b"DONE", 0, 0))
"""


def drawn(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 30), **options: Any) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", size, "#0a6b4c").save(made, kind, **options)
    return made.getvalue()


def pdf_of(content: bytes) -> bytes:
    """One page with these drawing commands, packed."""
    packed = zlib.compress(content)
    return (
        b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
        b"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"
        b"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 90 90]/Contents 4 0 R>>\nendobj\n"
        b"4 0 obj\n<</Filter/FlateDecode/Length "
        + str(len(packed)).encode()
        + b">>\nstream\n"
        + packed
        + b"\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n"
    )


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The answer of `program` is taken for that of a process that a file has taken over."""

    def answer(program: str) -> None:
        path = tmp_path / "program.py"
        path.write_text(program)
        monkeypatch.setattr(redrawing, "_PROGRAM", path)

    return answer


def test_once_closed_in_it_can_do_nothing_but_compute() -> None:
    ran = run([sys.executable, "-I", "-c", TRIES], capture_output=True, text=True, check=False)
    told = json.loads(ran.stdout)
    assert len(told) == 11 and set(told.values()) == {"refused"}, told


def test_it_knows_no_secret_and_holds_no_file(answering: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("ENCRYPTION_KEYS", "a-secret")
    answering(REPORT)
    image = next(redrawing._pages(PICTURE, "PNG", BOUNDS, "RGB"))
    report = json.loads(image.tobytes())
    assert set(report["environment"]) <= {"LC_CTYPE", "LD_LIBRARY_PATH"}
    assert report["folder"] == "/" and not any(part == "/work" for part in report["path"])
    assert report["files"][:3] == ["0", "1", "2"] and len(report["files"]) == 4  # its own listing


FRAMES = {
    "a page that is too wide": [(b"PAGE", 401, 1, 401 * 3), (b"DONE", 0, 0, 0)],
    "a page without pixels": [(b"PAGE", 0, 9, 0), (b"DONE", 0, 0, 0)],
    "fewer pixels than it says": [(b"PAGE", 9, 9, 9)],
    "no page": [(b"DONE", 0, 0, 0)],
    "a page too many": [(b"PAGE", 1, 1, 3)] * 4 + [(b"DONE", 0, 0, 0)],
    "nothing": [],
    "something else": [(b"EVIL", 1, 1, 3)],
}


@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
def test_of_its_answer_nothing_is_believed_but_so_many_pixels(answering: Any, frames: Any) -> None:
    raw = b"".join(struct.pack(">4sHH", *frame[:3]) + bytes(frame[3]) for frame in frames)
    answering(f"import sys; sys.stdin.buffer.read(); sys.stdout.buffer.write({raw!r})")
    with pytest.raises(redrawing.NotRedrawn):
        redrawing.pdf(b"%PDF-", BOUNDS)


@pytest.mark.parametrize("missing", ["libseccomp.so.2", "import pypdfium2"])
def test_a_machine_that_lacks_something_opens_nothing(answering: Any, missing: str) -> None:
    source = Path(redrawer.__file__).read_text()
    answering(
        source.replace(missing, missing.replace("pypdfium2", "nothing").replace("seccomp", ""))
    )
    with pytest.raises(redrawing.NotPossible):
        redrawing.pdf(pdf_of(b"0 0 90 90 re f\n"), BOUNDS)


def test_who_takes_too_long_is_ended(answering: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redrawing, "WAIT_SECONDS", 0.5)
    answering("import time; time.sleep(60)")
    with pytest.raises(redrawing.NotPossible):
        redrawing.picture(picture(), BOUNDS)


def test_a_page_gets_only_so_many_seconds_of_the_processor() -> None:
    heavy = pdf_of(b"0 0 90 90 re f\n" * 4_000_000)
    assert len(heavy) < 200_000
    few = redrawing.Bounds(pixels=1000 * 1000, width=400, height=400, pages=3, cpu_seconds=1)
    with pytest.raises(redrawing.NotRedrawn):
        redrawing.pdf(heavy, few)
    assert redrawing.pdf(pdf_of(b"0 0 90 90 re f\n"), few).startswith(b"%PDF-")


def test_a_picture_is_judged_by_its_header_before_it_is_decoded() -> None:
    """The pixels aren't even there."""
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + head
    bomb = (
        PICTURE
        + chunk
        + struct.pack(">I", zlib.crc32(b"IHDR" + head))
        + b"\0\0\0\0IDAT5\xaf\x06\x1e"
    )
    with pytest.raises(redrawing.TooManyPixels):
        redrawing.picture(bomb, BOUNDS)
    with pytest.raises(redrawing.TooManyPixels):
        redrawing.picture(picture(size=(2000, 1000)), BOUNDS)


def test_pictures_of_each_kind_come_back_upright_and_small_enough() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # lies on its side
    exif[0x010E] = "taken at home"
    turned = redrawing.picture(picture("JPEG", (900, 300), exif=exif), BOUNDS)
    assert drawn(turned).size == (133, 400) and b"taken at home" not in turned
    for kind in ("PNG", "GIF", "WEBP", "JPEG", "MPO"):
        options = {"save_all": True, "append_images": [Image.new("RGB", (4, 3))]}
        content = picture(kind, (800, 600), **(options if kind == "MPO" else {}))
        made = drawn(redrawing.picture(content, BOUNDS, is_transparent=True))
        assert (made.size, made.format, made.mode) == ((400, 300), "PNG", "RGBA"), kind
        assert made.getchannel("G").getpixel((200, 150)) in range(0x64, 0x72), kind


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.4", "PDF"),
        (picture("WEBP"), "WEBP"),
        (b"RIFF1234WAVE", ""),
        (b"", ""),
        (b" %PDF-1.4", ""),
        (b"II*\0", ""),
        (b"<svg/>", ""),
        (b"BM", ""),
    ],
)
def test_only_what_is_drawn_has_a_kind(content: bytes, kind: str) -> None:
    assert redrawing.kind_of(content) == kind
