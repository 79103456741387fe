"""The prices of a subscription. The first is the anchor and is on the subscription itself; the
others are add-ons with ids.

What is read can be sent back: an item names its price by `price_id` or as an object, and add-ons
that stay keep their ids.
"""

import uuid
from dataclasses import dataclass

from msgspec import UNSET

from apps.access.access import Access
from apps.billing.models import Price, Subscription, SubscriptionItem
from apps.billing.requests import ITEMS_MAX, ItemRequest, SubscriptionChanges, SubscriptionRequest
from apps.billing.services.references import named_price
from apps.billing.taxes.counting import PricedLine, count
from apps.core.ids import new_id
from apps.core.messages.fields import Invalid


@dataclass(frozen=True)
class SubscriptionLine:
    """A price with its quantity; `item_id` is the add-on that it goes on with."""

    price: Price
    quantity: int
    item_id: uuid.UUID | None = None


def requested_lines(access: Access, request: SubscriptionRequest) -> list[SubscriptionLine]:
    """The lines of a new subscription. Raises Invalid or a price's refusal."""
    items = request.items
    if items is None:
        if request.price_id is None:
            raise Invalid("price_id", "required")
        items = [ItemRequest(price_id=request.price_id)]
    lines = []
    for position, item in enumerate(_some(items)):
        price = named_price(access, _price_id(item))
        lines.append(SubscriptionLine(price, _quantity(item, position, request.quantity)))
    return _checked(lines)


def _some(items: list[ItemRequest]) -> list[ItemRequest]:
    if not items:
        raise Invalid("items", "no_items")
    return items


def _quantity(item: ItemRequest, position: int, beside: int | None) -> int:
    """`quantity` beside the items is the anchor's."""
    return item.quantity or (beside if position == 0 else None) or 1


def _price_id(item: ItemRequest) -> str:
    price_id = item.price_id or (item.price.id if item.price is not None else None)
    if not price_id:
        raise Invalid("items", "item_price")
    return price_id


def _checked(lines: list[SubscriptionLine]) -> list[SubscriptionLine]:
    if len({line.price.cycle for line in lines}) > 1:
        raise Invalid("items", "one_cycle")
    if len({line.price.pk for line in lines}) < len(lines):
        raise Invalid("items", "price_once")
    count(
        [PricedLine(line.quantity, line.price.unit_amount_cents) for line in lines],
        lines[0].price.currency,
    )
    return lines


def current_lines(row: Subscription) -> list[SubscriptionLine]:
    """The anchor and the add-ons in their order."""
    add_ons = row.add_ons.all()
    return [
        SubscriptionLine(row.price, row.quantity),
        *(SubscriptionLine(item.price, item.quantity, item.pk) for item in add_ons),
    ]


def changed_lines(
    access: Access, row: Subscription, request: SubscriptionChanges
) -> list[SubscriptionLine] | None:
    """The lines that an update asks for, None when they are what they were. Raises Invalid or a
    price's refusal."""
    now = current_lines(row)
    quantity = request.quantity or None
    if request.items is not UNSET and request.items is not None:
        new = _replaced(access, now, request.items, quantity)
    else:
        anchor = now[0]
        price = _priced(access, now, request.price_id) if request.price_id else anchor.price
        new = [SubscriptionLine(price, quantity or anchor.quantity), *now[1:]]
    return None if _checked(new) == now else new


def _replaced(
    access: Access, now: list[SubscriptionLine], items: list[ItemRequest], quantity: int | None
) -> list[SubscriptionLine]:
    """The whole set, add-ons of the same price going on under their ids."""
    ids = {line.price.pk: line.item_id for line in now[1:]}
    lines = []
    for position, item in enumerate(_some(items)):
        price = _priced(access, now, _price_id(item))
        lines.append(
            SubscriptionLine(
                price, _quantity(item, position, quantity), ids.get(price.pk) if position else None
            )
        )
    return lines


def _priced(access: Access, now: list[SubscriptionLine], id: str) -> Price:
    """A price that the subscription is on may have been archived since."""
    return named_price(access, id, is_in_use=id.lower() in {str(line.price.pk) for line in now})


def put_lines(row: Subscription, lines: list[SubscriptionLine]) -> None:
    """Write the add-ons; the anchor is the subscription's own."""
    item_ids = [line.item_id for line in lines[1:] if line.item_id is not None]
    SubscriptionItem.objects.filter(subscription=row).exclude(pk__in=item_ids).delete()
    for position, line in enumerate(lines[1 : ITEMS_MAX + 1], start=1):
        SubscriptionItem.objects.update_or_create(
            pk=line.item_id or new_id(),
            defaults={
                "subscription": row,
                "price": line.price,
                "quantity": line.quantity,
                "position": position,
            },
        )
