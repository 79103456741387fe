"""Requests that wait for others have threads of their own, and never take those of everybody
else."""

import re

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from config.lanes import LANES, UPLOADS, lane_of

UPLOADING = (
    "/dashboard/verification",
    "/dashboard/settings/logo",
    "/dashboard/payouts/batches/new",
)
UUID = "00000000-0000-4000-8000-000000000000"
WAITING = {
    "/healthz": "alive",
    "/readyz": "ready",
    "/readyz/web": "ready",
    "/readyz/chains": "ready",
    "/metrics": "ready",
    "/api/v2/x402/settle": "settlements",
    f"/api/v2/payments/{UUID}/invoice": "documents",
    "/invoice/abcdefgh1234/invoice.pdf": "documents",
    "/invoice/abcdefgh1234/receipt.pdf": "documents",
    f"/dashboard/payments/{UUID}/invoice": "documents",
    f"/dashboard/invoices/{UUID}/file": "documents",
    "/api/v2/test_clock/advance": "test clocks",
    "/pay/ABCDEFGH12345678/x402": "settlements",
    "/pay/ABCDEFGH12345678/signature": "settlements",
    "/pay/ABCDEFGH12345678/sent": "look-ups",
    "/ABCDEFGH12345678/sent": "look-ups",
    "/files/abc": "downloads",
    f"/dashboard/reports/{UUID}/file": "downloads",
    "/dashboard/payments.csv": "downloads",
    "/dashboard/statement.csv": "downloads",
}
ORDINARY = (
    "/",
    "/api/v2/payments",
    f"/api/v2/payments/{UUID}",
    "/api/v2/x402/verify",
    "/api/v2/test_clock",
    "/healthz/x",
    "/healthzz",
    "/pay/ABCDEFGH12345678",
    "/pay/ABCDEFGH12345678/quote",
    "/ABCDEFGH12345678/sent/x",
    "/dashboard/payments",
    f"/dashboard/invoices/{UUID}/edit",
    "/invoice/abcdefgh1234",
    "/api/v2/reports/accounting_transactions",
)


@pytest.mark.parametrize(("path", "name"), WAITING.items())
def test_what_waits_has_a_lane_of_its_own(path: str, name: str) -> None:
    assert LANES[lane_of(path)].name == name


@pytest.mark.parametrize("path", ORDINARY)
def test_all_else_shares_one(path: str) -> None:
    assert lane_of(path) == len(LANES) - 1


def routes(found: URLResolver, before: str = "") -> list[str]:
    made: list[str] = []
    for url_pattern in found.url_patterns:
        text = before + str(url_pattern.pattern).lstrip("^").rstrip("$")
        made += [text] if isinstance(url_pattern, URLPattern) else routes(url_pattern, text)
    return made


def test_every_export_and_every_document_has_a_lane_of_its_own() -> None:
    """A new one that sounds like them must be in the table, or be ordinary on purpose."""
    sounds = re.compile(r"\.csv|\.pdf|/file$|files/|payment.*/invoice$|advance$|settle$")
    heavy = [
        text.replace("\\", "")
        for text in routes(get_resolver())
        if sounds.search(text.replace("\\", ""))
    ]
    paths = [
        "/"
        + re.sub(
            r"\(\?P<[^>]+>(?:\[[^\]]*\]|\((?:[^()]|\([^)]*\))*\)|[^()])*\)|<[^>]+>",
            "abcdefgh1234",
            text,
        )
        for text in heavy
    ]
    assert len(paths) > 12
    assert [path for path in paths if lane_of(path) == len(LANES) - 1] == []


@pytest.mark.parametrize(
    "content_type",
    ["multipart/form-data; boundary=x", " Multipart/Form-Data;boundary=x", "multipart/mixed"],
)
def test_whatever_brings_files_has_a_lane_with_one_thread_and_few_places(content_type: str) -> None:
    """On every path: one that takes no files reads them nevertheless."""
    for path in (*ORDINARY, *WAITING, *UPLOADING):
        assert LANES[lane_of(path, content_type)] is UPLOADS
    assert (UPLOADS.threads, UPLOADS.waiting_max) == (1, 4)
    assert LANES[lane_of("/dashboard/verification", "application/x-www-form-urlencoded")].name == (
        "requests"
    )
