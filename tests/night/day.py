"""The first day of an installation, which every one of its processes has a part in: a live payment
and its receipt, a report, a test clock, and refunds in both modes that leave."""

from functools import partial
from typing import Any

from apps.core import local_chain
from tests.night.machine import Machine
from tests.stack import mine

BLOCKS = 40  # more than anything is confirmed by
PARTS = {"jobs", "watcher", "signer"}
# A job that beat sends to each queue every few seconds, by the process that serves the queue.
JOBS = {
    "worker": "chain.send_due",
    "worker-test": "payments.advance_refunds",
    "webhooks": "webhooks.deliver_due",
    "reports": "reports.generate",
    "documents": "documents.draw",
    "clocks": "test_clocks.advance",
}
PROCESSES = ("web", *JOBS, "beat", "watcher", "signer")
Keys = dict[str, str]


def begin(machine: Machine) -> None:
    """Everything runs, and says so."""
    machine.start(*PROCESSES)
    machine.wait_for(machine.is_ready, bool)
    machine.wait_for(machine.heartbeats, PARTS.issubset)


def be_used(machine: Machine, keys: Keys, staff: str) -> None:
    """As on a day of a merchant's."""
    payment = _paid(machine, keys["live"])
    receipt = _made(machine, f"/api/v2/payments/{payment['id']}/invoice", keys["live"])
    assert (receipt.status_code, receipt.content[:5]) == (200, b"%PDF-")
    moved = machine.api("POST", "/api/v2/test_clock/advance", keys["test"], {"seconds": 86400})
    assert moved.status_code == 200, moved.text
    last = machine.api("GET", "/api/v2/reports", keys["live"]).json()["available_through"]
    query = f"?start_date={last}&end_date={last}"
    report = _made(machine, f"/api/v2/reports/merchant_statement{query}", keys["live"])
    assert report.status_code == 200, report.text
    _fund(machine, staff)
    _refunded(machine, payment["id"], keys["live"], BLOCKS)
    simulated = _payment(machine, keys["test"])
    path = f"/api/v2/payments/{simulated['id']}/simulated_payments"
    assert machine.api("POST", path, keys["test"], {}).status_code == 201
    _completed(machine, simulated["id"], keys["test"])
    _refunded(machine, simulated["id"], keys["test"], 0)


def look(machine: Machine) -> None:
    """Each worker has served its own queue, beat has sent, and the watcher tells of its chain."""
    for name, job in JOBS.items():
        line = f'tillgate_job_seconds_count{{name="{job}"}}'
        machine.wait_for(partial(machine.figures, name), partial(_has, line))
    assert "tillgate_beat_sent_total" in machine.figures("beat")
    assert 'chain="ethereum"' in machine.figures("watcher")


def _has(line: str, text: str) -> bool:
    return line in text


def _payment(machine: Machine, key: str) -> dict[str, Any]:
    order = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    # As the guide has it: a 503 is asked again, until the first rates are there.
    answer = machine.wait_for(
        lambda: machine.api("POST", "/api/v2/payments", key, order),
        lambda answer: answer.status_code != 503,
    )
    assert answer.status_code == 201, answer.text
    payment: dict[str, Any] = answer.json()
    return payment


def _completed(machine: Machine, id: str, key: str) -> dict[str, Any]:
    return machine.wait_for(
        lambda: machine.api("GET", f"/api/v2/payments/{id}", key).json(),
        lambda detail: detail["status"] == "completed",
    )


def _paid(machine: Machine, key: str) -> dict[str, Any]:
    """A live payment that a customer has paid on the chain."""
    payment = _payment(machine, key)
    (address,) = payment["payment_addresses"]
    _send(machine, address["address"], int(address["crypto_amount_atomic"]))
    mine(machine.chain, BLOCKS)
    return _completed(machine, payment["id"], key)


def _send(machine: Machine, address: str, amount_atomic: int) -> str:
    sender = local_chain.call(machine.chain, "eth_accounts")[0]
    transfer = {"from": sender, "to": address, "value": hex(amount_atomic)}
    return str(local_chain.call(machine.chain, "eth_sendTransaction", transfer))


def _fund(machine: Machine, staff: str) -> None:
    """The hot wallet gets coins for gas and refunds, which are booked."""
    query = "SELECT address FROM chain_hotwallet WHERE chain_id = 'ethereum'"
    ((address,),) = machine.wait_for(lambda: machine.rows(query), bool)
    hash = _send(machine, str(address), 10**18)
    mine(machine.chain, BLOCKS)
    machine.manage(f"treasury fund --network ethereum --hash {hash} --staff {staff}")


def _refunded(machine: Machine, id: str, key: str, blocks: int) -> None:
    """Approved by a worker and signed by the signer, until it has arrived."""
    body = {"refund": {"amount": "0.0001"}}
    path = f"/api/v2/payments/{id}/refunds"
    asked = machine.api("POST", path, key, body, **{"Idempotency-Key": "night"})
    assert asked.status_code == 201, asked.text

    def statuses() -> list[str]:
        if blocks:
            mine(machine.chain, blocks)
        return [refund["status"] for refund in machine.api("GET", path, key).json()]

    machine.wait_for(statuses, lambda told: told == ["confirmed"])


def _made(machine: Machine, path: str, key: str) -> Any:
    """An answer that a worker makes first: 202 or 503 until it is there."""
    return machine.wait_for(
        lambda: machine.api("GET", path, key),
        lambda answer: answer.status_code not in (202, 503),
    )
