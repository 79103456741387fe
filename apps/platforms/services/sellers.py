"""The seller that a sub-merchant's invoices name, as its platform says it."""

from django.db import transaction

from apps.access.access import Access
from apps.core.messages.fields import Invalid
from apps.core.text.vat_numbers import vat_number
from apps.platforms.requests import SellerChanges
from apps.platforms.selectors import find_account
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.stores.profile import zone_names


@transaction.atomic
def change_seller(access: Access, account_id: str, changes: SellerChanges) -> Store:
    """Invoices that are finalized from now on say so. Raises AccountNotFound, or
    Invalid for an unknown zone and for a VAT number that the country doesn't give."""
    found = find_account(access, account_id)
    account: Store = Store.objects.select_for_update(no_key=True).get(pk=found.pk)
    fields = changes.sent()
    zone = fields.get("time_zone")
    if zone and zone not in zone_names():
        raise Invalid("time_zone", "inclusion")
    number = fields.get("vat_number", account.vat_number)
    if number and {"vat_number", "country"} & set(fields):
        fields["vat_number"] = vat_number(str(number), str(fields.get("country", account.country)))
    details = audit.changes(account, fields)
    if details:
        for name, value in fields.items():
            setattr(account, name, value)
        account.save(update_fields=list(fields))
        audit.record(
            "account.seller_changed",
            store=access.store,
            target=account,
            name=account.name,
            details=details,
        )
    return account
