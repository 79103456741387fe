"""What the audit finds of some invariants alone: whoever plants one fault needn't have all others
asked about."""

from apps.console import audit
from apps.console.audit import Finding
from apps.console.invariants import INVARIANTS, parameters


def found_of(*names: str) -> list[Finding]:
    """The breaches of the invariants with these names, as `audit.findings` tells them among all."""
    some = [one for one in INVARIANTS if one.name in names]
    assert {one.name for one in some} == set(names)
    asked = parameters()
    return [finding for one in some for finding in audit._ask(one, asked).findings]
