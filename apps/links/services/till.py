"""Settings of a store's till: currency, tips, VAT rates, names of devices, and items."""

from django.db import transaction

from apps.access.access import Access
from apps.core.errors import Failure
from apps.links.models import Till, TillItem
from apps.links.till_requests import ItemRequest, TillRequest
from apps.links.till_selectors import ITEMS_MAX, items_of
from apps.stores.auditing import audit
from apps.stores.models import Store


class TooManyItems(Failure):
    message = f"A till has at most {ITEMS_MAX} items"


@transaction.atomic
def change_till(access: Access, request: TillRequest) -> Till:
    """Raises Invalid."""
    request.check()
    fields = {
        "currency": request.currency,
        "tip_bps": sorted(set(request.tip_bps)),
        "vat_bps": list(dict.fromkeys(request.vat_bps)),
        "names": list(dict.fromkeys(request.names)),
        "updated_at": access.now(),
    }
    till, _ = Till.objects.update_or_create(store=access.store, defaults=fields)
    audit.record(
        "till.changed",
        store=access.store_id,
        mode=access.mode,
        target=till,
        details={name: fields[name] for name in ("tip_bps", "vat_bps", "names")},
    )
    return till


@transaction.atomic
def add_item(access: Access, request: ItemRequest) -> TillItem:
    """Raises Invalid or TooManyItems."""
    request.check()
    Store.objects.select_for_update().get(pk=access.store_id)
    if items_of(access.store).count() >= ITEMS_MAX:
        raise TooManyItems
    at = access.now()
    return TillItem.objects.create(
        store=access.store, created_at=at, updated_at=at, **_columns(request)
    )


def change_item(access: Access, item: TillItem, request: ItemRequest) -> TillItem:
    """Sales that were made keep what they were made of. Raises Invalid."""
    request.check()
    for name, value in _columns(request).items():
        setattr(item, name, value)
    item.updated_at = access.now()
    item.save(update_fields=[*_columns(request), "updated_at"])
    return item


def remove_item(access: Access, item: TillItem) -> None:
    """It isn't sold any more."""
    at = access.now()
    TillItem.objects.filter(pk=item.pk, removed_at=None).update(removed_at=at, updated_at=at)


def _columns(request: ItemRequest) -> dict[str, object]:
    return {
        "name": request.name,
        "price_cents": request.price_cents,
        "currency": request.currency,
        "vat_bps": request.vat_bps,
    }
