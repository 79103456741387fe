"""A platform acts for one of its sub-merchants: the same credential and mode, the sub-merchant's
store."""

from dataclasses import replace

from apps.access import operations
from apps.access.access import Access
from apps.core.db import tenancy
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import is_uuid
from apps.stores.models import Store

HEADER = "X-Service-Account"


class NotAPlatform(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "not_a_platform"
    message = "This store is not a platform"


class NotItsAccount(Failure):
    """An answer for unknown, deleted and other platforms' accounts."""

    kind = RefusalKind.FORBIDDEN
    code = "account_not_found"
    message = "Unknown sub-merchant account"


def act_for(access: Access, account_id: str) -> Access:
    """The access of the sub-merchant. Raises NotAPlatform, a missing scope, or NotItsAccount."""
    platform = access.store
    if not platform.is_platform:
        raise NotAPlatform
    operations.check(access, operations.ACT_FOR)
    accounts = Store.objects.filter(platform=platform, deleted_at=None)
    account = accounts.filter(pk=account_id).first() if is_uuid(account_id) else None
    if account is None:
        raise NotItsAccount
    tenancy.narrow(account, platform, modes=[access.mode])
    return replace(access, store=account, platform=platform)
