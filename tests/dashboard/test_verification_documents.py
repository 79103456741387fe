"""Documents of a business: what is taken, who reads them, how long they stay, and that nothing else
opens them."""

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image
from pypdf import PdfReader, PdfWriter
from weasyprint import HTML

from apps.access import pruning
from apps.core import clock
from apps.core.redis import buckets
from apps.platforms.services.verifications import approve_verification, reject_verification
from apps.stores.models import AuditEntry, Role, Verification, VerificationDocument
from apps.stores.verifying import documents as documents
from tests import make
from tests.cast import Cast, Shop, join, person
from tests.dashboard.browse import Browser, text
from tests.dashboard.papers import small_pdf
from tests.dashboard.test_verification import FORM, submitted
from tests.staff.pages import statements
from tests.staff.test_roles import signed_in


def sheet(words: str = "", pages: int = 1, **options: Any) -> bytes:
    """A real PDF of so many pages."""
    body = f"<p>{words}</p>" * pages
    style = "@page { size: 10cm 5cm } p { break-after: page }"
    html = f'<html lang="en"><title>x</title><style>{style}</style><body>{body}</body></html>'
    return bytes(HTML(string=html).write_pdf(**options))


PDF = small_pdf()


def hidden(described: bytes) -> bytes:
    """The PDF with what would be run at its beginning, as the attack has it: between what looks
    like the beginning and the end of a stream, in comments."""
    return PDF.replace(
        b"/Type /Catalog", b"%stream\n" + described + b"\n%endstream\n/Type /Catalog", 1
    )


def picture(
    kind: str, size: tuple[int, int] = (40, 30), mode: str = "RGB", **options: Any
) -> bytes:
    made = io.BytesIO()
    Image.new(mode, size, "#0a6b4c").save(made, kind, **options)
    return made.getvalue()


def add(browser: Browser, content: bytes, name: str = "register.pdf") -> Any:
    return browser.post("verification", add="1", document=SimpleUploadedFile(name, content))


def remove(browser: Browser, document: VerificationDocument) -> int:
    return int(browser.post("verification", remove=str(document.pk)).status_code)


def kept(row: VerificationDocument) -> bytes:
    with storages["private"].open(row.file_name) as file:
        return bytes(file.read())


def test_no_other_user_of_the_machine_may_read_a_document(
    cast: Cast, tmp_path: Path, settings: Any
) -> None:
    place = {"OPTIONS": {"location": str(tmp_path / "private")}}
    settings.STORAGES = {
        **settings.STORAGES,
        "private": {**settings.STORAGES["private"], **place},
    }
    assert add(Browser(cast.alice), PDF).status_code == 200
    found = {path: path.stat().st_mode & 0o777 for path in (tmp_path / "private").rglob("*")}
    assert {mode for path, mode in found.items() if path.is_file()} == {0o600}
    assert {mode for path, mode in found.items() if path.is_dir()} == {0o700}


