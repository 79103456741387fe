"""`manage.py tillgate_catch_up`: what deliveries missed is read from the events. Run it every few
minutes, with `payments_tillgate` in INSTALLED_APPS."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from payments.core import provider_factory


class Command(BaseCommand):
    help = "Bring payments up to date with Tillgate's events"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--variant", default="tillgate")
        parser.add_argument("--hours", type=int, default=48)

    def handle(self, *_: Any, **options: Any) -> None:
        provider_factory(options["variant"]).catch_up(options["hours"])
