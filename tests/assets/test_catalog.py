"""The table of networks and coins, and the rows of the database that come from it."""

import re
from typing import Any

import pytest
from django.conf import settings

from apps.assets.models import Asset, Chain
from apps.chain.encoding.typed_data import domain_separator
from apps.chain.networks import catalog
from apps.chain.networks.families import addresses_of

# What contracts on the public networks answer to DOMAIN_SEPARATOR(), as explorers and others have
# published it.
SEPARATORS = {
    "ETH_USDC": "06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335",
    "BASE_USDC": "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f",
    "ARB_USDT": "566af68fb471b22d6421762f84aa7bd761c670a2e4d5c8a47d4085d5957b127c",
}


def facts_of(row: Chain) -> dict[str, Any]:
    return {
        "id": row.pk,
        "name": row.name,
        "symbol": row.symbol,
        "number": row.chain_id,
        "mode": row.mode,
        "confirmations": row.required_confirmations,
        "confirmations_floor": row.confirmations_floor,
        "finality_tag": row.finality_tag,
        "counts_confirmations": row.counts_confirmations,
        "tag_confirmations": row.tag_confirmations,
        "block_milliseconds": row.block_milliseconds,
        "fee_symbol": row.fee_symbol,
        "fee_model": row.fee_model,
        "explorer_url": row.explorer_url,
        "wallet_url": row.wallet_url,
        "family": row.family,
    }


@pytest.mark.django_db
@pytest.mark.parametrize("network", catalog.NETWORKS, ids=lambda network: network.id)
def test_the_database_has_each_network_as_the_table_says(
    network: catalog.CatalogNetwork,
) -> None:
    facts = facts_of(Chain.objects.get(pk=network.id))
    assert {name: getattr(network, name) for name in facts} == facts


@pytest.mark.django_db
@pytest.mark.parametrize("network", catalog.NETWORKS, ids=lambda network: network.id)
def test_the_database_has_each_coin_as_the_table_says(
    network: catalog.CatalogNetwork,
) -> None:
    rows = {row.pk: row for row in Asset.objects.filter(chain=network.id)}
    assert set(rows) == {coin.asset_id for coin in network.coins}
    for coin in network.coins:
        row = rows[coin.asset_id]
        told = (
            *(row.coin_symbol, row.atomic_decimals, row.display_decimals),
            *(row.contract_address or "", row.eip712_name, row.eip712_version),
            *(int(row.min_withdrawal_atomic), row.is_fiat_eligible, row.is_listed),
            row.pays_fees,
        )
        assert told == (
            *(coin.symbol, coin.decimals, coin.display_decimals),
            *(coin.contract, coin.eip712_name, coin.eip712_version),
            *(coin.minimum_atomic, coin.pays_banks, coin.is_listed),
            coin.pays_fees or row.is_native,
        )


@pytest.mark.django_db
def test_a_new_network_can_be_used_by_nobody_before_an_operator_says_so() -> None:
    assert set(Asset.objects.filter(is_active=True).values_list("pk", flat=True)) == {
        *("ETH", "ETH_USDC", "ETH_USDT", "SETH", "SETH_USDC")
    }


@pytest.mark.django_db
@pytest.mark.parametrize("network", catalog.NETWORKS, ids=lambda network: network.id)
def test_a_contract_is_in_the_spelling_that_is_stored(network: catalog.CatalogNetwork) -> None:
    addresses = addresses_of(Chain.objects.get(pk=network.id))
    for coin in network.coins:
        assert not coin.contract or addresses.read(coin.contract) == coin.contract


@pytest.mark.parametrize("asset_id", SEPARATORS)
def test_a_domain_is_the_one_that_its_contract_has(asset_id: str) -> None:
    [(network, coin)] = [
        (network, coin)
        for network in catalog.NETWORKS
        for coin in network.coins
        if coin.asset_id == asset_id
    ]
    domain = domain_separator(coin.eip712_name, coin.eip712_version, network.number, coin.contract)
    assert domain.hex() == SEPARATORS[asset_id]


def test_a_network_is_in_the_table_once() -> None:
    for fact in ("id", "number", "name", "symbol"):
        told = [getattr(network, fact) for network in catalog.NETWORKS]
        assert len(told) == len(set(told)), fact
    ids = [coin.asset_id for network in catalog.NETWORKS for coin in network.coins]
    assert len(ids) == len(set(ids))


def test_each_network_has_a_setting_for_its_nodes() -> None:
    assert set(settings.CHAIN_URLS) == set(catalog.network_ids())
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,19}", name) for name in settings.CHAIN_URLS)
