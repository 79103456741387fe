"""THE table of what members of staff may do, by role, and what takes two of them.

The staff site and the services ask it. A page or button of the site that isn't a row here is found
by a test.
"""

from dataclasses import dataclass
from typing import Protocol

from django.db import models

from apps.core.errors import Failure, RefusalKind


class StaffRole(models.TextChoices):
    """A member of staff has any number of them."""

    SUPPORT = "support"
    FINANCE = "finance"
    ADMIN = "admin"


ALL_ROLES = frozenset(StaffRole.values)
_READERS = ALL_ROLES
_FINANCE = frozenset({StaffRole.FINANCE})
_ADMIN = frozenset({StaffRole.ADMIN})
ONE = "one"
TWO = "two"
TWO_ABOVE = "two above the threshold"


class StaffForbidden(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "staff_role_forbidden"
    message = "Your staff role does not allow this"


class StaffMember(Protocol):
    """A person's rights among staff."""

    is_active: bool
    is_staff: bool
    is_superuser: bool
    staff_roles: list[str]


@dataclass(frozen=True)
class StaffOperation:
    """A row: who does it, and how many people it takes."""

    name: str
    does: str
    roles: frozenset[str]
    people: str = ONE


READ = StaffOperation("read", "Read every page of the staff site", _READERS)

# Finance decides.
PAYOUT_APPROVE = StaffOperation("payout.approve", "Approve a payout in review", _FINANCE, TWO_ABOVE)
PAYOUT_REJECT = StaffOperation("payout.reject", "Reject a payout in review", _FINANCE)
CORRECTION = StaffOperation("books.correct", "Correct the ledger", _FINANCE, TWO)
ORDER_STOP = StaffOperation(
    "worker_order.stop", "Stop what a worker has still to carry out", _FINANCE | _ADMIN
)
FUNDING = StaffOperation("hot_wallet.fund", "Book a deposit to a hot wallet", _FINANCE)
WITHDRAWAL = StaffOperation("withdrawal", "Withdraw earnings", _FINANCE, TWO)
BANK_VERIFY = StaffOperation(
    "bank_account.verify", "Verify or reject a bank account, or undo it", _FINANCE
)
BUSINESS_VERIFY = StaffOperation(
    "verification.decide", "Decide about a business verification", _FINANCE
)
PLATFORM_ACCESS = StaffOperation(
    "platform_access.decide", "Decide about a platform access request", _FINANCE
)
UNMATCHED = StaffOperation("unmatched_transfer.resolve", "Resolve an unmatched transfer", _FINANCE)
SENDING_RESUME = StaffOperation(
    "sending.resume", "Resume sending that staff put on hold", _FINANCE, TWO
)
ASSET_REVIEW = StaffOperation(
    "asset_review.end", "Decide about a store’s asset that was stopped for review", _FINANCE
)

COINS_ACCEPT = StaffOperation(
    "unexplained_balance.accept", "Accept coins that nothing explains", _FINANCE
)

# Support, asked by a customer, looks: only what the chain has is booked.
COINS_FIND = StaffOperation(
    "coins.find", "Find a transaction, and have blocks read again", _READERS
)

# Anyone who sees a reason to stops what leaves.
SENDING_HOLD = StaffOperation(
    "sending.hold", "Put sending on hold: of an asset, a chain or everything", _FINANCE | _ADMIN
)

# Admin configures.
STORE_SETTINGS = StaffOperation(
    "store.change", "Change a store’s other settings, or make its reviews stricter", _ADMIN
)
TERMS = StaffOperation(
    "store.change_terms",
    "Change a store’s fees, tolerances, verification, reviews or rights of a platform",
    _ADMIN,
    TWO,
)
MEMBER_ROLE = StaffOperation(
    "member.change_role", "Change the role of a store’s member", _ADMIN, TWO
)
DISPATCH = StaffOperation(
    "store.change_dispatch", "Change a store’s settings of cards and agents", _ADMIN, TWO
)
DISPATCH_OFF = StaffOperation(
    "store.stop_dispatch", "Turn off a store’s cards or its agents’ dispatch", _ADMIN
)
SUSPENSION = StaffOperation(
    "store.suspend",
    "Suspend a store’s new payments, payouts or sign-ins, or end that",
    _FINANCE | _ADMIN,
    TWO,
)
CARD_NETWORK = StaffOperation(
    "card_network.change", "Change a card network’s keys and settings", _ADMIN, TWO
)
CARD_NETWORK_OFF = StaffOperation("card_network.stop", "Turn off a card network", _ADMIN)
PAYOUT_CAPS = StaffOperation("payout_cap.change", "Lower a store’s payout limits", _ADMIN)
PAYOUT_CAPS_RAISED = StaffOperation(
    "payout_cap.raise", "Raise or lift a store’s payout limits", _ADMIN, TWO
)
ASSETS = StaffOperation("asset.change", "Change assets, and how chains are shown", _ADMIN)
ADDITION = StaffOperation("asset.add", "Add a network or an asset", _ADMIN, TWO)
CONFIRMATIONS = StaffOperation(
    "chain.change_confirmations", "Change a network’s confirmations", _ADMIN, TWO
)
ACCOUNT = StaffOperation(
    "account.change", "Rename a person, deactivate or reactivate an account", _ADMIN
)
FACTOR = StaffOperation("second_factor.take_off", "Remove a lost second factor", _ADMIN, TWO)
ROLES = StaffOperation("staff.change_roles", "Assign the role finance or admin", _ADMIN, TWO)
ROLES_LESS = StaffOperation("staff.take_roles", "Assign the role support, or remove a role", _ADMIN)
KEY_REVOKE = StaffOperation("api_key.revoke", "Revoke an API key", _ADMIN)
JOB_RETRY = StaffOperation("job.retry", "Retry a job that gave up, or set it aside", _ADMIN)

TABLE: tuple[StaffOperation, ...] = tuple(
    row for row in list(globals().values()) if isinstance(row, StaffOperation)
)


def roles_of(person: StaffMember) -> frozenset[str]:
    """A superuser has them all; anyone who isn't active staff has none."""
    if not (person.is_active and person.is_staff):
        return frozenset()
    return ALL_ROLES if person.is_superuser else ALL_ROLES & frozenset(person.staff_roles)


def role_names(person: StaffMember) -> str:
    return ", ".join(StaffRole(role).label for role in sorted(roles_of(person)))


def may(person: StaffMember, operation: StaffOperation) -> bool:
    return not operation.roles.isdisjoint(roles_of(person))


def check(person: StaffMember, operation: StaffOperation) -> None:
    """Raises StaffForbidden."""
    if not may(person, operation):
        raise StaffForbidden
