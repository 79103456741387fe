"""What the audit finds of some invariants alone: whoever plants one fault needn't have all others
asked about."""

from apps.audit import verify
from apps.audit.invariants import INVARIANTS, parameters
from apps.audit.verify import Finding


def found_of(*names: str) -> list[Finding]:
    """The breaches of the invariants with these names, as `verify.findings` lists them."""
    some = [item for item in INVARIANTS if item.name in names]
    assert {item.name for item in some} == set(names)
    asked = parameters()
    return [finding for item in some for finding in verify._ask(item, asked).findings]
