"""A document is drawn once for what it says, by somebody who draws, and never waited for longer
than a moment."""

import io
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import storages
from pypdf import PdfReader

from apps.billing import tasks
from apps.core.clock import real_now
from apps.core.documents import drawings, pdf
from apps.core.documents.metadata import Vocabulary
from apps.core.models import Drawing
from apps.core.redis import buckets
from tests import make
from tests.billing import records
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser

PAGE = (
    '<!doctype html><html lang="en"><head><title>A'
    " page</title></head><body><h1>{}</h1></body></html>"
)
INSIDE = pdf.EmbeddedFile(
    "data.xml",
    b"<a/>",
    "What it says",
    real_now(),
    Vocabulary("T", "urn:x:t#", "t", {"Word": ("1", "Text", "A word")}),
)


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


def test_without_a_worker_it_is_503_with_retry_after_and_drawn_later(
    alone: None, bakery: Shop
) -> None:
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


def in_order(*texts: str) -> list[str]:
    """These pages as they were drawn."""
    by_digest = {drawings._digest(PAGE.format(text), None): text for text in texts}
    return [
        by_digest[drawing.pk]
        for drawing in Drawing.objects.exclude(drawn_at=None).order_by("drawn_at")
    ]


class TestTurns:
    def test_a_stores_thousand_hold_up_no_other_stores_one(self, db: None) -> None:
        crowd = [f"crowd {number}" for number in range(8)]
        for item in crowd:
            drawings.prepare(PAGE.format(item), owner="b")
        for owner in ("a", "c"):
            drawings.prepare(PAGE.format(owner), owner=owner)
        assert drawings.draw_due() == 10
        assert {"a", "c"} <= set(in_order("a", "c", *crowd)[:3])

    def test_what_a_reader_waits_for_goes_before_what_is_drawn_ahead(
        self, alone: None, db: None
    ) -> None:
        ahead = [f"ahead {number}" for number in range(4)]
        for item in ahead:
            drawings.prepare(PAGE.format(item), owner="a")
        for page in ("asked for", "ahead 3"):
            with pytest.raises(drawings.NotDrawn):
                drawings.pdf_of(PAGE.format(page), owner="a")
        drawings.draw_due()
        order = in_order("asked for", *ahead)
        assert set(order[:2]) == {"asked for", "ahead 3"} and len(order) == 5
        assert drawings.pdf_of(PAGE.format("ahead 0"), owner="a")[:5] == b"%PDF-", "it is there"

    def test_so_many_of_a_store_are_drawn_ahead_and_no_more(
        self, db: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(drawings, "AHEAD_MAX", 2)
        for owner in ("a", "b"):
            for number in range(4):
                drawings.prepare(PAGE.format(f"{owner}{number}"), owner=owner)
        assert list(Drawing.objects.order_by("owner").values_list("owner", flat=True)) == [
            "a",
            "a",
            "b",
            "b",
        ]


def test_a_bill_is_drawn_when_it_is_final_and_served_as_a_file(
    alone: None, bakery: Shop, django_capture_on_commit_callbacks: Any
) -> None:
    broker = buckets.client()
    for mode, api in (("live", bakery.live), ("test", bakery.test)):
        broker.delete("documents")
        with django_capture_on_commit_callbacks(execute=True):
            made = records.opened(api)
        asked = [json.loads(item)["headers"]["task"] for item in broker.lrange("documents", 0, -1)]
        assert asked.count("documents.prepare_invoices") == (mode == "live"), (
            "test documents are drawn when somebody asks"
        )
        link = f"/invoice/{made['public_token']}/invoice.pdf"
        assert bakery.live.client.get(link).status_code == 503
        Drawing.objects.all().delete()
        tasks.prepare_documents([made["id"]])
        assert [drawing.is_awaited for drawing in Drawing.objects.all()] == [False]
        assert drawings.draw_due() == 1
        answer = bakery.live.client.get(link)
        assert (answer.status_code, answer.content[:5]) == (200, b"%PDF-")


def test_old_ones_are_forgotten_with_their_files(db: None) -> None:
    drawings.pdf_of(PAGE.format("Old"))
    name = Drawing.objects.get().file_name
    assert drawings.forget(real_now() + timedelta(days=89)) == 0
    assert drawings.forget(real_now() + timedelta(days=91)) == 1
    assert not storages["private"].exists(name)


def test_documents_have_a_budget_of_their_own(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    answer = bakery.test.get(f"/payments/{made['id']}/invoice")
    assert (answer.headers["X-RateLimit-Limit"], answer.headers["RateLimit-Policy"]) == (
        "200",
        '"pdf";q=600;w=60',
    )
    read = bakery.test.get(f"/payments/{made['id']}")
    assert read.headers["RateLimit-Policy"] == '"reads";q=6000;w=60'


@pytest.fixture
def small_budget(settings: Any) -> Iterator[None]:
    """Twelve tokens for files, which come back slowly."""
    settings.LIMITS = {**settings.LIMITS, "pdf": {"live": (1, 12), "test": (1, 12)}}
    buckets._bucket.cache_clear()
    yield
    buckets._bucket.cache_clear()


def test_what_has_to_be_drawn_takes_ten_times_what_is_there(
    small_budget: None, bakery: Shop
) -> None:
    first, second = (f"/payments/{make.payment(bakery.test)['id']}/invoice" for _ in range(2))
    assert bakery.test.get(first).status_code == 200
    assert [bakery.test.get(first).status_code for _ in range(2)] == [200, 200]
    refused = bakery.test.get(second)
    assert (refused.status_code, refused.headers["RateLimit-Policy"]) == (
        429,
        '"pdf";q=1;w=60',
    ) and refused.headers["Retry-After"]
    assert not Drawing.objects.filter(drawn_at=None).exists()


@pytest.mark.parametrize("door", ["link", "dashboard"])
def test_every_door_charges_what_it_has_drawn(
    door: str, small_budget: None, cast: Cast, bakery: Shop
) -> None:
    if door == "link":
        path = f"/invoice/{records.opened(bakery.test)['public_token']}/invoice.pdf"
        statuses = [bakery.test.client.get(path).status_code for _ in range(3)]
        Drawing.objects.all().delete()
        statuses.append(bakery.test.client.get(path).status_code)
    else:
        browser = Browser(cast.alice)
        paths = [f"payments/{make.payment(bakery.test)['id']}/invoice" for _ in range(2)]
        statuses = [
            browser.get(path).status_code for path in (paths[0], paths[0], paths[0], paths[1])
        ]
    assert statuses == [200, 200, 200, 429]
