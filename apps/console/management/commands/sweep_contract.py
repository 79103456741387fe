"""The contract by which a hot wallet sweeps many addresses in one transaction: on which networks it
is, and the transaction that brings it there, no matter who sends it."""

from contextlib import closing
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.assets.models import Chain, NetworkFamily
from apps.chain.models import HotWallet
from apps.chain.networks.families import shown_address
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending import sweep_batches


class Command(BaseCommand):
    help = "Says on which networks sweeps go in batches, and how their contract is brought to one."

    def handle(self, *args: Any, **options: Any) -> None:
        wallets = HotWallet.objects.filter(number=0, chain__family=NetworkFamily.EVM)
        for wallet in wallets.select_related("chain").order_by("pk"):
            if settings.CHAIN_URLS.get(wallet.chain_id):
                self.stdout.write(f"{wallet.chain.name}: {_state(wallet.chain)}")
        for address in sorted(set(wallets.values_list("address", flat=True))):
            contract, to, data = sweep_batches.deployment(address)
            self.stdout.write(f"Hot wallet: {shown_address(address)}")
            self.stdout.write(f"Its contract: {shown_address(contract)}")
            self.stdout.write(f"To bring it to a network, send to {shown_address(to)} the data")
            self.stdout.write(data)


def _state(chain: Chain) -> str:
    try:
        with closing(nodes_of(chain)) as nodes:
            way = sweep_batches.way_on(chain, nodes)
    except RpcError:
        return "no node answers"
    if way.wallet and way.lack:
        return f"tokens with signed transfers go in batches: {way.lack}"
    return way.lack or "sweeps go in batches"
