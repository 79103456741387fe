"""Wrong text typed as an address: each place says what is wrong, at its field, and a key is kept
nowhere and shown to nobody."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from apps.access import request_log
from apps.assets.models import AcceptedAsset, Asset
from apps.assets.rates import refresh
from apps.chain.networks.base import AddressProblem
from apps.core import clock
from apps.payments.models import HeldRefund, Payment
from apps.payouts.models import PayoutBatchLine, StorePayoutCap
from apps.stores.settings import write_settings
from tests import make
from tests.cast import Api, Cast
from tests.chain.test_bitcoin_addresses import WORDS, XPUB_86, ZPRV, ZPUB
from tests.dashboard.browse import Browser
from tests.payouts.test_batches import upload
from tests.platforms.conftest import platform_of
from tests.platforms.destinations.makers import minted
from tests.stage import empty_buckets

GOOD = "tltc1qw508d6qejxtdg4y5r3zarvary0c5xw7klfsuq0"
WIF = "L1uyy5qTuGrVXrmrsvHWHgVzW9kKdrp27wBC7Vs6nZDTF2BRUVwy"
LTPV = (
    "Ltpv71G8qDifUiNetP6nmxPA5STrUVmv2J9YSmXajv8VsYBUyuPhvN9xCaQrfX2wo5xxJNtEazYCFRUu5FmokYMM79pcq"
    "z8pcdo4rNXAFPgyB4k"
)
HEX = "1e99423a4ed27608a15a2616a2b0e9e52ced330ac530edcc32c8ffc6a526aedd"
_P = AddressProblem
# Typed where an address of Litecoin's test network belongs.
TYPED = [
    ("tmweb1qq" + "q" * 110, _P.PRIVATE),
    ("ltcmweb1qqvdavrq7", _P.OTHER_NETWORK),
    ("ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh", _P.OTHER_NETWORK),
    ("tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", _P.OTHER_NETWORK),
    ("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", _P.OTHER_NETWORK),
    ("0x52908400098527886E0F7030069857D2E4169EE7", _P.OTHER_NETWORK),
    (GOOD[:-1] + "q", _P.CHECKSUM),
    (ZPUB, _P.PUBLIC_KEY),
    (f"wpkh({XPUB_86}/0/*)", _P.PUBLIC_KEY),
    ("my wallet", _P.NOT_ONE),
]
SECRETS = [
    (ZPRV, _P.SECRET),
    (ZPRV[:-1] + "X", _P.SECRET),
    (LTPV, _P.SECRET),
    (WIF, _P.SECRET),
    (WORDS, _P.SECRET),
    (HEX, _P.SECRET_OR_HASH),
]
# And where one of Ethereum's test network does.
TYPED_FOR_EVM = [
    ("0x52908400098527886E0F7030069857D2E4169Ee7", _P.CHECKSUM),
    (GOOD, _P.OTHER_NETWORK),
    ("ltcmweb1qqvdavrq7", _P.OTHER_NETWORK),
    (ZPUB, _P.PUBLIC_KEY),
    ("0x12", _P.NOT_ONE),
]


@dataclass
class World:
    cast: Cast
    asset_id: str = "TLTC"
    completed: dict[str, Any] | None = None
    held: Payment | None = None

    @property
    def chain(self) -> str:
        return Asset.objects.select_related("chain").get(pk=self.asset_id).chain.name

    @property
    def api(self) -> Api:
        return self.cast.bakery.test

    def alice(self) -> Browser:
        browser = Browser(self.cast.alice)
        browser.post("mode", mode="test")
        return browser

    def paid(self) -> dict[str, Any]:
        if self.completed is None:
            made = make.payment(self.api)
            self.completed = make.simulated(self.api, made["id"], asset_id=self.asset_id)
        return self.completed


@pytest.fixture
def world(cast: Cast) -> World:
    Asset.objects.filter(pk="TLTC").update(is_active=True)
    refresh()
    AcceptedAsset.objects.create(
        store=cast.bakery.store, mode="test", asset_id="TLTC", created_at=clock.real_now()
    )
    StorePayoutCap.objects.create(
        store=cast.bakery.store, asset_id="TLTC", daily_atomic=10**9, per_tx_atomic=10**9
    )
    empty_buckets()
    return World(cast)


Told = tuple[int, str]


def api_payout(world: World, text: str) -> Told:
    answer = make.ask_payout(
        world.api, "10000000", asset_id=world.asset_id, destination_address=text
    )
    return answer.status_code, answer.json()["error"]


def agent_payout(world: World, text: str) -> Told:
    body = {"asset_id": world.asset_id, "amount_atomic": "1000000", "destination_address": text}
    answer = Api(world.cast.bakery.secrets["test_agent"]).post("/agentic/payouts", body, key="a")
    assert text not in answer.content.decode()
    return answer.status_code, answer.json()["error"]["message"]


def api_schedule(world: World, text: str) -> Told:
    body = {"asset_id": world.asset_id, "frequency": "daily", "destination_address": text}
    answer = world.api.post("/payout_schedules", {"payout_schedule": body})
    return answer.status_code, " ".join(answer.json()["errors"])


def api_refund(world: World, text: str) -> Told:
    path = f"/payments/{world.paid()['id']}/refunds"
    answer = world.api.post(path, {"refund": {"destination_address": text}}, key="r")
    return answer.status_code, answer.json()["error"]


OF_PROGRAMS: list[Callable[[World, str], Told]] = [
    api_payout,
    agent_payout,
    api_schedule,
    api_refund,
]


def at_field(answer: Any, field: str, text: str) -> Told:
    """The error at the field, which has the focus or is described by it."""
    page = unescape(answer.content.decode())
    opening = f'id="{field}-error"'
    assert answer.status_code == 422 and opening in page
    told = page.partition(opening)[2].partition(">")[2].partition("<")[0]
    return answer.status_code, told


def payout_form(world: World, text: str) -> Told:
    world.paid()
    fields = {"asset_id": world.asset_id, "amount": "0.001", "form_key": "f" * 32}
    answer = world.alice().post("payouts/new", **fields, destination_address=text)
    return at_field(answer, "destination_address", text)


def refund_form(world: World, text: str) -> Told:
    path = f"payments/{world.paid()['id']}/refund"
    fields = {"asset_id": world.asset_id, "amount": "0.0001", "form_key": "f" * 32}
    answer = world.alice().post(path, **fields, destination_address=text)
    return at_field(answer, "destination_address", text)


def transfer_form(world: World, text: str) -> Told:
    stray = make.stray_transfer(make.payment(world.api)["id"], world.asset_id, 10**7)
    answer = world.alice().post(f"transfers/{stray}/return", destination_address=text)
    return at_field(answer, "destination_address", text)


def waiting(world: World) -> Payment:
    """A payment of which coins wait for an address."""
    if world.held is None:
        made = make.payment(world.api)
        make.simulated(world.api, made["id"], "underpaid", asset_id=world.asset_id)
        make.looked_at(made["id"])
        make.advance(world.api, 86_400)
        world.held = Payment.objects.get(pk=made["id"])
    HeldRefund.objects.get_or_create(
        payment=world.held,
        defaults={
            "store_id": world.held.store_id,
            "mode": world.held.mode,
            "created_at": clock.real_now(),
            "updated_at": clock.real_now(),
            "asset_id": world.asset_id,
            "amount_atomic": 10**6,
            "payer_address": "",
            "status": HeldRefund.Status.WAITING,
            "why": HeldRefund.Why.NOBODY,
        },
    )
    empty_buckets()
    return world.held


def refund_page(world: World, text: str) -> Told:
    payment = waiting(world)
    answer = Client().post(f"/pay/{payment.reference}/refund-address", {"address": text})
    page = unescape(answer.content.decode())
    assert 'name="address"' in page
    return answer.status_code, page


OF_PEOPLE: list[Callable[[World, str], Told]] = [
    payout_form,
    refund_form,
    transfer_form,
    refund_page,
]


def batch_line(world: World, text: str) -> PayoutBatchLine:
    quoted = text.replace('"', "")
    line: PayoutBatchLine = upload(
        world.cast, f'{world.asset_id},0.1,"{quoted}",x\n', key=f"{hash(text):032x}"[-32:]
    ).lines.get()
    return line


def sentence(problem: AddressProblem, world: World) -> str:
    general = f"Destination address is not valid for {world.chain}"
    return general if problem is _P.NOT_ONE else str(problem)


@pytest.mark.parametrize("place", OF_PROGRAMS, ids=lambda place: place.__name__)
def test_programs_are_told_the_documented_sentence_and_the_fault(
    world: World, place: Callable[[World, str], Told]
) -> None:
    general = f"Destination address is not valid for {world.chain}"
    for typed, problem in TYPED + SECRETS:
        told = general if problem is _P.NOT_ONE else f"{general}. {problem}"
        assert place(world, typed) == (422, told), typed


@pytest.mark.parametrize("place", OF_PEOPLE, ids=lambda place: place.__name__)
def test_people_are_told_the_fault_at_the_field(
    world: World, place: Callable[[World, str], Told]
) -> None:
    for typed, problem in TYPED + SECRETS:
        status, told = place(world, typed)
        general = "That is not an address of this network" if place is refund_page else ""
        expected = general if general and problem is _P.NOT_ONE else sentence(problem, world)
        assert status == 422 and expected in told, typed


def test_on_ethereum_programs_are_told_the_documented_sentence_alone_unless_it_is_a_key(
    world: World,
) -> None:
    world.asset_id = "SETH"
    general = f"Destination address is not valid for {world.chain}"
    for typed, problem in TYPED_FOR_EVM + SECRETS:
        told = f"{general}. {problem}" if problem.is_of_secret else general
        assert api_payout(world, typed) == (422, told)
        assert sentence(problem, world) in payout_form(world, typed)[1]


def test_saved_wallets_are_judged_alike(world: World) -> None:
    world.asset_id = "SETH"
    platform = platform_of(world.cast.bakery)
    path = f"/onboarding/{minted(platform, platform.sub(kyc=False))}/payout"
    for typed, problem in TYPED_FOR_EVM + SECRETS:
        answer = world.alice().post("payouts/destinations/wallet", network="sepolia", address=typed)
        assert at_field(answer, "address", typed) == (422, f"{sentence(problem, world)}.")
        fields = {"kind": "wallet", "network": "ethereum", "address": typed}
        page = unescape(Client().post(path, fields).content.decode())
        told = "is not valid for Ethereum" if problem is _P.NOT_ONE else str(problem)
        assert told in page, typed
        assert typed not in page or not problem.is_of_secret
        empty_buckets()


def test_a_line_of_a_file_says_what_is_wrong_with_its_address(world: World) -> None:
    """Text that is no address may be the label of a saved destination."""
    unknown = "Destination is neither an address nor a saved destination"
    for typed, problem in TYPED + SECRETS:
        told = unknown if problem is _P.NOT_ONE else sentence(problem, world)
        assert batch_line(world, typed).problem == told, typed
        empty_buckets()


def kept(text: str) -> list[str]:
    """The tables that hold a text."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(
                f'SELECT EXISTS (SELECT FROM "{table}" t WHERE t::text ILIKE %s)',
                [f"%{text}%"],
            )
            if cursor.fetchone()[0]:
                found.append(table)
    return found


@pytest.mark.parametrize(("secret", "problem"), SECRETS)
def test_a_key_is_kept_nowhere_and_shown_to_nobody(
    world: World, secret: str, problem: AddressProblem, caplog: pytest.LogCaptureFixture
) -> None:
    assert problem.is_of_secret
    caplog.set_level(logging.DEBUG)
    for place in (*OF_PROGRAMS, *OF_PEOPLE):
        assert secret not in place(world, secret)[1]
    batch_line(world, secret)
    answer = world.alice().post("settings/wallets/change?asset=TLTC", kind="key", content=secret)
    page = answer.content.decode()
    assert "Treat it as exposed" in page and secret not in page
    write_settings(world.cast.bakery.store, {"authorization_provider": "policy"})
    agent = Api(world.cast.bakery.secrets["test_agent"])
    body = {"asset_id": "TLTC", "mandate_ref": "x", "amount_atomic": "1", "pay_to": secret}
    assert agent.post("/agentic/x402/settlements", body, key="s").status_code == 422
    request_log.flush()
    assert kept(secret) == []
    assert secret not in caplog.text
