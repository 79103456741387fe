"""The contract of batches: on which networks it is, and how anybody brings it to one."""

from io import StringIO

import pytest
from django.core.management import call_command

from apps.assets.models import Chain
from apps.chain.networks.evm import sweepers
from apps.chain.networks.families import shown_address
from apps.chain.node_checks import check_node
from tests.cast import Shop
from tests.payouts.moody import open_moody
from tests.swaps.conftest import Venue
from tests.swaps.ground import bakery, ground_of, place

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of(open_moody)


def said() -> str:
    output = StringIO()
    call_command("sweep_contract", stdout=output)
    return output.getvalue()


def verdict(place: Venue) -> tuple[str, str]:
    chain = Chain.objects.get(pk="sepolia")
    [found] = [
        one for one in check_node(chain, place.chain.url) if one.ability == "sweeps in batches"
    ]
    return found.verdict, found.text


def test_what_the_command_says_brings_the_contract_to_the_network(
    place: Venue, bakery: Shop
) -> None:
    told = said()
    assert "Ethereum Sepolia: the hot wallet’s contract is not there" in told
    assert verdict(place)[0] == "instead"
    assert f"Hot wallet: {shown_address(place.hot)}" in told
    *_, line, data = told.splitlines()
    to = line.removeprefix("To bring it to a network, send to ").removesuffix(" the data")
    place.chain.wait(place.chain.send(to.lower(), data=data))
    assert "Ethereum Sepolia: sweeps go in batches" in said()
    assert shown_address(sweepers.contract(place.hot)) in said()
    assert verdict(place) == ("works", "by delegation (EIP-7702)")
