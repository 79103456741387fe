"""An invariant: a name, the sentence that must be true, and one query that returns a row (what,
why) for every breach.

Asked since a point, it is asked of the records touched since then, or always of all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


def written_since(row: str) -> str:
    """SQL: whether a transaction at or after the boundary of the point wrote this row. True also of
    a row that is billions of transactions old, which is only asked about once more."""
    return f"age({row}.xmin) <= age(%(boundary)s::text::xid8::xid)"


@dataclass(frozen=True)
class Invariant:
    """`counted` says over how many things it was asked. Neither query writes.

    `is_incremental`: a run since a point asks it of what was touched, by giving its tables only
    those rows (apps/audit/touched.py); `narrowed` says which rows where it wants other ones.
    """

    name: str
    says: str
    counted: str
    breaches: str
    is_incremental: bool = False
    narrowed: Mapping[str, str] = field(default_factory=dict)
