"""What the audit finds of some invariants alone: whoever plants one fault needn't have all others
asked about."""

from apps.audit import verify
from apps.audit.invariants import INVARIANTS, parameters
from apps.audit.verify import Finding


def found_of(*names: str) -> list[Finding]:
    """The breaches of the invariants with these names, as `verify.findings` lists them."""
    some = [one for one in INVARIANTS if one.name in names]
    assert {one.name for one in some} == set(names)
    asked = parameters()
    return [finding for one in some for finding in verify._ask(one, asked).findings]
