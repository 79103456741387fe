"""The process that draws a document takes its memory with it, knows no secrets, and hurts nobody
when it dies."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from apps.core.documents import process
from apps.core.documents.metadata import Vocabulary
from apps.core.documents.pdf import EmbeddedFile
from apps.core.documents.process import NotRendered, Process, render_apart
from dev import bootstrap

PAGE = '<!doctype html><html lang="en"><head><title>A page</title></head><body>{}</body></html>'
INSIDE = EmbeddedFile(
    "data.xml",
    b"<a/>",
    "What it says",
    datetime(2026, 1, 1, tzinfo=UTC),
    Vocabulary("T", "urn:x:t#", "t", {}),
)


@pytest.fixture(scope="module", autouse=True)
def _secrets_around() -> Iterator[None]:
    """Secrets around each test's process; afterward none is left."""
    _end()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENCRYPTION_KEYS", "a-secret")
        yield
    _end()


def _end() -> None:
    if process._kept is not None:
        process._kept.end()
        process._kept = None


def kept() -> int:
    assert process._kept is not None
    return process._kept.pid


def words(content: bytes) -> str:
    return " ".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def has_ended(pid: str) -> bool:
    stat = Path("/proc") / pid / "stat"
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_who_has_a_document_drawn_loads_nothing_that_draws_and_takes_the_process_along() -> None:
    asks = f"""
import io, os, sys
from apps.core.documents import process
print(process.render_apart({PAGE.format("Hello")!r})[:5])
with process.Process() as drawing:
    drawing.listing({PAGE.format("Hello")!r}, [["a line"]], 10, listing := io.BytesIO())
print(listing.getvalue()[:5], {{"weasyprint", "pypdf", "PIL", "fontTools"}} & set(sys.modules))
print(process._kept.pid, flush=True)
os._exit(9)
"""
    said = subprocess.run(
        [sys.executable, "-c", asks],
        cwd=bootstrap.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    *lines, pid = said.stdout.splitlines()
    assert lines == ["b'%PDF-'", "b'%PDF-' set()"], said.stderr
    deadline = time.monotonic() + 60
    while not has_ended(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_one_process_draws_one_after_another_and_each_as_it_was_asked() -> None:
    first = render_apart(PAGE.format("First"))
    pid = kept()
    second = render_apart(PAGE.format("Second"), INSIDE)
    assert (words(first), words(second), kept()) == ("First", "Second", pid)
    assert PdfReader(io.BytesIO(second)).attachments["data.xml"] == [b"<a/>"]


def test_it_ends_when_nothing_was_drawn_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "KEPT_SECONDS", 0.1)
    render_apart(PAGE.format("x"))
    deadline = time.monotonic() + 60
    while process._kept is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    monkeypatch.undo()
    render_apart(PAGE.format("x"))


def test_it_knows_no_secrets() -> None:
    render_apart(PAGE.format("x"))
    told = {
        part.partition("=")[0]
        for part in Path(f"/proc/{kept()}/environ").read_text().split("\0")
        if part
    }
    assert told <= set(process._ENVIRONMENT)


def test_it_starts_no_process_to_find_its_libraries() -> None:
    render_apart(PAGE.format("x"))
    fields = Path(f"/proc/{kept()}/stat").read_text().rpartition(")")[2].split()
    assert fields[8] == "0"  # pages that its children have touched


def test_one_that_takes_too_long_is_given_up_and_the_next_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "PAGE_SECONDS", 1)
    with pytest.raises(NotRendered, match="ended"):
        render_apart(PAGE.format("<table>" + "<tr><td>a<td>b<td>c" * 20_000))
    monkeypatch.undo()
    assert words(render_apart(PAGE.format("Next"))) == "Next"


def test_a_process_that_was_killed_costs_one_drawing() -> None:
    render_apart(PAGE.format("x"))
    os.kill(kept(), 9)
    with pytest.raises(NotRendered):
        render_apart(PAGE.format("lost"))
    assert words(render_apart(PAGE.format("Next"))) == "Next"


def test_why_something_can_not_be_drawn_is_told() -> None:
    broken: Any = "no file"
    with pytest.raises(NotRendered, match="AttributeError"):
        render_apart(PAGE.format("x"), broken)
    with Process() as drawing, pytest.raises(NotRendered, match="ZeroDivisionError"):
        drawing.listing(PAGE.format("x"), [["a line"]] * 10_000, 0, io.BytesIO())


def test_what_breaks_off_the_lines_breaks_off_the_listing() -> None:
    def lines() -> Iterator[list[str]]:
        yield ["a line"]
        raise KeyError("the claim")

    with Process() as drawing, pytest.raises(KeyError):
        drawing.listing(PAGE.format("x"), lines(), 10, io.BytesIO())
