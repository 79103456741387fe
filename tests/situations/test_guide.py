"""The guide's table and `python -m tests.situations` have the same situations, and each row names
something that can be looked for."""

from tests.situations import guide
from tests.situations.__main__ import MODULES
from tests.situations.register import SITUATIONS

# Tried with the shop's own plugin (tests/clients).
ELSEWHERE = {
    "a shop's order is paid late, twice, with a new quote, in another coin, or after its total or"
    " method changed"
}
# What operators see, and nobody else.
OPERATORS = {
    "a block that was read without its logs is read again",
    "coins that nothing explains",
}


def test_each_row_is_tried_and_nothing_else() -> None:
    assert len(MODULES) > 1
    assert set(guide.rows()) == set(SITUATIONS) - OPERATORS | ELSEWHERE


def test_each_row_names_what_is_looked_for() -> None:
    nothing = [
        row.name for row in guide.rows().values() if not any(row.marks()) and row.name in SITUATIONS
    ]
    assert nothing == []


def test_what_is_not_there_is_missed() -> None:
    row = guide.GuideRow(
        "one", "the page says *It’s safe*", "*Paid*", "`late: true`, `accepted_at`"
    )
    seen = ("It's safe", "Paid", '{"late": true, "accepted_at": null}')
    assert row.missing(*seen) == []
    assert row.missing("", "", '{"late": false}') == [
        "customer: It’s safe",
        "you: Paid",
        "program: late: true",
        "program: accepted_at",
    ]
