"""The examples of the reference are what the API really takes and answers; WRITE_EXAMPLES=1 writes
them anew."""

import os
import re
from collections.abc import Callable
from typing import Any

import pytest

from apps.access.scopes import ALL
from apps.api import test_clock
from apps.api.urls import ROUTES
from apps.docs.reference import groups
from apps.onramp.models import Credential
from tests import make
from tests.agents.conftest import Market, ground, market, place
from tests.cast import Cast, Shop
from tests.contract.test_test_wallet import funded_test_wallet
from tests.docs import link_stories, stories
from tests.docs.recorder import Recorder, kept, shape, write
from tests.onramp import network
from tests.onramp.cards import opened
from tests.onramp.conftest import shop
from tests.onramp.network import Stand
from tests.onramp.test_hostile import METHOD, secret, stand
from tests.payouts.test_offramps import signed, through_http

__all__ = [
    "funded_test_wallet",
    "ground",
    "market",
    "place",
    "secret",
    "shop",
    "stand",
    "through_http",
]
_PARAMETER = re.compile(r"<\w+:(\w+)>")
# What other services call here, which no integrator does.
HIDDEN = {"POST /offramp_callbacks", "POST /onramp_callbacks/{id}"}
BESIDE = re.compile(r" \d+$")  # another success than the usual one, with its status
STORIES: dict[str, Callable[[Recorder, Cast], None]] = {
    "payments": lambda tell, cast: stories.payments(tell, cast.bakery),
    "links": lambda tell, cast: link_stories.links(tell, cast.bakery),
    "reports": lambda tell, cast: stories.reports(tell, cast.bakery),
    "swaps": lambda tell, cast: stories.swaps(tell, cast.bakery),
    "payouts": lambda tell, cast: stories.payouts(tell, cast.bakery),
    "webhooks": lambda tell, cast: stories.webhooks(tell, cast.bakery),
    "cards": lambda tell, cast: stories.cards(tell, cast.bakery),
    "billing": lambda tell, cast: stories.billing(tell, cast.bakery),
    "taxes": lambda tell, cast: stories.taxes(tell, cast.bakery),
    "platforms": lambda tell, cast: stories.platforms(
        tell, cast.bakery, cast.bakery.with_scopes(*ALL)
    ),
    "agents": lambda tell, cast: stories.agents(tell, cast.bakery),
    "people": stories.people,
}


def compare(tell: Recorder) -> None:
    """Each call as it is written down: the same body, the same status, an answer of the same
    shape."""
    if os.environ.get("WRITE_EXAMPLES"):
        write(tell.told)
    written = kept()
    for operation, now in tell.told.items():
        then: dict[str, Any] = written[operation]
        for name in ("request", "status", "type", "response"):
            assert shape(then[name]) == shape(now[name]), (
                operation,
                name,
                "WRITE_EXAMPLES=1 writes it anew",
            )
        assert then["status"] == now["status"], operation


@pytest.mark.parametrize("name", STORIES)
def test_an_example_is_what_the_api_takes_and_answers(cast: Cast, name: str) -> None:
    tell = Recorder()
    STORIES[name](tell, cast)
    compare(tell)


@pytest.mark.chain
def test_the_examples_of_x402_are_what_the_api_takes_and_answers(market: Market) -> None:
    tell = Recorder()
    stories.x402(tell, market)
    compare(tell)


@pytest.mark.chain
def test_the_example_of_the_test_wallet_is_what_the_api_takes_and_answers(
    cast: Cast, funded_test_wallet: None
) -> None:
    tell = Recorder()
    stories.wallet(tell, cast.bakery)
    compare(tell)


def test_the_example_of_a_clock_under_way_is_what_the_api_answers(
    cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.WORK_INLINE = False
    monkeypatch.setattr(test_clock, "WAIT_SECONDS", 0.0)
    tell = Recorder()
    stories.clock_under_way(tell, cast.bakery)
    compare(tell)


def test_the_example_of_an_offramps_callback_is_what_the_api_takes_and_answers(
    db: None, through_http: None
) -> None:
    tell = Recorder()
    stories.callbacks_of_offramps(tell, signed)
    compare(tell)


def test_the_example_of_an_onramps_callback_is_what_the_api_takes_and_answers(
    shop: Shop, stand: Stand, secret: Credential
) -> None:
    session = opened(make.payment(shop.test, amount="50.00"), METHOD)
    raw, mark = network.signed(stand.told(session["provider_txid"], status="paid"))
    tell = Recorder()
    stories.callbacks_of_onramps(tell, str(secret.pk), raw, mark)
    compare(tell)


def test_every_operation_has_an_example_and_no_example_is_of_none() -> None:
    every = {
        f"{method} /" + _PARAMETER.sub(r"{\1}", route.path)
        for route in ROUTES
        for method in route.scopes
    }
    assert every == {operation for operation in kept() if not BESIDE.search(operation)}
    assert every - HIDDEN == {
        f"{operation.method} {operation.path}"
        for group in groups()
        for operation in group.operations
    }
