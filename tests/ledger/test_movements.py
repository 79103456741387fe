"""Every way money may move is a row of one table, and whatever is posted takes it from there."""

import ast
import re
import uuid
from datetime import UTC, datetime

import pytest

from apps.ledger import keys, movements, posting_by_record
from apps.ledger.chart import CHART, ROLES, STORE
from apps.ledger.movements.lines import Occasion, Owners, coins, posting_of
from apps.ledger.movements.table import MOVEMENTS
from apps.reports.labels import KINDS
from tests.house.files import ROOT, trees

OCCASION: Occasion = {"mode": "live", "at": datetime(2026, 11, 2, 12, tzinfo=UTC)}
STORE_ID = uuid.uuid4()
PLATFORM_ID = uuid.uuid4()
# A deposit and its change, a payment and more of it, a refund and the return of a transfer.
SHARED_KEYS = {keys.DEPOSIT, keys.SETTLE, keys.REFUND, keys.REFUND_CONFIRMED, keys.REFUND_RELEASED}


def test_every_row_has_a_function_and_every_function_a_row() -> None:
    functions = {name for name in movements.__all__ if name.islower()}

    assert functions == set(MOVEMENTS)


def test_every_row_is_posted_and_nothing_else_is() -> None:
    texts = set()
    for _, tree in trees("posting_of|_paid|_sent|_handed|_settled", "apps/ledger/movements"):
        texts |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert set(MOVEMENTS) <= texts

    makers = [
        str(path.relative_to(ROOT))
        for path, tree in trees(r"\b(Posting|EntryLine)\(", "apps")
        if any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("Posting", "EntryLine")
            for node in ast.walk(tree)
        )
    ]
    assert makers == ["apps/ledger/movements/lines.py"]


def test_every_row_has_a_label_in_reports() -> None:
    assert set(KINDS) == set(MOVEMENTS)


def test_every_key_is_some_rows_and_two_rows_share_one_only_where_they_are_the_same_event() -> None:
    all_keys = {var for var in vars(keys).values() if isinstance(var, keys.Key)}
    of_rows = [row.key for row in MOVEMENTS.values()]

    assert set(of_rows) == all_keys
    assert {key for key in all_keys if of_rows.count(key) > 1} == SHARED_KEYS


def test_rows_name_accounts_of_the_chart_and_say_when() -> None:
    for name, row in MOVEMENTS.items():
        assert row.accounts <= CHART.keys(), name
        assert {leg.role for flow in row.flows for leg in flow.legs} <= set(ROLES), name
        assert row.when and not row.when.endswith("."), name
    assert {kind for row in MOVEMENTS.values() for kind in row.accounts} == set(CHART)


@pytest.mark.parametrize("name", MOVEMENTS)
def test_what_is_posted_sums_to_zero_and_has_the_accounts_of_its_row(name: str) -> None:
    row = MOVEMENTS[name]
    flows = [coins("ETH_USDC", *range(3, 3 + len(flow.credits))) for flow in row.flows]

    for using in [(), *([kind] for kind in sorted(row.accounts))]:
        posting = posting_of(
            name, ["1"], None, OCCASION, *flows, owners=Owners(STORE_ID, PLATFORM_ID), using=using
        )

        assert posting.key == row.key.of("1")
        assert sum(line.amount_atomic for line in posting.lines) == 0
        assert {line.kind for line in posting.lines} <= row.accounts
        for line in posting.lines:
            assert (line.store_id is not None) == (CHART[line.kind].owner == STORE)


def test_an_account_that_a_row_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="refund_created doesn't move treasury"):
        posting_of("refund_created", ["1"], None, OCCASION, coins("ETH", 1), using=["treasury"])
    with pytest.raises(ValueError, match=r"zip\(\)"):
        posting_of("refund_created", ["1"], None, OCCASION)
    with pytest.raises(KeyError):
        posting_of("theft", ["1"], None, OCCASION, coins("ETH", 1))


def test_the_second_line_knows_the_kinds_that_the_web_has_functions_for() -> None:
    text = (ROOT / "apps/ledger/sql/ledger_check_web.sql").read_text()
    named = set(re.findall(r"'(\w+)'", text)) & MOVEMENTS.keys()

    assert named == posting_by_record.FUNCTIONS.keys()
    assert "'simulated_deposit_changed' OR m.mode <> 'test'" in text
