"""What never reaches a log: keys, tokens, and the links that are keys themselves."""

import pytest

from apps.core.logs import redact

KEPT = [
    "Not Found: /invoice/INV-0001",
    "GET /portal/",
    'File "/lib/django/core/files/uploadhandler.py", line 3',
    "/files/report.pdf",
]
CUT = [
    ("Gone: /portal/442e3353fe994af5a672cbe3ff4958bc.1xUmnF.58C-FsOsZKbsfgVuFnTVbgC7/link", "Gone: /portal/[redacted]/link"),
    ("Not Found: /invoice/h6X9q69Tn4GeVGcHUaOLrafcJs3MdKTa/pay", "Not Found: /invoice/[redacted]/pay"),
    ("/billing/invoice/h6X9q69Tn4GeVGcHUaOLrafcJs3MdKTa", "/billing/invoice/[redacted]"),
    ("Not Found: /files/InJlcG9ydHMvMS5wZGYi:1xUmnF:58C-FsOsZKbsfgVuFnTVb", "Not Found: /files/[redacted]"),
    ("key svc_sk_test_2DTYUKp9dM561GgrFUCos0AsU0TDUyGlh22B791h", "key [redacted]"),
    ("whsec_00ff", "[redacted]"),
    ("Authorization: Bearer abcdefghijkl", "Authorization: [redacted]"),
    ("0x" + "ab" * 32, "0xabababab…"),
]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(("text", "left"), CUT)
def test_what_opens_something_is_cut(text: str, left: str) -> None:
    assert redact(text) == left
    assert redact([{"said": text}]) == [{"said": left}]
