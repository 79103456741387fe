"""Billing events carry the full object in its described shape, and platforms don't hear of them."""

from decimal import Decimal

from jsonschema_rs import Draft202012Validator

from apps.api.plumbing.events import envelope
from apps.core import clock
from apps.stores.services import change_store
from apps.webhooks.catalogue import SUBSCRIBABLE
from apps.webhooks.models import Event
from tests import make
from tests.billing import records as r
from tests.cast import Cast
from tests.described import closed


def test_every_billing_event_is_recorded_in_the_described_shape_for_the_store_alone(
    cast: Cast,
) -> None:
    shop = cast.bakery
    change_store(
        shop.store,
        platform_id=cast.strangers.store.pk,
        platform_fee_fraction=Decimal("0.02"),
        kyc_confirmed_at=clock.real_now(),
    )
    made = r.subscribe(shop.test)
    r.ok(r.change(shop.test, made["id"], "pause"))
    r.ok(r.change(shop.test, made["id"], "resume"))
    r.pay(shop.test, r.invoices_of(shop.test, made["id"])[0])
    r.ok(r.act(shop.test, r.opened(shop.test)["id"], "void"))
    make.advance(shop.test, 40 * r.DAY)
    events = Event.objects.filter(type__regex="^(invoice|subscription)[.]")
    for event in events:
        Draft202012Validator(closed(envelope(event.type)["properties"]["data"])).validate(
            {"object": event.object}
        )
    assert {event.type for event in events} == {
        item for item in SUBSCRIBABLE if item.startswith(("invoice.", "subscription."))
    }
    assert {event.store_id for event in events} == {shop.store.pk}
