"""The contract that makes merchants' forwarders: where it is missing, and the transaction that
brings it there, no matter who sends it."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.chain.own import factory


class Command(BaseCommand):
    help = "Says on which networks the forwarders' contract is, and how anybody brings it to one."

    def handle(self, *args: Any, **options: Any) -> None:
        for chain, state in factory.states():
            self.stdout.write(f"{chain.name}: {state}")
        address, to, data = factory.deployment()
        self.stdout.write(f"Contract: {address}")
        self.stdout.write(f"To bring it to a network, send to {to} the data")
        self.stdout.write(data)
