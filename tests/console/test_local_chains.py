"""A chain of this machine never passes for a network with real coins: not in the database, not on a
page, not in a link for wallets."""

from typing import Any

import pytest
from django.test import Client

from apps.assets.models import Chain
from apps.console import local_chains
from apps.core import local_chain
from tests import make
from tests.cast import Shop

pytestmark = pytest.mark.django_db
WARNING = "Real coins sent here are lost"


@pytest.fixture
def both_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(local_chain.NAMES_VARIABLE, f"{local_chain.ETHEREUM},{local_chain.SEPOLIA}")
    local_chains.introduce()


def test_the_stand_in_of_ethereum_has_an_id_of_its_own_and_no_explorer(both_local: None) -> None:
    live = Chain.objects.get(pk="ethereum")
    test = Chain.objects.get(pk="sepolia")
    assert (live.chain_id, live.name, live.explorer_url, live.is_local) == (
        31337,
        "Local Ethereum",
        "",
        True,
    )
    assert (test.chain_id, test.explorer_url, test.is_local) == (11155111, "", False)
    assert local_chain.CHAIN_IDS[local_chain.ETHEREUM] == live.chain_id


def test_a_service_with_nodes_of_its_own_keeps_ethereum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(local_chain.NAMES_VARIABLE, raising=False)
    # Another test may have left it local.
    Chain.objects.filter(pk="ethereum").update(
        chain_id=1, name="Ethereum", explorer_url="https://etherscan.io"
    )
    local_chains.introduce()
    chain = Chain.objects.get(pk="ethereum")
    assert (chain.chain_id, chain.name, chain.explorer_url, chain.is_local) == (
        1,
        "Ethereum",
        "https://etherscan.io",
        False,
    )


def checkout(made: dict[str, Any]) -> str:
    return Client().get(f"/pay/{made['reference']}").content.decode()


def test_its_checkout_says_in_plain_words_that_real_coins_would_be_lost(
    bakery: Shop, both_local: None
) -> None:
    made = make.payment(bakery.live)
    page = checkout(made)
    assert WARNING in page and "Don’t pay this with a real wallet" in page
    links = [payment_address["payment_uri"] for payment_address in made["payment_addresses"]]
    assert (
        links
        and all("@31337" in link for link in links)
        and "@1?" not in page
        and "@1/" not in page
    )
    told = Client().get(f"/api/v2/checkout/{made['reference']}").json()
    assert {
        payment_address["asset"]["chain_id"] for payment_address in told["payment_addresses"]
    } == {31337}
    assert WARNING not in checkout(make.payment(bakery.test))


def test_a_checkout_on_ethereum_itself_warns_of_other_networks_alone(bakery: Shop) -> None:
    page = checkout(make.payment(bakery.live))
    assert (
        WARNING not in page
        and "Don’t pay this" not in page
        and "@1/transfer?" in page
        and "on <b>Ethereum</b>" in page
    )
