"""Schemathesis asks the server what the description calls valid, with a fixed seed.

It finds no answer that isn't described, and no request that is refused for the form of a field:
what remains is refused because of records, or is on the list below.
"""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from apps.api.description import _document
from apps.core.messages.invalid import SENTENCES
from apps.core.redis import buckets
from dev import schemathesis
from tests.cast import Shop
from tests.web.wire import Web

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
EXAMPLES = 2  # of each operation
SECONDS = 240
# Rules that no schema can have: they are about records, other fields, the network or the clock.
OF_RECORDS = {
    "huge_number",  # within an object whose values are described by nothing
    "integer",  # 1.0 is an integer to a schema, and none to us
    "public_address",
    "tax_rate_unknown",
    "vat_number",
    "vat_country",
    "reason_required",
    "rate_of_category",
    "rate_above_zero",
    "reason_refused",
    "nothing_included",
    "future",
    "whole_unit",
    "multiple",
    "prefix_of_other",
    "payable_asset",
    "ambiguous_amount",
    "one_refund_amount",
    "required_with",
    "required_with_country",
    "one_cycle",
    "price_once",
    "taken",
}


def test_what_is_valid_by_the_description_is_answered_as_described(
    web: Web, shop: Shop, tmp_path: Path
) -> None:
    if not schemathesis.APART.is_installed():
        pytest.skip("Schemathesis isn't installed")
    refused: list[str] = []
    asked: set[str] = set()
    with full_buckets():
        for name, operations in (
            ("test", ("--exclude-path-regex", "/agentic/|/test_payments")),  # no chain is here
            ("test_agent", ("--include-path-regex", "/agentic/")),
        ):
            told = tmp_path / f"{name}.har"
            ask(web.port, shop.secrets[name], told, *operations)
            for method, path, sent, answer in answers(told):
                asked.add(f"{method} {path}")
                rule = rule_of(answer)
                if rule is not None:
                    refused.append(f"{rule}: {method} {path} {answer} {sent[:300]}")
    assert not refused, "\n".join(refused)
    assert len(asked) > 150


@contextmanager
def full_buckets() -> Iterator[None]:
    """Nobody is asked to wait."""
    done = threading.Event()

    def fill() -> None:
        while not done.wait(0.2):
            buckets.client().flushdb()

    filling = threading.Thread(target=fill)
    filling.start()
    try:
        yield
    finally:
        done.set()
        filling.join()


def ask(port: int, key: str, told: Path, *operations: str) -> None:
    # Drawn here, since the server would be waited for no longer than ten seconds.
    described = told.with_name("openapi.json")
    described.write_bytes(_document())
    command = [
        *(str(schemathesis.APART.python.with_name("schemathesis")), "run"),
        *(str(described), "--url", f"http://127.0.0.1:{port}", "--request-timeout", "60"),
        *("--header", f"Authorization: Bearer {key}"),
        *("--checks", ",".join(CHECKS), "--mode", "positive", "--phases", "fuzzing", *operations),
        *("--max-examples", str(EXAMPLES), "--seed", "1"),
        *("--generation-database", "none", "--generation-allow-x00", "false"),
        *("--suppress-health-check", "all", "--no-color", "--continue-on-failure"),
        *("--report", "har", "--report-har-path", str(told)),
    ]
    done = subprocess.run(
        command, cwd=told.parent, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"


def answers(told: Path) -> Iterator[tuple[str, str, str, str]]:
    """The request: method, path and body, and the answer's body where it was refused."""
    for entry in json.loads(told.read_text())["log"]["entries"]:
        request = entry["request"]
        path = re.sub(r"^https?://[^/]+|\?.*$", "", request["url"])
        response = entry["response"]
        answer = response["content"].get("text", "") if response["status"] == 422 else "null"
        yield request["method"], path, request.get("postData", {}).get("text", ""), answer


def rule_of(answer: str) -> str | None:
    """The rule of a field by which something was refused, None when it is about records."""
    try:
        sentences = list(texts(json.loads(answer)))
    except ValueError:
        return None
    for rule, pattern in RULES.items():
        if rule not in OF_RECORDS and any(map(pattern.fullmatch, sentences)):
            return rule
    return None


def texts(answer: Any) -> Iterator[str]:
    """The sentences of a refusal, in whichever form."""
    if not isinstance(answer, dict):
        return
    error = answer.get("error", answer.get("errors"))
    for told in error if isinstance(error, list) else [error]:
        text = told.get("message") if isinstance(told, dict) else told
        if isinstance(text, str):
            yield text


RULES = {
    rule: re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(sentence)), re.DOTALL)
    for rule, sentence in SENTENCES.items()
}
