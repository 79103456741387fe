"""The PDF of a report holds every entry, and a screen reader finds its way through all of it."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from pypdf import PdfReader

from apps.reports.documents.pdf_file import LINES_PER_PAGE
from tests import make
from tests.cast import Shop
from tests.ledger.books import AT, open_books
from tests.reports.reading import ENTRIES, STATEMENT, access_to, made
from tests.stage import standing
from tests.whole import usually

DAY = str(AT.date())


def read(content: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(content))


def words(page: Any) -> str:
    return " ".join(page.extract_text().split())


def long_listing() -> bytes:
    """113 deposits: three pages of entries after the sums."""
    books = open_books()
    for number in range(2 * LINES_PER_PAGE + 1):
        books.deposit(10**18 + number)
    return made(access_to(books), DAY, DAY, format="pdf")


@pytest.fixture(scope="module")
def drawn(django_db_setup: None, django_db_blocker: Any) -> Iterator[bytes]:
    yield from standing(django_db_blocker, long_listing)


@pytest.fixture
def reader(drawn: bytes, db: None) -> PdfReader:
    return read(drawn)


def test_a_long_listing_is_one_document_with_every_entry(reader: PdfReader) -> None:
    pages = [words(page) for page in reader.pages]
    assert len(pages) == 4
    assert "Opening balance" in pages[0] and "Deposit confirmed 113" in pages[0]
    listing = " ".join(pages[1:])
    assert [f"1000000000000.{number:06d}".rstrip("0") in listing for number in range(113)] == [
        True
    ] * 113
    assert all("Time (UTC) What Account" in page for page in pages[1:])
    assert [f"entries, page {number}" in page for number, page in enumerate(pages)] == [
        False,
        True,
        True,
        True,
    ]
    assert listing.count("Deposit confirmed") == 113


def test_a_joined_document_is_tagged_from_its_first_page_to_its_last(reader: PdfReader) -> None:
    root: Any = reader.root_object
    assert (
        root["/MarkInfo"]["/Marked"]
        and root["/Lang"] == "en"
        and root["/ViewerPreferences"]["/DisplayDocTitle"]
    )
    assert b"pdfuaid" in root["/Metadata"].get_data()
    assert reader.metadata is not None and (reader.metadata.title or "").startswith(
        "Accounting transactions 2026-11-02"
    )
    flat = root["/StructTreeRoot"]["/ParentTree"]["/Nums"]
    owners = {int(flat[at]): flat[at + 1].get_object() for at in range(0, len(flat), 2)}
    keys = [int(page["/StructParents"]) for page in reader.pages]  # type: ignore[call-overload]  # a number in a page
    assert len(set(keys)) == len(keys) == 4 and list(owners) == sorted(owners)
    document = root["/StructTreeRoot"]["/K"][0].get_object()
    for page, key in list(zip(reader.pages, keys, strict=True))[1:]:
        paragraph = owners[key][0].get_object()
        assert (
            paragraph["/S"] == "/P"
            and paragraph["/P"] == document
            and paragraph["/Pg"].get_object() == page
        )
        drawn = page.get_contents().get_data()  # type: ignore[union-attr]  # a page has contents
        assert (
            drawn.startswith(b"/P <</MCID 0>> BDC")
            and drawn.endswith(b"EMC\n")
            and drawn.count(b"/MCID") == 1
        )
        assert (list(paragraph["/K"]), len(owners[key])) == ([0], 1)
        assert any(kid == owners[key][0] for kid in document["/K"])


def test_a_statement_says_in_words_what_moved_and_that_it_was_a_test(bakery: Shop) -> None:
    make.paid(bakery.test, amount="20.00", currency="USD")
    day = str(bakery.access().now().date())
    make.advance(bakery.test, 2 * 86400)
    text = words(read(made(bakery.access(), day, day, STATEMENT, format="pdf")).pages[0])
    for part in (
        "Merchant statement",
        "Test mode",
        "Alice's Bakery",
        "SETH",
        "Payment settled 1",
        "Value in USD",
        "$20.00",
        "−$0.20",
    ):
        assert part in text


def test_each_page_of_a_test_report_says_that_it_is_one_and_no_page_of_a_live_one(
    reader: PdfReader,
) -> None:
    books = open_books("test")
    for _ in range(LINES_PER_PAGE + 1):
        books.deposit(10**18)
    of_test = read(made(access_to(books), DAY, DAY, format="pdf"))
    for told, is_test, count in ((of_test, True, 3), (reader, False, 4)):
        assert ["TEST" in words(page) for page in told.pages] == [is_test] * count
        assert ("TEST" in str(told.metadata)) == is_test


def test_a_report_about_nothing_is_still_a_document(bakery: Shop) -> None:
    for kind in usually(short=(ENTRIES,), whole=(ENTRIES, STATEMENT)):
        reader = read(made(bakery.access("live"), DAY, DAY, kind, format="pdf"))
        assert len(reader.pages) == 1 and "Nothing was booked" in words(reader.pages[0])
