"""A caller who never gives up: asks under one key until there is an answer, and keeps the other
answers that came on the way."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import requests

PAUSE_SECONDS = 0.2
PATIENCE_SECONDS = 90.0
MADE = (200, 201)
ETHER = 10**18


@dataclass
class Caller:
    """Payments and payouts, one after the other, until the end is set. `wishes` maps a payout's
    address to its amount."""

    base_url: str
    secret: str
    wishes: dict[str, int] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    told: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let what is under way come to its answer."""
        self._ended.set()
        self._thread.join(2 * PATIENCE_SECONDS)

    def _run(self) -> None:
        number = 0
        while not self._ended.is_set():
            number += 1
            to = f"0x{number + 10**30:040x}"
            amount = 10**16 + number
            self.wishes[to] = amount
            self._insist(
                f"payment-{number}",
                "/payments",
                {"payment_intent": {"amount": "10.00", "currency": "EUR"}},
            )
            body = {"asset_id": "SETH", "amount_atomic": str(amount), "destination_address": to}
            self._insist(f"payout-{number}", "/payouts", body)
            time.sleep(PAUSE_SECONDS)

    def _insist(self, key: str, path: str, body: dict[str, Any]) -> None:
        """Ask under one key until the record is made; asked once more, it is that record."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            answer = self._ask(key, path, body)
            if answer is not None and answer.status_code in MADE:
                self.made[key] = answer.json()["id"]
                again = self._ask(key, path, body)
                if (
                    again is not None
                    and again.status_code in MADE
                    and again.json()["id"] != self.made[key]
                ):
                    self.wrong.append(f"{key}: two records")
                return
            time.sleep(PAUSE_SECONDS)
        self.wrong.append(f"{key}: no answer in {PATIENCE_SECONDS:.0f} s")

    def _ask(self, key: str, path: str, body: dict[str, Any]) -> requests.Response | None:
        headers = {"Authorization": f"Bearer {self.secret}", "Idempotency-Key": key}
        try:
            answer = requests.post(
                f"{self.base_url}/api/v2{path}", json=body, headers=headers, timeout=40
            )
        except requests.RequestException as error:
            self.told[type(error).__name__] += 1
            return None
        self.told[str(answer.status_code)] += 1
        if answer.status_code == 503:
            if not answer.headers.get("Retry-After") or "error" not in answer.json():
                self.wrong.append(f"{key}: a 503 without a word of when: {answer.text[:200]}")
        elif answer.status_code not in (*MADE, 429):
            self.wrong.append(f"{key}: {answer.status_code} {answer.text[:200]}")
        return answer
