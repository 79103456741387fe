"""THE table of what a store's people can hear of: what each kind says, who begins with its emails,
and whether it is in the dashboard."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from apps.stores import roles

IMMEDIATELY = "immediately"
DAILY = "daily"
OFF = "off"
CHOICES = {
    IMMEDIATELY: gettext_noop("Immediately"),
    DAILY: gettext_noop("Daily summary"),
    OFF: gettext_noop("Off"),
}


@dataclass(frozen=True)
class NotificationKind:
    """`default` is for whom the permission allows; everybody else begins with none. What `always`
    names is emailed whatever people choose. In the dashboard everybody sees a kind that `is_shown`
    until they choose otherwise, and others once they choose them or their emails."""

    label: str
    says: str
    default: str = IMMEDIATELY
    choices: tuple[str, ...] = (IMMEDIATELY, OFF)
    permission: str = roles.MOVE_MONEY
    always: str = ""
    is_shown: bool = True


_OWNERS = gettext_noop("Owners are always emailed.")
PAYMENT_COMPLETED = "payment_completed"
PAYMENT_ATTENTION = "payment_attention"
UNMATCHED_TRANSFER = "unmatched_transfer"
ASSET_STOPPED = "asset_stopped"
PAYOUT_CONFIRMED = "payout_confirmed"
PAYOUT_PROBLEM = "payout_problem"
PAYOUT_APPROVAL = "payout_approval"
REFUND_FAILED = "refund_failed"
SPENDING_PROBLEM = "spending_problem"
INVOICE_PAID = "invoice_paid"
SUBSCRIPTION_PAST_DUE = "subscription_past_due"
ENDPOINT_OFF = "endpoint_off"
VERIFICATION = "verification"
STAFF_CHANGE = "staff_change"
PLATFORM_FEE = "platform_fee"
KINDS: Mapping[str, NotificationKind] = {
    PAYMENT_COMPLETED: NotificationKind(
        gettext_noop("Payments completed"),
        gettext_noop("The number of payments and their total."),
        default=DAILY,
        choices=(IMMEDIATELY, DAILY, OFF),
        is_shown=False,
    ),
    PAYMENT_ATTENTION: NotificationKind(
        gettext_noop("Payments that need attention"),
        gettext_noop("Underpaid, overpaid or late, or a card payment to refund."),
    ),
    UNMATCHED_TRANSFER: NotificationKind(
        gettext_noop("Unexpected coins"),
        gettext_noop(
            "A customer sent a coin to an address meant for another coin, or its return failed or"
            " needs our review."
        ),
    ),
    ASSET_STOPPED: NotificationKind(
        gettext_noop("Coins stopped for review"),
        gettext_noop(
            "A deposit disappeared from its network. Payments in its coin wait for our review."
        ),
    ),
    PAYOUT_CONFIRMED: NotificationKind(
        gettext_noop("Payouts confirmed"),
        gettext_noop("A payout has arrived at its destination."),
        default=OFF,
    ),
    PAYOUT_PROBLEM: NotificationKind(
        gettext_noop("Payouts that fail or need review"),
        gettext_noop("A payout failed or needs our review before it’s sent."),
    ),
    PAYOUT_APPROVAL: NotificationKind(
        gettext_noop("Payouts that wait for approval"),
        gettext_noop("Another owner or admin decides."),
        always=gettext_noop("Everybody who can approve is always emailed."),
    ),
    REFUND_FAILED: NotificationKind(
        gettext_noop("Refunds that fail or need review"),
        gettext_noop(
            "A refund failed and its coins are back in your balance, or it needs our review."
        ),
    ),
    SPENDING_PROBLEM: NotificationKind(
        gettext_noop("Swaps and agent draws that fail or need review"),
        gettext_noop("One failed and its coins are back in your balance, or it needs our review."),
    ),
    INVOICE_PAID: NotificationKind(
        gettext_noop("Invoices paid"),
        gettext_noop("A customer has paid an invoice in full."),
        default=OFF,
    ),
    SUBSCRIPTION_PAST_DUE: NotificationKind(
        gettext_noop("Subscriptions past due"), gettext_noop("A customer hasn’t paid in time.")
    ),
    ENDPOINT_OFF: NotificationKind(
        gettext_noop("Webhook endpoints disabled"),
        gettext_noop("We turn an endpoint off after days of failures."),
        always=_OWNERS,
    ),
    VERIFICATION: NotificationKind(
        gettext_noop("Reviews"),
        gettext_noop("The outcome of a review of your business, bank account or coins."),
        always=_OWNERS,
    ),
    PLATFORM_FEE: NotificationKind(
        gettext_noop("Platform fee"),
        gettext_noop("Your platform raises its fee."),
        permission=roles.VIEW,
        always=gettext_noop("Everybody in the team is always emailed."),
    ),
    STAFF_CHANGE: NotificationKind(
        gettext_noop("Changes by our staff"),
        gettext_noop("Our staff changed a fee, a review or the role of a team member."),
        permission=roles.OWN,
        always=_OWNERS,
    ),
}
