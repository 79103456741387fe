"""Above a family of networks nobody knows what is its own: nonces, gas, hex, or how an address is
folded (docs/architecture.md)."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.files import ROOT, trees

# The seam: what lies behind it may know its family.
BEHIND = "apps/chain/"
OWN_MODULES = ("apps.chain.networks.evm", "apps.chain.encoding", "apps.chain.rpc")
WORDS = {"nonce", "gas", "wei", "gwei"}
_FOLDED = re.compile(r"address|hash|payer|sender|contract|destination|pay_to|wallet|^to$")
_HEX = re.compile(r"0[xX]([0-9a-fA-F…]|$)|eth_[a-z]+[A-Z]")
_SEEN = r"(?i)nonce|gas|wei|0x|eth_|\.lower\(\)|apps\.chain\.(networks\.evm|encoding|rpc)"


def knowledge(tree: ast.AST) -> Iterator[str]:
    """A family's own knowledge in the code: imports, words in names, hex, folded addresses."""
    texts = set(map(id, _docstrings(tree)))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OWN_MODULES):
            yield "import"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in texts and _HEX.search(node.value):
                yield "hex"
        elif _is_fold(node):
            yield "lower"
        for name in _names(node):
            yield from sorted(WORDS.intersection(name.lower().split("_")))


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def _is_fold(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    held = node.func.value
    name = getattr(held, "attr", getattr(held, "id", ""))
    return node.func.attr == "lower" and bool(_FOLDED.search(str(name)))


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        is_setting = isinstance(node.value, ast.Name) and node.value.id == "settings"
        yield "" if is_setting else node.attr
    elif isinstance(node, ast.arg | ast.keyword):
        yield node.arg or ""
    elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias):
        yield node.name
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


# Who speaks a protocol that only EVM has (x402, which signs by EIP-3009), or that of an exchange.
PROTOCOLS = re.compile(r"/x402|/providers/")
# Commands and pages for operators show what a family's rows hold, under the names of its columns;
# they read and compare nothing by it.
OPERATORS = ("apps/console/", "apps/staff/")
# Who else knows, and why. A file that no longer does leaves the list.
ACCOUNTS = "keeps what an agent has signed with x402"
BOOKS = "names movements and columns of the books, whose kinds are stored"
OTHER = "isn't about networks"
KNOWING: dict[str, tuple[str, ...]] = {
    ACCOUNTS: ("apps/agents/models/agents.py: nonce",),
    BOOKS: (
        "apps/agents/services/dispatch.py: gas",
        "apps/audit/touched.py: gas",
        "apps/ledger/keys.py: gas",
        "apps/ledger/movements/__init__.py: gas",
        "apps/ledger/movements/draws.py: gas",
        "apps/ledger/movements/lines.py: gas",
        "apps/ledger/movements/own.py: gas",
        "apps/ledger/movements/payouts.py: gas",
        "apps/ledger/movements/refunds.py: gas",
        "apps/ledger/movements/swaps.py: gas",
        "apps/ledger/movements/table.py: gas",
        "apps/payments/services/cold.py: gas",
        "apps/payments/services/refund_progress.py: gas",
        "apps/payments/services/sweep_books.py: gas",
        "apps/payments/services/test_wallet.py: gas",
        "apps/payments/services/transfer_returns.py: gas",
        "apps/payments/services/withdrawals.py: gas",
        "apps/payouts/documents.py: gas",
        "apps/payouts/models/payouts.py: gas",
        "apps/payouts/services/moves.py: gas",
        "apps/payouts/services/offramp.py: gas",
        "apps/payouts/services/progress.py: gas",
        "apps/swaps/services/progress.py: gas",
    ),
    "the nonce of a draw is the agent's own text": (
        "apps/agents/documents/agents.py: nonce",
        "apps/agents/requests/mandates.py: nonce",
        "apps/agents/services/settle.py: nonce",
    ),
    OTHER: (
        "apps/core/crypto.py: nonce",  # of AES-GCM
        "apps/core/local_chain.py: hex",  # this machine's own nodes
        "apps/core/process/logs.py: hex",  # what is left out of logs
        "apps/core/process/published_secrets.py: hex",  # keys that everybody knows
    ),
}


def test_nobody_above_the_seam_knows_what_is_a_familys_own() -> None:
    expected: dict[str, set[str]] = {}
    for line in [line for lines in KNOWING.values() for line in lines]:
        name, _, words = line.partition(": ")
        expected.setdefault(name, set()).update(words.split())
    found = {
        name: words
        for path, tree in trees(_SEEN, "apps")
        if not (name := str(path.relative_to(ROOT))).startswith(BEHIND)
        and "migrations" not in path.parts
        and not PROTOCOLS.search(name)
        and (words := set(knowledge(tree)) - (WORDS if name.startswith(OPERATORS) else set()))
    }
    assert found == expected


# Of the rest of apps/chain: who reads what EVM's nodes and contracts say, or names EVM's contracts.
FOLDING = {
    "apps/chain/sending/calls.py",
    "apps/chain/sending/history.py",
    "apps/chain/watching/traces.py",
}


def test_no_order_and_no_sender_loses_the_case_of_its_address() -> None:
    """An address of Bitcoin in lower case is another one, or none."""
    folders = ("networks/evm/", "encoding/", "rpc/", "keys/", "providers/")
    behind = tuple(f"{BEHIND}{folder}" for folder in folders)
    found = {
        name
        for path, tree in trees(r"\.lower\(\)", BEHIND)
        if not (name := str(path.relative_to(ROOT))).startswith(behind)
        and any(_is_fold(node) for node in ast.walk(tree))
    }
    assert found == FOLDING


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("row.nonce = 1", "nonce"),
        ("ask(gas_limit=2)", "gas"),
        ("fee_wei: int = 3", "wei"),
        ('text.startswith("0x")', "hex"),
        ('nodes.call("eth_getLogs", [])', "hex"),
        ("refund.destination_address.lower()", "lower"),
        ("from apps.chain.networks.evm.addresses import checksummed", "import"),
    ],
)
def test_the_rule_finds_what_a_family_alone_knows(code: str, word: str) -> None:
    assert word in set(knowledge(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "name.lower()",
        "from apps.chain.networks.families import shown_address",
        '"""The nonce: 0x12."""',
        'label = "gas"',
    ],
)
def test_the_rule_finds_nothing_else(code: str) -> None:
    assert not list(knowledge(ast.parse(code)))
