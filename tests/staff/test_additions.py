"""Networks and assets that two members of staff add: the web writes neither, a worker asks the
network's node and waits in live mode for anyone who stops it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from apps.assets.models import Asset, Chain
from apps.audit.grants import WEB, WORKER
from apps.chain import requested_additions
from apps.core.db import tenancy
from apps.stores.models import AuditEntry, StaffRequest, User, WorkerOrder
from apps.stores.staff import four_eyes
from tests import make
from tests.auditing import found_of
from tests.cast import Cast
from tests.chain.local import LocalChain, program
from tests.dashboard.browse import next_code, text
from tests.roles import acting_as
from tests.staff.forms import filled
from tests.staff.pages import person_of
from tests.staff.test_roles import signed_in
from tests.staff.test_worker_orders import over
from tests.stores.wishes import asked_for

NETWORK = "/admin/stores/staffrequest/ask/network/"
ASSET = "/admin/stores/staffrequest/ask/asset/"
GNOSIS = {
    "id": "gnosis",
    "name": "Gnosis",
    "symbol": "GNO",
    "number": "100",
    "mode": "test",
    "confirmations": "20",
    "confirmations_floor": "",
    "block_seconds": "0.25",
    "fee_symbol": "xDAI",
    "fee_model": "plain",
    "reason": "Many have asked for it",
}
DOLLAR = {
    "network": "gnosis",
    "id": "GNO_USDC",
    "symbol": "USDC",
    "name": "USD Coin",
    "contract": "0x" + "12" * 20,
    "decimals": "6",
    "minimum": "0.5",
    "reason": "Many have asked for it",
}


@pytest.fixture
def people(cast: Cast) -> list[User]:
    return [make.clerk("admin"), make.clerk("admin")]


def asked(people: list[User], page: str, fields: dict[str, str]) -> StaffRequest:
    answer = signed_in(people[0]).post(page, **fields)
    assert answer.status_code == 302, text(answer)
    return StaffRequest.objects.get(state="pending")


def approved(people: list[User], row: StaffRequest) -> WorkerOrder:
    browser = signed_in(people[1])
    page = f"/admin/stores/staffrequest/{row.pk}/decide/"
    answer = browser.post(
        page, decision="approve", digest=row.digest, code=next_code(person_of(browser))
    )
    assert answer.status_code == 302, text(answer)
    return WorkerOrder.objects.get(target_id=str(row.pk))


def work() -> None:
    with acting_as(WORKER):
        requested_additions.add_requested()


def test_two_members_of_staff_add_a_network_and_nothing_is_offered_on_it(
    people: list[User],
) -> None:
    row = asked(people, NETWORK, GNOSIS)
    shown = text(signed_in(people[1]).get(f"/admin/stores/staffrequest/{row.pk}/decide/"))
    assert "New network Gnosis (gnosis)" in shown and "0.25" in shown
    approved(people, row)
    assert not Chain.objects.filter(pk="gnosis").exists()
    work()
    chain = Chain.objects.get(pk="gnosis")
    assert (chain.chain_id, chain.block_milliseconds) == (100, 250)
    assert (chain.required_confirmations, chain.confirmations_floor) == (20, 5)
    assert AuditEntry.objects.filter(action="network.added", target_id="gnosis").count() == 1
    assert WorkerOrder.objects.get().outcome == "Added"


def test_what_would_be_added_is_shown_before_it_is_asked_for(people: list[User]) -> None:
    browser = signed_in(people[0])
    form = text(browser.get(NETWORK))
    for label in ("Chain ID", "Seconds between blocks", "Coin of the fees", "CHAIN_NETWORKS"):
        assert label in form
    review = text(browser.client.post(NETWORK, {**GNOSIS, "seen": filled(form, "seen")["seen"]}))
    assert "Gnosis" in review and "Confirm" in review
    assert not StaffRequest.objects.exists()


def test_a_live_network_waits_and_one_member_of_staff_stops_it(
    people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = approved(people, asked(people, NETWORK, {**GNOSIS, "mode": "live"}))
    work()
    order.refresh_from_db()
    assert order.status == "waiting" and not Chain.objects.filter(pk="gnosis").exists()
    stops = signed_in(make.clerk("finance"))
    page = f"/admin/stores/workerorder/{order.pk}/decide/"
    assert "What a worker will carry out" in text(stops.get(page))
    assert stops.post(page, decision="reject", reason="Nobody asked").status_code == 302
    over(order, monkeypatch)
    work()
    order.refresh_from_db()
    assert order.status == "stopped" and not Chain.objects.filter(pk="gnosis").exists()


def test_a_live_network_is_added_once_its_wait_is_over(
    people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = approved(people, asked(people, NETWORK, {**GNOSIS, "mode": "live"}))
    work()
    over(order, monkeypatch)
    work()
    work()
    assert Chain.objects.get(pk="gnosis").mode == "live"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"id": "Gnosis"}, "has 2 to 20 of a to z, 0 to 9 and _"),
        ({"number": "1"}, "Chain ID 1 is that of Ethereum"),
        ({"number": "many"}, "Enter a whole number"),
        ({"symbol": "eth"}, "Another network has the short name eth"),
        ({"block_seconds": "0"}, "The time between blocks must be from 0.05 to 3600 seconds"),
        ({"block_seconds": "fast"}, "Enter a number with at most 3 decimal places"),
        ({"confirmations_floor": "21"}, "Confirmations must be at least their floor"),
        ({"explorer_url": "http://gnosisscan.io"}, "The block explorer needs an address that"),
    ],
)
def test_a_network_that_cant_be_right_is_refused_on_the_form(
    people: list[User], changed: dict[str, str], sentence: str
) -> None:
    answer = signed_in(people[0]).post(NETWORK, **{**GNOSIS, **changed})
    assert answer.status_code == 422 and sentence in text(answer)
    assert not StaffRequest.objects.exists()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"id": "ETH_USDC"}, "There is an asset ETH_USDC already"),
        ({"contract": "0x12"}, "the address of a contract on Gnosis"),
        ({"decimals": "37"}, "less than or equal to 36"),
        ({"minimum": "0.0000001"}, "Enter a number with at most 6 decimal places"),
        ({"sweep_minimum": "0"}, "The minimum sweep must be above zero"),
        ({"sweep_cost": "dear"}, "Enter a number with at most 2 decimal places"),
        ({"sweep_cost": "100.5"}, "A sweep may cost above 0 and up to 100 percent"),
        ({"sweep_after_days": "3651"}, "The days must be from 1 to 3650"),
        ({"sweep_after_days": "1.5"}, "Enter a whole number"),
        ({"eip712_name": "USD Coin"}, "An EIP-712 domain has both a name and a version"),
        ({"pays_fees": "on"}, "Gnosis takes its fees in its own coin"),
    ],
)
def test_an_asset_that_cant_be_right_is_refused_on_the_form(
    people: list[User], changed: dict[str, str], sentence: str
) -> None:
    approved(people, asked(people, NETWORK, GNOSIS))
    work()
    answer = signed_in(people[0]).post(ASSET, **{**DOLLAR, **changed})
    assert answer.status_code == 422 and sentence in text(answer)
    assert not StaffRequest.objects.filter(kind="asset").exists()


def test_how_an_asset_is_swept_is_shown_before_and_written_by_the_worker(
    people: list[User],
) -> None:
    approved(people, asked(people, NETWORK, GNOSIS))
    work()
    sweeps = {"sweep_minimum": "12,5", "sweep_cost": "2,5 %", "sweep_after_days": "30"}
    row = asked(people, ASSET, {**DOLLAR, **sweeps})
    shown = text(signed_in(people[1]).get(f"/admin/stores/staffrequest/{row.pk}/decide/"))
    for label, value in (
        ("Minimum sweep", "12.5"),
        ("Maximum cost of a sweep (%)", "2.5"),
        ("Sweep smaller deposits after days", "30"),
    ):
        assert label in shown and value in shown
    approved(people, row)
    work()
    asset = Asset.objects.get(pk="GNO_USDC")
    columns = (asset.sweep_minimum_atomic, asset.sweep_cost_bps, asset.sweep_after_days)
    assert columns == (12_500_000, 250, 30)
    lines = AuditEntry.objects.filter(target_id="GNO_USDC").values_list("action", flat=True)
    assert set(lines) == {"asset.added", "asset.changed"}
    assert found_of("settings_logged") == []


@pytest.fixture
def local(settings: Any) -> Iterator[LocalChain]:
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    local = LocalChain(anvil, chain_id=100)
    settings.CHAIN_URLS = {"gnosis": [local.url]}
    yield local
    local.close()


@pytest.mark.chain
def test_an_asset_is_added_once_the_networks_node_says_the_same_of_its_contract(
    local: LocalChain, people: list[User]
) -> None:
    approved(people, asked(people, NETWORK, GNOSIS))
    work()
    for contract, decimals, outcome in (
        ("0x" + "12" * 20, "6", "There is no contract at this address"),
        (local.deploy_token(decimals=2), "6", "The contract has 2 decimals, not 6"),
        (local.deploy_token(decimals=6), "6", "Added"),
    ):
        order = approved(
            people, asked(people, ASSET, {**DOLLAR, "contract": contract, "decimals": decimals})
        )
        work()
        order.refresh_from_db()
        assert order.outcome.startswith(outcome)
        assert Asset.objects.filter(pk="GNO_USDC").exists() == (outcome == "Added")
    asset = Asset.objects.get(pk="GNO_USDC")
    assert (asset.min_withdrawal_atomic, asset.is_active) == (500_000, False)
    assert not asset.is_fiat_eligible


@pytest.mark.parametrize("model", [Chain, Asset])
def test_the_web_writes_neither(cast: Cast, model: Any) -> None:
    row = model.objects.first()
    row.pk = "made"
    with acting_as(WEB), tenancy.everyone("staff"), transaction.atomic():  # noqa: SIM117
        with pytest.raises(DatabaseError, match="permission denied"):
            row.save(force_insert=True)


def test_an_approval_of_somebody_who_may_not_adds_nothing(cast: Cast, people: list[User]) -> None:
    _, row, _ = asked_for("network", cast, people[0])
    StaffRequest.objects.filter(pk=row.pk).update(
        state="approved", decided_by=make.clerk("finance"), decided_at=row.asked_at
    )
    facts = four_eyes.content_of(row).facts
    requested_additions.NETWORK.carry_out(row, facts, row.asked_at)
    work()
    order = WorkerOrder.objects.get()
    assert order.outcome == "It takes two members of staff who may add it, and still are"
    assert not Chain.objects.filter(pk="gnosis").exists()


@pytest.mark.parametrize("role", ["support", "finance"])
@pytest.mark.parametrize("page", [NETWORK, ASSET])
def test_only_admins_ask_for_them(cast: Cast, page: str, role: str) -> None:
    assert signed_in(make.clerk(role)).get(page).status_code == 403
