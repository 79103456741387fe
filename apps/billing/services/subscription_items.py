"""The prices of a subscription. The first is the anchor and stands on the subscription itself; the others are add-ons with ids.

What is read can be sent back: an item names its price by `price_id` or as an object, and add-ons that stay keep their ids.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from apps.access.access import Access
from apps.billing.models import Price, Subscription, SubscriptionItem
from apps.billing.services.fields import ITEMS_MAX
from apps.billing.services.named import named_price
from apps.billing.services.totals import totals_of
from apps.core.errors import Listed


@dataclass(frozen=True)
class Line:
    """One price with its quantity; `item_id` is the add-on that it goes on with."""

    price: Price
    quantity: int
    item_id: uuid.UUID | None = None


def wanted_lines(access: Access, fields: dict[str, Any]) -> list[Line]:
    """The lines of a new subscription: `items`, or else `price_id` with `quantity`. Raises Listed or a price's refusal."""
    items = fields["items"]
    if items is None:
        if fields["price_id"] is None:
            raise Listed("price_id is required")
        items = [{"price_id": fields["price_id"]}]
    return _checked([Line(named_price(access, _price_id(one)), _quantity(one, n, fields)) for n, one in enumerate(_some(items))])


def _some(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not items:
        raise Listed("items can't be empty")
    return items


def _quantity(item: dict[str, Any], position: int, fields: dict[str, Any]) -> int:
    """`quantity` beside the items is the anchor's."""
    given: int | None = item.get("quantity") or (fields.get("quantity") if position == 0 else None)
    return given or 1


def _price_id(item: dict[str, Any]) -> str:
    named = item.get("price_id") or (item.get("price") or {}).get("id")
    if not named:
        raise Listed("items price_id is required")
    return str(named)


def _checked(lines: list[Line]) -> list[Line]:
    if len({one.price.cycle for one in lines}) > 1:
        raise Listed("items must all have the same interval, interval_count and currency")
    if len({one.price.pk for one in lines}) < len(lines):
        raise Listed("items name a price more than once")
    totals_of([(one.quantity, one.price.unit_amount_cents) for one in lines], lines[0].price.currency, None, None, None)
    return lines


def changed_lines(access: Access, row: Subscription, fields: dict[str, Any]) -> list[Line] | None:
    """The lines that an update asks for, None when they are what they were. Raises Listed or a price's refusal."""
    add_ons = list(row.add_ons.all())
    now = [Line(row.price, row.quantity), *(Line(one.price, one.quantity, one.pk) for one in add_ons)]
    if fields.get("items") is not None:
        wanted = _replaced(access, now, fields)
    else:
        anchor = now[0]
        price = _priced(access, now, fields["price_id"]) if fields.get("price_id") else anchor.price
        wanted = [Line(price, fields.get("quantity") or anchor.quantity), *now[1:]]
    return None if _checked(wanted) == now else wanted


def _replaced(access: Access, now: list[Line], fields: dict[str, Any]) -> list[Line]:
    """The whole set, add-ons of the same price going on under their ids."""
    ids = {one.price.pk: one.item_id for one in now[1:]}
    lines = []
    for position, item in enumerate(_some(fields["items"])):
        price = _priced(access, now, _price_id(item))
        lines.append(Line(price, _quantity(item, position, fields), ids.get(price.pk) if position else None))
    return lines


def _priced(access: Access, now: list[Line], id: str) -> Price:
    """A price that the subscription is on may have been archived since."""
    return named_price(access, id, is_in_use=id.lower() in {str(one.price.pk) for one in now})


def put_lines(row: Subscription, lines: list[Line]) -> None:
    """Write the add-ons; the anchor is the subscription's own."""
    kept = [one.item_id for one in lines[1:] if one.item_id is not None]
    SubscriptionItem.objects.filter(subscription=row).exclude(pk__in=kept).delete()
    for position, one in enumerate(lines[1 : ITEMS_MAX + 1], start=1):
        SubscriptionItem.objects.update_or_create(
            pk=one.item_id or uuid.uuid4(),
            defaults={"subscription": row, "price": one.price, "quantity": one.quantity, "position": position},
        )
