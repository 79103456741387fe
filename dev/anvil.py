"""The program of this machine's EVM chains, and the exchange's contracts for them, as the set-up
brought them."""

import json
import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def anvil_program() -> str | None:
    """The chain's program: what TILLGATE_ANVIL names, what the set-up brought, or what the machine
    has."""
    configured = os.environ.get("TILLGATE_ANVIL")
    brought = next(
        iter(sorted(ROOT.glob(".tools/node_modules/@foundry-rs/anvil-*/bin/anvil"))), None
    )
    return configured or (str(brought) if brought else shutil.which("anvil"))


def exchange_bytecode(name: str) -> str | None:
    """The code of one of the exchange's contracts, as the set-up brought it; None when it did
    not."""
    path = next(iter(ROOT.glob(f".tools/exchange/node_modules/@uniswap/*/build/{name}.json")), None)
    return (
        None
        if path is None
        else "0x" + str(json.loads(path.read_text())["bytecode"]).removeprefix("0x")
    )
