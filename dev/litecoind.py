"""Litecoin's node for this machine alone (regtest): the program that Debian's package brings, and a
network of its own that nobody else is on.

Its chain stops before block 432 until a payment into the private part (MWEB) waits there: `ensure`
takes it past that block, with two wallets that have coins: `faucet`, and `hidden`, whose coins are
all in that part.
"""

import json
import secrets
import time
import urllib.error
import urllib.request
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from apps.core.local_chain import LITECOIN
from dev import machine, processes
from dev.ports import free_port

TITLE = "local Litecoin"
FAUCET = "faucet"
HIDDEN = "hidden"
# The first block with a private part.
PRIVATE_NUMBER = 432
# Several, so that one pays while the change of another waits.
PRIVATE_PAYMENTS = (100, 100, 100, 100)
# The first blocks come within a second and may not be of the same one: they are of the past.
PAST_SECONDS = 600
TIMEOUT_SECONDS = 60.0
_OPTIONS = (
    "-regtest",
    "-server=1",
    "-listen=0",
    "-connect=0",
    "-dnsseed=0",
    "-discover=0",
    "-upnp=0",
    "-printtoconsole=0",
    "-txindex=1",
    "-acceptnonstdtxn=0",
    "-fallbackfee=0.0002",
    "-keypool=20",
    "-dbcache=16",
    "-maxmempool=50",
    "-par=1",
    "-rpcbind=127.0.0.1",
    "-rpcallowip=127.0.0.1",
)
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class NodeRefused(RuntimeError):
    """The node answered with an error; `code` is its own."""

    def __init__(self, method: str, error: dict[str, Any]) -> None:
        self.code = error.get("code")
        super().__init__(f"{method}: {error.get('message')}")


def ensure(folder: Path, name: str = LITECOIN, *, replaces: bool = False) -> str | None:
    """The address of the node that runs in a folder of services, started where none does; None
    without its program. `replaces` makes it take a transaction in the place of another, which
    Litecoin's nodes don't unless configured to. Raises processes.StartFailed."""
    found = machine.litecoind()
    if found is None:
        return None
    published = processes.published(folder, name)
    if published.get("url") and answers(published["url"]):
        return str(published["url"])
    data = data_of(folder, name)
    data.mkdir(exist_ok=True)
    data.chmod(0o700)
    password = secrets.token_urlsafe(24)
    (data / "litecoin.conf").write_text(f"rpcuser=tillgate\nrpcpassword={password}\n")
    port = free_port()
    url = f"http://tillgate:{password}@127.0.0.1:{port}"
    command = [found, *_OPTIONS, f"-datadir={data}", f"-rpcport={port}"]
    if replaces:
        command.append("-mempoolreplacement=1")
    process = processes.spawn(folder, name, command, url=url)
    log = data / "regtest" / "debug.log"
    processes.wait_until(lambda: answers(url), process, f"litecoind, the {TITLE}", log)
    begin(url)
    return url


def stop(folder: Path, name: str = LITECOIN) -> None:
    processes.stop(folder, name)


def data_of(folder: Path, name: str = LITECOIN) -> Path:
    return folder / name.removesuffix("_URL").lower()


def begin(url: str) -> None:
    """The wallets, and blocks with a private part; nothing is done twice."""
    known = {entry["name"] for entry in call(url, "listwalletdir")["wallets"]}
    for name in {FAUCET, HIDDEN} - set(call(url, "listwallets")):
        call(url, "loadwallet" if name in known else "createwallet", name)
    count = call(url, "getblockcount")
    if count >= PRIVATE_NUMBER:
        return
    address = call(url, "getnewaddress", wallet=FAUCET)
    call(url, "setmocktime", int(time.time()) - PAST_SECONDS)
    call(url, "generatetoaddress", PRIVATE_NUMBER - 1 - count, address)
    private = call(url, "getnewaddress", "", "mweb", wallet=HIDDEN)
    for coins in PRIVATE_PAYMENTS:
        call(url, "sendtoaddress", private, coins, wallet=FAUCET)
    call(url, "generatetoaddress", 1, address)
    call(url, "setmocktime", 0)


def pay(url: str, address: str, coins: str, *, is_private: bool = False) -> str:
    """The hash of a payment by a wallet of others, or the id under which one out of the private
    part waits."""
    return str(call(url, "sendtoaddress", address, coins, wallet=HIDDEN if is_private else FAUCET))


def mine(url: str, count: int = 1) -> list[str]:
    """Hashes of the new blocks; whose coins go to another address each time, so that a block in the
    place of another is never the same."""
    address = call(url, "getnewaddress", wallet=FAUCET)
    return list(call(url, "generatetoaddress", count, address))


def answers(url: str) -> bool:
    try:
        return isinstance(call(url, "getblockcount"), int)
    except (OSError, ValueError, KeyError, RuntimeError):
        return False


def call(url: str, method: str, *parameters: Any, wallet: str = "") -> Any:
    """The result of one call, of a wallet where one is named. Raises OSError when the node can't be
    reached, NodeRefused when it answers with an error."""
    parts = urlsplit(url)
    path = f"/wallet/{wallet}" if wallet else "/"
    body = json.dumps({"jsonrpc": "1.0", "id": 1, "method": method, "params": parameters})
    credentials = b64encode(f"{parts.username}:{parts.password}".encode()).decode()
    request = urllib.request.Request(
        f"http://{parts.hostname}:{parts.port}{path}",
        body.encode(),
        {"Content-Type": "application/json", "Authorization": f"Basic {credentials}"},
    )
    try:
        with _opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
            document = json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code not in (404, 500):
            raise
        document = json.load(error)
    if document.get("error"):
        raise NodeRefused(method, document["error"])
    return document["result"]
