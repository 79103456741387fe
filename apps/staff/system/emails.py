"""Emails for staff: which left and which was given up, never their text."""

from typing import ClassVar

from django.contrib import admin

from apps.core.models import OutgoingMail
from apps.staff import lists
from apps.staff.pages import ReadOnly

EMAIL_NAMES = {
    "account_changed": "Account change notice",
    "credit_note": "Credit note",
    "credentials_shrunk": "Reduced API access",
    "daily_summary": "Payments summary",
    "destination_named": "New payout destination",
    "email_change": "Email address confirmation",
    "invitation": "Team invitation",
    "invoice_due_soon": "Invoice reminder",
    "invoice_open": "New invoice",
    "invoice_overdue": "Overdue invoice",
    "invoice_receipt": "Invoice receipt",
    "member_removed": "Removal from a team",
    "new_sign_in": "New sign-in alert",
    "notification": "Notification",
    "operation": "Notice of a sensitive change",
    "password_reset": "Password reset",
    "payment_receipt": "Payment receipt",
    "payout_approval": "Payout to approve",
    "payout_approval_decided": "Decision on a payout",
    "platform_fee_raised": "Raised platform fee",
    "portal_link": "Customer portal link",
    "refund_address": "Request for a refund address",
    "review_outcome": "Outcome of a review",
    "sign_up_code": "Sign-up code",
    "sign_up_invitation": "Sign-up invitation",
    "sign_up_known": "Sign-up with an existing account",
    "staff_request": "Staff request",
    "subscription_canceled": "Canceled subscription",
    "subscription_past_due": "Past due subscription",
    "subscription_recovered": "Recovered subscription",
    "webhook_endpoint_off": "Disabled webhook endpoint",
}


def email_name(template: str) -> str:
    """As it is where an earlier release sent it."""
    return EMAIL_NAMES.get(template, template.replace("_", " ").capitalize())


class OutgoingMailAdmin(ReadOnly):
    model = OutgoingMail
    names = ("email", "emails")
    listed_as = "Outgoing email"
    noun = "mail"
    labels: ClassVar = {
        "in_name_of": "On behalf of",
        "reply_to": "Reply-to",
        "template": "Type",
    }
    list_display = ("created", "email", "recipient", "error", "sent_time", "state")
    list_filter = ("status",)
    search_fields = ("id", "mailbox", "key")
    search_help_text = "Recipient’s email address"
    ordering = ("-created_at",)
    created = lists.when("created_at", "Created")
    recipient = lists.text("to", "To")
    sent_time = lists.when("sent_at", "Sent")
    exclude = ("sealed_letter", "key")
    value_texts: ClassVar = {"template": lambda row: email_name(row.template)}

    @admin.display(description="Type")
    def email(self, row: OutgoingMail) -> str:
        return email_name(row.template)

    def title_of(self, row: OutgoingMail) -> str:
        return f"to {row.to}"
