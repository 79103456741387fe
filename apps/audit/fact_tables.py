"""The facts that a run keeps of one table: columns that never change, and comparisons of others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# What compares a column that changes.
HISTORY = "its history has a line for each change"
BOOKS = "the ledger has a movement for each change"
CHAIN = "the chain's transaction or block says it"
SUMS = "it is a sum that is added up again"
OWNERS = "whoever owns it changes it, and the audit log has a line"
SIGNED = "the signed payment's amount less its offer's is the same"
PACE = "it says when something is due or was done, and moves nothing"
WORDS = "it is read by people or by their programs, and moves nothing"


@dataclass(frozen=True)
class Facts:
    """`columns` are never changed, beside the key. Rows that are `is_pruned` go after
    WEBHOOK_KEPT_DAYS; where it `grows`, rows may be added with older keys. `settled_numbers` is
    how many numbers one transaction may take, where it is many."""

    table: str
    columns: str
    moving: Mapping[str, str] = field(default_factory=dict)
    key: str = "id"
    key_type: str = "uuid"
    is_pruned: bool = False
    grows: bool = False
    settled_numbers: int = 0

    @property
    def names(self) -> Sequence[str]:
        return tuple(self.columns.split())


def moving(**reasons: str) -> dict[str, str]:
    """Columns by reason: `HISTORY="status state_reason"`."""
    return {
        column: globals()[reason]
        for reason, columns in reasons.items()
        for column in columns.split()
    }


def numbered(table: str, columns: str, moving: Mapping[str, str] | None = None) -> Facts:
    """Of a table whose keys are numbers."""
    return Facts(table, columns, moving or {}, key_type="bigint")
