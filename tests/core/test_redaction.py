"""Redaction of logs: keys, tokens, and the links that are keys themselves."""

import re

import pytest

from apps.api.urls import ROUTES
from apps.core.process.logs import redact
from apps.dashboard.urls import PAGES
from apps.hosted.urls import urlpatterns as HOSTED

KEPT = [
    "Not Found: /invoice/INV-0001",
    "GET /portal/",
    'File "/lib/django/core/files/uploadhandler.py", line 3',
    "/files/report.pdf",
    "Not Found: /api/v2/payments/97f16b47-de09-4f0a-9d5b-0e1d0e8f2a11/refunds",
    "Not Found: /api/v2/wallets/0x52908400098527886E0F7030069857D2E4169EE7",
    (
        'File "/lib/python3.11/site-packages/django/contrib/staticfiles/'
        'a_module_with_quite_a_long_name.py", line 3'
    ),
]
CUT = [
    (
        "Gone: /portal/442e3353fe994af5a672cbe3ff4958bc.1xUmnF.58C-FsOsZKbsfgVuFnTVbgC7/link",
        "Gone: /portal/[redacted]/link",
    ),
    (
        "Not Found: /invoice/h6X9q69Tn4GeVGcHUaOLrafcJs3MdKTa/pay",
        "Not Found: /invoice/[redacted]/pay",
    ),
    ("/billing/invoice/h6X9q69Tn4GeVGcHUaOLrafcJs3MdKTa", "/billing/invoice/[redacted]"),
    (
        "Not Found: /files/InJlcG9ydHMvMS5wZGYi:1xUmnF:58C-FsOsZKbsfgVuFnTVb",
        "Not Found: /files/[redacted]",
    ),
    (
        "Not Found: /files/1Z~InJlcG9ydHMvMS5wZGYi:1xUmnF:58C-FsOsZKbsfgVuFnTVb",
        "Not Found: /files/[redacted]",
    ),
    ("key svc_sk_test_2DTYUKp9dM561GgrFUCos0AsU0TDUyGlh22B791h", "key [redacted]"),
    ("whsec_00ff", "[redacted]"),
    ("Authorization: Bearer abcdefghijkl", "Authorization: [redacted]"),
    ("0x" + "ab" * 32, "0xabababab…"),
]


# A refused request is logged with its path, and in these the path is the key.
OPENED = [
    *(f"/dashboard/{page.path}" for page in PAGES),
    *(f"/{path.pattern}" for path in HOSTED),
    *(f"/api/v2/{route.path}" for route in ROUTES),
]
TOKENS = {
    "password reset": "d6xk2q-0f9e1c9f5bd0a6c1f1c0b7b0a4a4c1d2",
    "random": "h6X9q69Tn4GeVGcHUaOLrafcJs3MdKTah6X9q69Tn4G",
    "signed": "Ijk3ZjE2YjQ3LWRlMDkiOg:1xUmnF:58C-FsOsZKbsfgVuFnTVbgC7abc_d-e",
}


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("path", [path for path in OPENED if "<str:token>" in path])
def test_the_token_of_a_link_is_cut_out_of_its_path(path: str, kind: str) -> None:
    asked = re.sub(
        r"<str:\w+>",
        "97f16b47-de09-4f0a-9d5b-0e1d0e8f2a11",
        path.replace("<str:token>", TOKENS[kind]),
    )
    assert TOKENS[kind] not in redact(f"Unprocessable Entity: {asked}")


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(("text", "left"), CUT)
def test_what_opens_something_is_cut(text: str, left: str) -> None:
    assert redact(text) == left
    assert redact([{"said": text}]) == [{"said": left}]


SHORTEST = [
    "svc_01234567",
    "svcsk_01234567",
    "whsec_0",
    "BEARER 01234567",
    "Basic\t01234567",
    "0x" + "0" * 64,
    "otpauth://x",
    "xprv" + "1" * 40,
    "ytpv" + "z" * 40,
    "/" + "A" * 32,
]


@pytest.mark.parametrize("secret", SHORTEST)
def test_the_shortest_secret_of_each_kind_is_cut(secret: str) -> None:
    for text in (secret, f"({secret})", {"said": [secret]}):
        assert secret not in str(redact(text))


def test_the_standard_of_a_token_is_no_secret() -> None:
    said = {"token_standard": "ERC20", "token": "abc", "access_token_standards": "abc"}
    assert redact(said) == {**said, "token": "[redacted]"}
