"""A document is drawn once for what it says, by somebody who draws, and never waited for longer than a moment."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import storages
from pypdf import PdfReader

from apps.core import drawings, pdf
from apps.core.clock import real_now
from apps.core.models import Drawing
from apps.core.pdf_metadata import Vocabulary
from tests import make
from tests.cast import Shop

PAGE = '<!doctype html><html lang="en"><head><title>A page</title></head><body><h1>{}</h1></body></html>'
INSIDE = pdf.Inside("data.xml", b"<a/>", "What it says", real_now(), Vocabulary("T", "urn:x:t#", "t", {"Word": ("1", "Text", "A word")}))


@pytest.fixture
def alone(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is there, and nobody has much patience."""
    settings.WORK_INLINE = False
    monkeypatch.setattr(drawings, "WAIT_SECONDS", 0.3)


def test_one_content_is_drawn_once_and_kept_as_a_file(db: None) -> None:
    first = drawings.pdf_of(PAGE.format("Hello"))
    row = Drawing.objects.get()
    assert (row.html, row.attempts, row.claimed_until) == ("", 1, None)
    assert drawings.pdf_of(PAGE.format("Hello")) == first
    assert Drawing.objects.get().drawn_at == row.drawn_at
    assert "Hello" in PdfReader(io.BytesIO(first)).pages[0].extract_text()
    drawings.pdf_of(PAGE.format("Hello again"))
    assert Drawing.objects.count() == 2


def test_a_file_inside_is_a_part_of_what_it_says(db: None) -> None:
    made = PdfReader(io.BytesIO(drawings.pdf_of(PAGE.format("x"), INSIDE)))
    assert made.attachments["data.xml"] == [b"<a/>"]
    assert drawings.pdf_of(PAGE.format("x")) != drawings.pdf_of(PAGE.format("x"), INSIDE)


def test_without_a_worker_it_is_503_with_retry_after_and_drawn_later(alone: None, bakery: Shop) -> None:
    made = make.payment(bakery.test)
    refused = bakery.test.get(f"/payments/{made['id']}/invoice")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert refused.json() == {"error": {"message": "The document is being prepared", "code": None}}
    assert drawings.draw_due() == 1
    answer = bakery.test.get(f"/payments/{made['id']}/invoice")
    assert (answer.status_code, answer.content[:5]) == (200, b"%PDF-")


def test_a_lost_file_is_drawn_again(db: None) -> None:
    drawings.pdf_of(PAGE.format("Lost"))
    storages["private"].delete(Drawing.objects.get().file_name)
    assert drawings.pdf_of(PAGE.format("Lost"))[:5] == b"%PDF-"


def test_what_can_not_be_drawn_is_tried_three_times_and_stops_nobody(alone: None, db: None) -> None:
    with pytest.raises(drawings.NotDrawn):
        drawings.pdf_of(PAGE.format("Broken"))
    Drawing.objects.update(inside={"name": "no more"})
    with pytest.raises(drawings.NotDrawn):
        drawings.pdf_of(PAGE.format("Fine"))
    for _ in range(4):
        drawings.draw_due()
        Drawing.objects.update(claimed_until=None)
    assert drawings.pdf_of(PAGE.format("Fine"))[:5] == b"%PDF-"
    assert Drawing.objects.get(drawn_at=None).attempts == drawings.ATTEMPTS_MAX


def test_old_ones_are_forgotten_with_their_files(db: None) -> None:
    drawings.pdf_of(PAGE.format("Old"))
    name = Drawing.objects.get().file_name
    assert drawings.forget(real_now() + timedelta(days=89)) == 0
    assert drawings.forget(real_now() + timedelta(days=91)) == 1
    assert not storages["private"].exists(name)


def test_documents_have_a_budget_of_their_own(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    answer = bakery.test.get(f"/payments/{made['id']}/invoice")
    assert (answer.headers["X-RateLimit-Limit"], answer.headers["RateLimit-Policy"]) == ("20", '"pdf";q=60;w=60')
    assert "RateLimit" not in bakery.test.get(f"/payments/{made['id']}").headers
