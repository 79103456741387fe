"""People, their stores, and what each person may do in a store."""

from apps.stores.models.counts import CountedMerchant, MerchantCount
from apps.stores.models.mail import TestLetter
from apps.stores.models.notifications import Notification, NotificationChoice
from apps.stores.models.settings import StoreSettings
from apps.stores.models.staff import StaffRequest, WorkerOrder
from apps.stores.models.stores import (
    AuditEntry,
    AuditSeal,
    Currency,
    Invitation,
    Member,
    Role,
    Store,
    User,
    UserManager,
    Verification,
    WayOfSelling,
)
from apps.stores.models.verification import VerificationDocument

__all__ = [
    "AuditEntry",
    "AuditSeal",
    "CountedMerchant",
    "Currency",
    "Invitation",
    "Member",
    "MerchantCount",
    "Notification",
    "NotificationChoice",
    "Role",
    "StaffRequest",
    "Store",
    "StoreSettings",
    "TestLetter",
    "User",
    "UserManager",
    "Verification",
    "VerificationDocument",
    "WayOfSelling",
    "WorkerOrder",
]
