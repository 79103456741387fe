"""THE table of what takes two members of staff and is decided among the staff requests. Withdrawals
of earnings have their own record."""

from apps.access.factors.lost_factor import FACTOR
from apps.access.members.roles import MEMBER_ROLE
from apps.assets.confirmations import CONFIRMATIONS
from apps.chain.requested_additions import ASSET, NETWORK
from apps.chain.sending.holds import LIFT
from apps.onramp.services.credentials import CARD_NETWORK
from apps.payments.services.corrections import CORRECTION
from apps.payouts.services.limits import PAYOUT_LIMITS
from apps.payouts.services.review import RELEASE
from apps.stores.staff.dispatch import DISPATCH
from apps.stores.staff.four_eyes import RequestKind
from apps.stores.staff.staffing import ROLES
from apps.stores.staff.suspensions import SUSPENSION
from apps.stores.staff.terms import TERMS

KINDS: dict[str, RequestKind] = {
    kind.name: kind
    for kind in (
        RELEASE,
        CORRECTION,
        FACTOR,
        CARD_NETWORK,
        DISPATCH,
        TERMS,
        PAYOUT_LIMITS,
        MEMBER_ROLE,
        CONFIRMATIONS,
        NETWORK,
        ASSET,
        ROLES,
        LIFT,
        SUSPENSION,
    )
}
