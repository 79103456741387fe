"""Keys of movements are spelled out in one module; where it can't be imported, what is written is
compared with it."""

import ast
import re
import uuid
from collections.abc import Iterator

from apps.chain.sending import reservations
from apps.ledger import keys
from tests.house.files import ROOT, sources

NAMES = {var.name for var in vars(keys).values() if isinstance(var, keys.Key)}
# Those that may not import the ledger's, and texts that only look like a key of a movement.
ELSEWHERE = {
    "apps/chain/sending/reservations.py",  # compared with the keys by a test below
    "apps/chain/sending/caps.py",  # `refund:`, asked of the books by SQL
    "apps/stores/invariants/staff.py",  # `correction:`, of what two members of staff approve
    "apps/agents/services/x402_offers.py",  # the idempotency key of a payment
    "apps/agents/services/x402_settle.py",  # the same
    "apps/payments/services/withdrawals.py",  # the key of a notice to the staff
}
SPELLED_OUT = re.compile(rf"(?:^|')({'|'.join(sorted(NAMES))}):(?:'|$)")


def texts(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def spelled_out(source: str) -> set[str]:
    """Keys that are begun in a text, whole or in SQL."""
    return {found for text in texts(source) for found in SPELLED_OUT.findall(text)}


def test_a_key_is_made_alike_in_python_and_in_sql() -> None:
    assert keys.REFUND.of("7") == "refund:7"
    assert keys.REFUND.sql("r.id") == "'refund:' || r.id"
    assert keys.SETTLE.of("payment", "usdc", 3) == "settle:payment:usdc:3"
    assert keys.MINED_AGAIN.sql("o.id", "n") == "'mined-again:' || o.id || ':' || n"


def test_every_key_has_a_name_of_its_own() -> None:
    assert len(NAMES) == sum(isinstance(var, keys.Key) for var in vars(keys).values()) > 30


def test_no_other_module_spells_a_key_out() -> None:
    assert spelled_out("f'refund:{one}'; 'WHERE key = \\'sweep:\\' || o.hash'") == {
        "refund",
        "sweep",
    }
    found = {
        str(path.relative_to(ROOT))
        for path in sources("apps")
        if path.suffix == ".py" and "migrations" not in path.parts and spelled_out(path.read_text())
    }
    assert found == ELSEWHERE


def test_what_the_signer_asks_the_books_for_are_keys_of_the_ledger() -> None:
    reference = f"{uuid.uuid4()}-1"
    asked = {
        key.partition(":")[0]
        for reserve in reservations.OF.values()
        if reserve is not None
        for item in reserve(reference)
        for key in (item.key, *item.ends)
    }
    assert len(asked) > 10
    assert asked <= NAMES
