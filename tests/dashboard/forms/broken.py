"""A form with something wrong, and the world in which it is sent."""

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core import mail as django_mail

from apps.access.access import Access
from apps.access.authorization import apps as oauth_apps
from apps.access.person import recovery
from apps.access.requests import AppRequest
from apps.access.services import create_agent_credential
from apps.assets.models import Asset
from apps.core import mail
from apps.payouts.requests import ScheduleRequest
from apps.payouts.services.destinations import add_wallet
from apps.payouts.services.schedules import create_schedule
from tests import make
from tests.cast import PASSWORD, Cast, assemble
from tests.dashboard.browse import Browser
from tests.payouts.two_people import MUCH, held_of, two_people
from tests.platforms.conftest import platform_of

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


Fields = Mapping[str, Any]


EVENTS = ["payment_intent.completed"]


@dataclass
class World:
    """Alice with her app and a fresh code, and a store that has something of everything."""

    cast: Cast
    alice: Browser

    @classmethod
    def begun(cls) -> "World":
        cast = assemble()
        assert cast.bakery.test and cast.bob, "made once for all forms"
        Asset.objects.filter(pk="USDC_SETH").update(
            contract_address="0x" + "01" * 20, is_active=True
        )
        make.store_coins(cast.bakery.store, "SETH", 10**18)
        return cls(cast, Browser(cast.alice).prove())

    def again(self) -> "World":
        return World(self.cast.again(), self.alice.again())

    @property
    def api(self) -> Any:
        return self.cast.bakery.test

    @property
    def access(self) -> Access:
        return self.cast.bakery.owner_access("test")

    def destination(self) -> str:
        return f"wallet:{add_wallet(self.cast.bakery.store, 'test', 'sepolia', WALLET).pk}"

    def schedule(self) -> str:
        self.destination()
        asked = ScheduleRequest(asset_id="SETH", frequency="weekly", destination_address=WALLET)
        return f"payouts/schedules/{create_schedule(self.access, asked).pk}/change"

    def held(self) -> str:
        two = two_people(self.cast)
        return f"approvals/{held_of(make.payout(two.key, MUCH)['id']).pk}/reject"

    def app(self) -> str:
        shop = self.cast.bakery
        asked = AppRequest(
            name="App", redirect_uris=["https://a.example"], scopes=["payments:read"]
        )
        return f"apps/own/{oauth_apps.create_app(shop.store, self.cast.alice, asked)[0].pk}"

    def agent(self) -> str:
        agent = create_agent_credential(self.cast.bakery.store, "test", name="Bot")[0]
        return f"agents/{agent.pk}/caps"

    def endpoint(self) -> str:
        return f"{self._endpoint()}/resend"

    def endpoint_edit(self) -> str:
        return f"{self._endpoint()}/edit"

    def _endpoint(self) -> str:
        made = self.api.post(
            "/webhook_endpoints",
            {"webhook_endpoint": {"url": "https://1.1.1.1/", "subscribed_events": EVENTS}},
        )
        return f"webhooks/{made.json()['id']}"

    def invitation(self) -> str:
        fields = {"email": "dora@example.com", "role": "developer"}
        self.alice.confirm(self.alice.post("team/invite", **fields), "team/invite", **fields)
        return _link("dora@example.com", "join")

    def reset(self) -> str:
        recovery.ask(self.cast.alice.email, "203.0.113.9")
        return _link(self.cast.alice.email, "reset")

    def transfer(self) -> str:
        return f"transfers/{make.stray_transfer(make.payment(self.api)['id'])}/accept"

    def account(self, page: str = "") -> str:
        return f"platform/accounts/{platform_of(self.cast.bakery).sub(kyc=False).id}{page}"

    def platform(self) -> str:
        platform_of(self.cast.bakery)
        return "platform/accounts/new"


def _link(to: str, page: str) -> str:
    mail.send_due()
    message = [message for message in django_mail.outbox if message.to == [to]][-1]
    found = re.search(rf"/dashboard/{page}/\S+", str(message.body))
    assert found is not None
    return found.group()


def behind_code(path: str) -> Callable[[World], str]:
    """A page that asks for its code first."""

    def opened(world: World) -> str:
        world.alice.confirm(world.alice.get(path), path)
        return path

    return opened


def at(path: str) -> Callable[[World], str]:
    return lambda world: path


def visitor(world: World) -> Browser:
    return Browser()


def half_signed_in(world: World) -> Browser:
    browser = Browser()
    browser.post("sign-in", email=world.cast.alice.email, password=PASSWORD)
    return browser


def without_app(world: World) -> Browser:
    return Browser(world.cast.bob)


@dataclass(frozen=True)
class Broken:
    """A form with something wrong: where it is sent to, with what, and at which input it is
    said."""

    page: str
    path: Callable[[World], object]  # its text, after what was made on the way
    fields: Fields | Callable[[World], Fields]
    name: str
    sentence: str
    status: int = 422
    who: Callable[[World], Browser] = lambda world: world.alice
    is_get: bool = False

    def sent(self, world: World) -> Any:
        path = str(self.path(world))
        fields = self.fields(world) if callable(self.fields) else self.fields
        browser = self.who(world)
        if self.is_get:
            return browser.get(path, data=fields)
        return browser.post(path, **{"form_key": uuid.uuid4().hex, **fields})
