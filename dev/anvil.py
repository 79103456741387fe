"""The program of this machine's EVM chains, and the exchange's contracts for them, as the set-up
brought them, and how they run."""

import json
import os
import shutil
import time
from pathlib import Path

from apps.core import local_chain
from dev import processes
from dev.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
BLOCK_SECONDS = 2
FURTHER_BLOCKS = 40  # deeper than anything is confirmed
GENESIS_SECONDS = 1767225600  # 2026-01-01


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


def ensure(path: Path, name: str, title: str, state: Path | None) -> str | None:
    """The address of the chain that runs in a folder of services, started where none does; None
    without its program. It mines on its own when it keeps its state. Raises
    processes.StartFailed."""
    program = anvil_program()
    if program is None:
        return None
    chain_id = local_chain.CHAIN_IDS[name]
    published = processes.published(path, name)
    if published.get("url") and local_chain.is_chain(published["url"], chain_id):
        return str(published["url"])
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [program, "--host", "127.0.0.1", "--port", str(port)]
    command += ["--chain-id", str(chain_id), "--quiet"]
    is_kept = False
    if state is not None:
        is_kept = state.exists()
        if not is_kept and processes.log_of(path, name).exists():
            raise processes.StartFailed(
                f"{state} is gone, but the database knows that chain: start again with --fresh"
            )
        command += ["--block-time", str(BLOCK_SECONDS)]
        command += ["--state", str(state), "--state-interval", "5"]
        # anvil makes a first block at every start and would keep them all; of one time they are one
        # block.
        command += ["--timestamp", str(GENESIS_SECONDS)]
    process = processes.spawn(path, name, command, url=url)
    processes.wait_until(
        lambda: local_chain.is_chain(url, chain_id),
        process,
        f"anvil, the {title}",
        processes.log_of(path, name),
    )
    now = int(time.time())
    if is_kept:
        # It kept its blocks and no state of theirs, which is asked for as deep as confirmations go.
        local_chain.call(url, "evm_setTime", now - FURTHER_BLOCKS)
        local_chain.call(url, "anvil_mine", hex(FURTHER_BLOCKS), "0x1")
    local_chain.call(url, "evm_setTime", now)
    return url
