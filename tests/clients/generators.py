"""Clients that others generate from the description compile as strictly as their compilers can.

    python -m tests.clients.generators [URL KEY]

Fetches @hey-api/openapi-ts and openapi-python-client into a folder of its own. With the address of
a running service and a test key, each client also creates a payment and reads it back.
"""

import json
import subprocess  # nosec
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 600

NPM = ("@hey-api/openapi-ts@0.95.0", "typescript@5.9.3", "@types/node@20.19.9")
TSC = (
    "--strict",
    "--noUncheckedIndexedAccess",
    *("--target", "ES2022", "--lib", "ES2023,DOM,DOM.Iterable", "--types", "node"),
    *("--module", "commonjs", "--moduleResolution", "node10", "--outDir", "built"),
)
CALL_TS = """\
import { client } from "./client/client.gen";
import { getPaymentsId, postPayments } from "./client/sdk.gen";

async function main(baseUrl: string, key: string): Promise<void> {
  client.setConfig({ baseUrl, auth: key });
  const body = { payment_intent: { amount: "12.50", currency: "EUR" as const, order_id: "ts" } };
  const made = await postPayments({ body, throwOnError: true });
  const read = await getPaymentsId({ path: { id: made.data.id }, throwOnError: true });
  const told = [read.data.id === made.data.id, read.data.order_id, read.data.status];
  if (told.join() !== "true,ts,pending") throw new Error(told.join());
  console.log("TypeScript:", read.data.id, read.data.status);
}

void main(process.argv[2]!, process.argv[3]!);
"""

PYPI = ("openapi-python-client==0.29.1", "mypy==2.4.1")
# What openapi-python-client 0.29.1 is told so that its own faults don't count: a variable of its
# `from_dict` has the name of the class, and a field with that name too makes two types of it; and
# of binary answers it knows one content type.
CONFIGURATION = {
    "class_overrides": {
        "Error": {"class_name": "Refusal", "module_name": "refusal"},
        "Balances": {"class_name": "AllBalances", "module_name": "all_balances"},
    },
    "content_type_overrides": {
        "application/pdf": "application/octet-stream",
        "application/xml": "application/octet-stream",
    },
    "post_hooks": [],
}
CALL_PY = """\
import sys

from tillgate_client import AuthenticatedClient
from tillgate_client.api.payments import get_payments_id, post_payments
from tillgate_client.models import PaymentIntent, PaymentIntentDetail
from tillgate_client.models import PostPaymentsBody, PostPaymentsBodyPaymentIntent


def main(url: str, key: str) -> None:
    client = AuthenticatedClient(base_url=url, token=key)
    fields = PostPaymentsBodyPaymentIntent(amount="12.50", currency="EUR", order_id="python")
    made = post_payments.sync(client=client, body=PostPaymentsBody(payment_intent=fields))
    assert isinstance(made, PaymentIntent), made
    read = get_payments_id.sync(str(made.id), client=client)
    assert isinstance(read, PaymentIntentDetail), read
    assert (read.id, read.order_id, read.status) == (made.id, "python", "pending"), read
    print("Python:", read.id, read.status)


main(*sys.argv[1:])
"""


def main() -> None:
    called = sys.argv[1:]
    described = subprocess.run(
        [sys.executable, "manage.py", "openapi"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "openapi.json"
        path.write_bytes(described)
        for make in (typescript, python):
            folder = Path(place) / make.__name__
            folder.mkdir()
            program = make(folder, path)
            if called:
                _run(folder, *program, *called)


def typescript(folder: Path, path: Path) -> list[str]:
    """The program that calls, compiled with the client."""
    (folder / "package.json").write_text('{"private": true, "type": "commonjs"}')
    _run(folder, "npm", "install", "--silent", "--no-audit", "--no-fund", *NPM)
    _run(folder, "npx", "openapi-ts", "-i", str(path), "-o", "client")
    (folder / "call.ts").write_text(CALL_TS)
    _run(folder, "npx", "tsc", *TSC, "call.ts")
    print(f"TypeScript: {', '.join(NPM)} compile")
    return ["node", "built/call.js"]


def python(folder: Path, path: Path) -> list[str]:
    """The program that calls, type-checked with the client."""
    uv = str(Path(sys.executable).parent / "uv")
    own = folder / "environment" / "bin"
    _run(folder, uv, "venv", "--quiet", "environment")
    _run(folder, uv, "pip", "install", "--quiet", "--python", str(own / "python"), *PYPI)
    (folder / "settings.json").write_text(json.dumps(CONFIGURATION))
    generate = ["generate", "--path", str(path), "--config", "settings.json", "--meta", "none"]
    name = "tillgate_client"
    command = [str(own / "openapi-python-client"), *generate, "--output-path", name]
    _run(folder, *command, "--fail-on-warning")
    for module in (folder / name).rglob("*.py"):
        _import_unset(module)
    (folder / "call.py").write_text(CALL_PY)
    _run(folder, str(own / "mypy"), "--strict", name, "call.py")
    print(f"Python: {', '.join(PYPI)} compile")
    return [str(own / "python"), "call.py"]


def _import_unset(module: Path) -> None:
    """openapi-python-client 0.29.1 names `Unset` where a body has two content types, and doesn't
    import it."""
    types = "from ...types import Response, UNSET"
    text = module.read_text()
    module.write_text(text.replace(f"{types}\n", f"{types}, Unset\n"))


def _run(folder: Path, *command: str) -> None:
    """It must succeed."""
    done = subprocess.run(command, cwd=folder, timeout=SECONDS, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")


if __name__ == "__main__":
    main()
