"""Names and tones of the statuses of payouts, their approvals and batches."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "payout": {
        "pending": (WAIT, _("Pending")),
        "processing": (INFO, _("Processing")),
        "submitted": (INFO, _("Sent")),
        "confirmed": (GOOD, _("Confirmed")),
        "completed": (GOOD, _("Completed")),
        "failed": (BAD, _("Failed")),
        "retrying": (WAIT, _("Retrying")),
        "requires_review": (WAIT, _("Under review")),
        "awaiting_approval": (WAIT, _("Waiting for approval")),
    },
    "bank_account": {
        "pending": (WAIT, _("Pending verification")),
        "verified": (GOOD, _("Verified")),
        "rejected": (BAD, _("Rejected")),
        "removed": (QUIET, _("Removed")),
    },
    "payout_approval": {
        "waiting": (WAIT, _("Waiting for approval")),
        "approved": (GOOD, _("Approved")),
        "rejected": (BAD, _("Rejected")),
        "expired": (QUIET, _("Expired")),
    },
    "payout_batch": {
        "review": (WAIT, _("To review")),
        "released": (GOOD, _("Sent")),
        "discarded": (QUIET, _("Discarded")),
    },
    "payout_batch_line": {
        "valid": (INFO, _("Ready")),
        "invalid": (BAD, _("Can’t be paid")),
        "queued": (WAIT, _("Queued")),
        "created": (GOOD, _("Created")),
        "failed": (BAD, _("Failed")),
    },
}
