"""A merchant writes a handler against test deliveries: what they carry has the shape, and the
words, of what really happens."""

import json
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from msgspec import to_builtins

from apps.api.description import _document
from apps.api.plumbing.events import envelope
from apps.platforms.services.verifications import approve_verification
from apps.stores.models import Verification
from apps.webhooks.catalogue import EVENTS
from apps.webhooks.models import Event
from apps.webhooks.samples import sample
from tests import make
from tests.billing import records
from tests.cast import Cast, Shop
from tests.described import closed
from tests.platforms.conftest import platform_of

pytestmark = pytest.mark.django_db


def check(event_type: str, object: Any) -> None:
    """Raises ValidationError for a field too many or too few, and for a word that isn't among a
    field's few."""
    Draft202012Validator(closed(envelope(event_type)["properties"]["data"])).validate(
        {"object": object}
    )


def kinds(value: Any) -> Any:
    """The names of all fields, however deep; of a list, those of its items."""
    if isinstance(value, dict):
        return {name: kinds(item) for name, item in value.items() if name != "metadata"}
    return kinds(value[0]) if isinstance(value, list) and value else None


@pytest.mark.parametrize("event_type", EVENTS)
def test_a_sample_has_the_described_shape(event_type: str) -> None:
    check(event_type, to_builtins(sample(event_type)))


def is_told_as_its_sample(events: Any) -> None:
    assert events
    for event in events:
        check(event.type, event.object)
        assert kinds(event.object) == kinds(to_builtins(sample(event.type))), event.type


def test_events_of_payments_are_told_as_their_samples(bakery: Shop) -> None:
    make.simulated(bakery.test, make.payment(bakery.test)["id"], "unconfirmed", reference="a")
    make.paid(bakery.test)
    is_told_as_its_sample(Event.objects.visible_to(bakery.access()))


def test_events_of_billing_are_told_as_their_samples(cast: Cast) -> None:
    shop = cast.bakery
    made = records.subscribe(shop.test)
    records.pay(shop.test, records.invoices_of(shop.test, made["id"])[0])
    records.ok(records.act(shop.test, records.opened(shop.test)["id"], "void"))
    events = Event.objects.visible_to(shop.access()).filter(
        type__regex="^(invoice|subscription)[.]"
    )
    is_told_as_its_sample(events)
    assert {
        event.object["interval"] for event in events if event.type == "subscription.created"
    } == {"monthly"}


def test_events_of_stores_are_told_as_their_samples(cast: Cast) -> None:
    platform = platform_of(cast.bakery)
    merchant = platform.sub(kyc=False)
    approve_verification(Verification.objects.get(pk=platform.attest(merchant.id).json()["id"]))
    assert platform.test.delete(f"/platform/accounts/{merchant.id}").status_code == 204
    events = Event.objects.filter(type__startswith="store.")
    is_told_as_its_sample(events)
    assert {event.type for event in events} == {"store.verification.approved", "store.deleted"}


def test_the_description_says_what_each_event_means() -> None:
    webhooks = json.loads(_document())["webhooks"]
    assert {name: webhook["post"]["summary"] for name, webhook in webhooks.items()} == EVENTS
    assert len(set(EVENTS.values())) == len(EVENTS) == 26