def test_a_store_adds_replaces_and_submits_documents_and_sees_their_names(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert add(browser, PDF).status_code == 200
    assert add(browser, picture("JPEG"), "passport.exe").status_code == 200
    first, second = documents.drafts(cast.bakery.store)
    assert [(item.name, item.kind, item.verification) for item in (first, second)] == [
        ("register.pdf", "pdf", None),
        ("passport.jpg", "jpeg", None),
    ]
    shown = text(browser.get("verification"))
    assert "register.pdf" in shown and "passport.jpg" in shown
    assert remove(browser, first) == 200
    assert not VerificationDocument.objects.filter(pk=first.pk).exists()
    made = submitted(cast)
    assert [document.pk for document in documents.documents_of(made)] == [
        second.pk
    ] and documents.drafts(cast.bakery.store) == []
    shown = text(browser.get("verification"))
    assert "passport.jpg" in shown and 'name="add"' not in shown and 'name="remove"' not in shown
    assert remove(browser, second) == 404
    assert VerificationDocument.objects.filter(pk=second.pk).exists()
    told = (
        AuditEntry.objects.filter(action__startswith="verification.document")
        .order_by("id")
        .values_list("action", "target_name")
    )
    assert list(told) == [
        ("verification.document_added", "register.pdf"),
        ("verification.document_added", "passport.jpg"),
        ("verification.document_removed", "register.pdf"),
    ]


def test_what_was_typed_stays_while_documents_are_added_and_a_chosen_one_is_submitted(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    typed = {**FORM, "representative": ""}
    register = SimpleUploadedFile("register.pdf", PDF)
    added = text(browser.post("verification", **typed, add="1", document=register))
    (draft,) = documents.drafts(cast.bakery.store)
    gone = text(browser.post("verification", **typed, remove=str(draft.pk)))
    for shown in (added, gone):
        assert 'value="Bakery GmbH"' in shown and "Bread and cake" in shown
    assert "register.pdf" in added and "register.pdf" not in gone
    passport = SimpleUploadedFile("passport.jpg", picture("JPEG"))
    refused = browser.post("verification", **typed, document=passport)
    assert refused.status_code == 422 and not documents.drafts(cast.bakery.store)
    passport.seek(0)
    assert browser.post("verification", **FORM, document=passport).status_code == 303
    (submitted_one,) = VerificationDocument.objects.all()
    assert (submitted_one.name, submitted_one.verification is None) == ("passport.jpg", False)


REFUSED: tuple[tuple[Callable[[], bytes], str], ...] = (
    (lambda: b"", "Choose a file"),
    (lambda: b"MZ\x90\x00", "must be a PDF, JPEG or PNG"),
    (lambda: b"<html><script>alert(1)</script>", "must be a PDF, JPEG or PNG"),
    (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", "must be a PDF, JPEG or PNG"),
    (lambda: b"%PDF-1.7 cut short", "is damaged"),
    (lambda: picture("GIF"), "must be a PDF, JPEG or PNG"),
    (lambda: b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n", "is damaged"),
    (lambda: picture("PNG")[:60], "is damaged"),
    (lambda: locked("secret"), "protected by a password"),
    (lambda: sheet(pages=documents.PAGES_MAX + 1), "more than 20 pages"),
    (lambda: b"%PDF-" + bytes(documents.BYTES_MAX), "larger than 3 MB"),
    (lambda: picture("PNG", (5000, 5000), "1"), "larger than 3 MB"),
)


def locked(password: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(PDF))
    writer.encrypt(password, algorithm="AES-256")
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def test_only_what_can_be_drawn_is_taken(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for number, (draw, words) in enumerate(REFUSED):
        buckets.client().flushdb()
        refused = add(browser, draw(), "x.pdf")
        assert refused.status_code == 422 and words in text(refused), (number, words)
    assert not VerificationDocument.objects.exists()


ACTIVE = (
    *(
        b"/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>",
        b"/AA << /O << /S /JavaScript >> >>",
    ),
    b"/OpenAction << /S /Launch /F (calc) >>",
    b"/Names << /EmbeddedFiles << /Names [] >> >>",
)


def test_of_a_pdf_nothing_but_the_pixels_of_its_pages_is_kept(cast: Cast) -> None:
    for described in ACTIVE:
        buckets.client().flushdb()
        for content in (hidden(described), PDF.replace(b"/Type /Catalog", described, 1)):
            row = documents.add_document(cast.bakery.store, "a.pdf", content)
            made = PdfReader(io.BytesIO(kept(row)))
            catalog = made.trailer["/Root"]
            assert set(catalog) == {"/Type", "/Pages"} and b"alert" not in kept(row)
            [page] = made.pages
            assert "/Annots" not in page and not page.extract_text()
            assert page.images[0].image.getpixel((9, 9))[1] in range(0x68, 0x6F)
            documents.remove_draft(cast.bakery.store, str(row.pk))


def test_each_page_of_a_pdf_is_drawn_upright_with_what_was_filled_in(cast: Cast) -> None:
    field = '<input style="width: 8cm; height: 3cm; border: none" value="GmbH">'
    made = documents.add_document(
        cast.bakery.store, "form.pdf", sheet(field, pages=3, pdf_forms=True)
    )
    pages = PdfReader(io.BytesIO(kept(made))).pages
    assert len(pages) == 3 and made.kind == "pdf" and made.size_bytes == len(kept(made))
    drawn = pages[0].images[0].image
    assert abs(drawn.width - 591) < 3 and abs(drawn.height - 296) < 3
    assert drawn.convert("L").getextrema()[0] < 60


def test_a_pdf_without_a_password_to_open_it_is_drawn_though_it_is_encrypted(cast: Cast) -> None:
    made = documents.add_document(cast.bakery.store, "bank.pdf", locked(""))
    assert "/Encrypt" not in PdfReader(io.BytesIO(kept(made))).trailer


def test_a_picture_is_drawn_anew_without_what_it_carried(cast: Cast) -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    made = documents.add_document(
        cast.bakery.store, "photo.png", picture("JPEG", (4000, 100), exif=exif) + b"<?php evil ?>"
    )
    assert (
        made.name == "photo.jpg"
        and b"taken at home" not in kept(made)
        and b"evil" not in kept(made)
    )
    with Image.open(io.BytesIO(kept(made))) as drawn:
        assert drawn.size == (3000, 75)


def test_names_are_fit_to_be_names_of_files(cast: Cast) -> None:
    names = {
        '../../etc/"passwd\r\nSet-Cookie: x': "etc passwd Set-Cookie x.pdf",
        "‮gpj.exe": "gpj.pdf",
        "": "document.pdf",
        "..": "document.pdf",
        "قهوة.pdf": "قهوة.pdf",
        "w" * 300: "w" * 80 + ".pdf",
    }
    assert {name: documents._plain(name, "pdf") for name in names} == names


def test_five_at_most(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for _ in range(documents.DOCUMENTS_MAX):
        buckets.client().flushdb()
        assert add(browser, PDF).status_code == 200
    refused = add(browser, PDF)
    assert refused.status_code == 422 and "5 documents already" in text(refused)
    assert VerificationDocument.objects.count() == documents.DOCUMENTS_MAX


def test_only_those_who_manage_a_store_add_and_nobody_removes_anothers(cast: Cast) -> None:
    made = documents.add_document(cast.bakery.store, "a.pdf", PDF)
    for role in (Role.DEVELOPER, Role.VIEWER, Role.ACCOUNTANT):
        member = person(f"{role}-of-the-bakery")
        join(cast.bakery.store, member, role)
        browser = Browser(member)
        assert add(browser, PDF).status_code == 403
        assert "a.pdf" not in text(browser.get("verification"))
        assert remove(browser, made) == 403
    assert remove(Browser(cast.charlie), made) == 404
    assert VerificationDocument.objects.count() == 1


def test_staff_who_verify_download_them_and_the_log_has_it(cast: Cast) -> None:
    add(Browser(cast.alice), hidden(ACTIVE[0]), "<b>اسم</b>.pdf")
    made = submitted(cast)
    [row] = documents.documents_of(made)
    page = f"/admin/stores/verification/{made.pk}/decide/"
    file = f"/admin/stores/verification/{made.pk}/documents/{row.pk}/"
    staff = signed_in(make.clerk("finance"))
    assert f'href="{file}"' in text(staff.get(page))
    answer = staff.get(file)
    read = PdfReader(io.BytesIO(b"".join(answer.streaming_content)))
    assert len(read.pages) == 1 and "/OpenAction" not in read.trailer["/Root"]
    assert (
        answer.headers["Content-Disposition"].startswith("attachment; ")
        and answer.headers["X-Content-Type-Options"] == "nosniff"
    )
    assert (
        "no-store" in answer.headers["Cache-Control"]
        and "sandbox" in answer.headers["Content-Security-Policy"]
    )
    read = AuditEntry.objects.get(action="verification.document_read")
    assert (read.actor_kind, read.store_id) == ("staff", cast.bakery.store.pk)
    assert signed_in(make.clerk("support")).get(file).status_code == 403
    assert Browser(cast.alice).get(file).status_code in (302, 404)
    assert staff.get(file.replace(str(row.pk), str(made.pk))).status_code == 404
    storages["private"].delete(row.file_name)
    assert staff.get(file).status_code == 404


def test_a_decision_asks_no_more_for_many_documents(cast: Cast) -> None:
    documents.add_document(cast.bakery.store, "a.pdf", PDF)
    made = submitted(cast)
    staff = signed_in(make.clerk("finance"))
    page = f"/admin/stores/verification/{made.pk}/decide/"
    staff.get(page)
    few = statements(lambda: staff.get(page))
    for _ in range(4):
        documents.add_document(cast.bakery.store, "b.pdf", PDF)
    documents.attach_drafts(made)
    assert statements(lambda: staff.get(page)) == few


def test_documents_are_deleted_a_year_after_the_decision_or_a_month_unused(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    unused = documents.add_document(cast.bakery.store, "unused.pdf", PDF)
    VerificationDocument.objects.filter(pk=unused.pk).update(
        uploaded_at=clock.real_now() - timedelta(days=31)
    )
    first = documents.add_document(cast.strangers.store, "decided.pdf", PDF)
    at = clock.real_now()
    decided = Verification.objects.create(
        store=cast.strangers.store,
        business_legal_name="x",
        business_country="DE",
        submitted_at=at,
        created_at=at,
        updated_at=at,
    )
    documents.attach_drafts(decided)
    waiting = documents.add_document(cast.strangers.store, "draft.pdf", PDF)
    with django_capture_on_commit_callbacks(execute=True):
        assert pruning.prune_all(at)["verification_documents"] == 1
    assert not storages["private"].exists(unused.file_name)
    reject_verification(decided, "No")
    for days, left in ((364, {first.pk, waiting.pk}), (366, {waiting.pk})):
        Verification.objects.filter(pk=decided.pk).update(reviewed_at=at - timedelta(days=days))
        with django_capture_on_commit_callbacks(execute=True):
            documents.forget(at)
        assert set(VerificationDocument.objects.values_list("pk", flat=True)) == left
    assert not storages["private"].exists(first.file_name) and storages["private"].exists(
        waiting.file_name
    )
    with pytest.raises(documents.DocumentGone):
        documents.remove_draft(cast.strangers.store, str(first.pk))


def test_an_approved_business_keeps_its_documents_in_sight(cast: Cast) -> None:
    documents.add_document(cast.bakery.store, "a.pdf", PDF)
    approve_verification(submitted(cast))
    assert "a.pdf" in text(Browser(cast.alice).get("verification"))


def as_uploaded(shop: Shop, content: bytes, kind: str = "pdf") -> VerificationDocument:
    """A document that an earlier release has kept as it was."""
    name = storages["private"].save(f"verification/{shop.store.pk}/old.pdf", ContentFile(content))
    return VerificationDocument.objects.create(
        store=shop.store,
        name="old.pdf",
        kind=kind,
        size_bytes=len(content),
        digest="0" * 64,
        file_name=name,
        uploaded_at=clock.real_now(),
    )


def test_nobody_opens_what_was_kept_as_it_was_uploaded_until_it_is_redrawn(cast: Cast) -> None:
    rows = [
        as_uploaded(cast.bakery, content) for content in (hidden(ACTIVE[0]), b"%PDF-1.7 broken")
    ]
    made = submitted(cast)
    staff = signed_in(make.clerk("finance"))
    page = f"/admin/stores/verification/{made.pk}/decide/"
    files = [f"/admin/stores/verification/{made.pk}/documents/{row.pk}/" for row in rows]
    assert [staff.get(file).status_code for file in files] == [404, 404]
    shown = text(staff.get(page))
    assert shown.count("(being checked)") == 2 and not any(file in shown for file in files)
    before = rows[0].file_name
    assert documents.redraw_uploaded() == 2 and documents.redraw_uploaded() == 0
    rows[0].refresh_from_db()
    answer = staff.get(files[0])
    read = PdfReader(io.BytesIO(b"".join(answer.streaming_content)))
    assert set(read.trailer["/Root"]) == {"/Type", "/Pages"}
    assert not storages["private"].exists(before) and storages["private"].exists(rows[0].file_name)
    assert staff.get(files[1]).status_code == 404
    assert "couldn’t be opened safely" in text(staff.get(page))
