"""Inside the machine: pastes the guide's lines into a root shell, step by step, and does what the
guide can't: a chain, an exchange, the customer, and a look at what came of it. Debian's Python
alone.
"""

import json
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

CHAIN = "http://127.0.0.1:8545"
PAYING, NIGHT = 10, 11
CONFIRMATIONS = 40
WAIT_SECONDS = 300
LOGS = Path("/var/log/tillgate")
RATES = {"XETHZUSD": "2000.0", "XETHZEUR": "1800.0", "ZEURZUSD": "1.1"}


class Exchange(BaseHTTPRequestHandler):
    """Answers as Kraken does."""

    def do_GET(self) -> None:
        result = {name: {"c": [price, "1"]} for name, price in RATES.items()}
        body = json.dumps({"error": [], "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


def main() -> None:
    task = json.loads(Path("/machine/task.json").read_text())
    first = task["first"]
    if first > 1:
        begin_world()
    for number, block in enumerate(task["steps"], first):
        began = time.monotonic()
        done = subprocess.run(["bash", "-e", "-o", "pipefail"], input=block, text=True, check=False)
        print(f"step {number}: {time.monotonic() - began:.0f} s", flush=True)
        if done.returncode:
            show_logs()
            sys.exit(f"step {number} failed with {done.returncode}:\n{block}")
        if number == PAYING:
            pay()
        if number == NIGHT:
            look()
    if task.get("idle"):
        measure(task["idle"])


def begin_world() -> None:
    """The machine before the guide: PostgreSQL as Debian starts it, the chain and the exchange."""
    for name in ("postgresql", "redis-server"):
        subprocess.run(["service", name, "start"], check=True)
    subprocess.Popen(["/machine/anvil", "--chain-id", "1", "--quiet"], stdout=subprocess.DEVNULL)
    server = HTTPServer(("127.0.0.1", 8546), Exchange)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def ask(method: str, *parameters: object) -> Any:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
    request = urllib.request.Request(CHAIN, body.encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["result"]


def pay() -> None:
    """As the customer: the exact amount to the address, and blocks until it counts."""
    payment = json.loads(Path("/etc/tillgate/payment.json").read_text())
    (address,) = payment["payment_addresses"]
    transfer = {
        "from": ask("eth_accounts")[0],
        "to": address["address"],
        "value": hex(int(address["crypto_amount_atomic"])),
    }
    ask("eth_sendTransaction", transfer)
    ask("anvil_mine", hex(CONFIRMATIONS))
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        status = sql(f"SELECT status FROM payments_payment WHERE id = '{payment['id']}'")
        if status == "completed":
            print("the live payment is completed", flush=True)
            return
        time.sleep(1)
    show_logs()
    sys.exit(f"the payment is still {status}")


def look() -> None:
    """Check the night's results: a whole point with the chain, and a backup that the passphrase
    opens."""
    point = sql("SELECT is_whole, is_with_chain FROM audit_verifiedpoint")
    if point != "t|t":
        sys.exit(f"the audit's points are {point!r}")
    (backup,) = Path("/var/backups/tillgate").iterdir()
    lines = (
        "set -a; . /etc/tillgate/tillgate.env; . /etc/tillgate/owner.env;"
        " export TILLGATE_VAR=/var/lib/tillgate; cd /srv/tillgate;"
        f" /opt/tillgate/bin/python manage.py backup {backup} --verify"
        " --passphrase-file /etc/tillgate/backup.passphrase"
    )
    subprocess.run(["bash", "-e", "-c", lines], check=True)
    timeouts = sql("SELECT count(*) FROM pg_db_role_setting")
    print(f"a verified point, a backup that opens, {timeouts} roles with settings", flush=True)


def sql(statement: str) -> str:
    command = ["runuser", "-u", "postgres", "--", "psql", "-tA", "tillgate", "-c", statement]
    return subprocess.run(
        command, cwd="/", capture_output=True, text=True, check=True
    ).stdout.strip()


def measure(minutes: int) -> None:
    """Measure the writes of each process while nothing happens."""
    before = {path.name: path.stat().st_size for path in LOGS.iterdir()}
    time.sleep(minutes * 60)
    grown = {path.name: path.stat().st_size - before[path.name] for path in LOGS.iterdir()}
    for name, size in sorted(grown.items(), key=lambda item: -item[1]):
        print(f"{name}: {size} bytes in {minutes} min")
    day = sum(grown.values()) * 24 * 60 / minutes
    print(f"together {day / 1e6:.2f} MB a day", flush=True)


def show_logs() -> None:
    for path in sorted(LOGS.glob("*.log")) if LOGS.exists() else ():
        print(f"--- {path.name}\n{path.read_text()[-1500:]}", file=sys.stderr)


if __name__ == "__main__":
    main()
