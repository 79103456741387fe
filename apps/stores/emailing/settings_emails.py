"""The emails to a store's owners when staff have changed a setting that decides about its money."""

from django.utils.translation import gettext_noop

from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.stores.emailing import account_emails
from apps.stores.emailing.account_emails import StaffDecision
from apps.stores.models import Store
from apps.stores.notices import kinds as notification_kinds


def tell(store: Store, key: str, lines: list[tuple[str, str, str]]) -> None:
    """By email and in the dashboard, once per key. Each line is (what, before, after)."""
    text = "; ".join(f"{name}: {after}, instead of {before}" for name, before, after in lines)
    account_emails.tell_decision(
        store,
        Mode.LIVE,
        key,
        StaffDecision(
            gettext_noop("Our staff changed your store’s settings"),
            Worded("{effect} If you didn’t expect this, contact us.", effect=f"{text}."),
            "/dashboard/audit-log",
            gettext_noop("Open the audit log"),
        ),
        kind=notification_kinds.STAFF_CHANGE,
    )
