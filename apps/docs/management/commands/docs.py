"""`docs`: the documentation on standard output, as JSON. The web process has it drawn here."""

import sys
from typing import Any

import msgspec
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Print the documentation, drawn"
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        from apps.docs.drawing import draw

        sys.stdout.buffer.write(msgspec.json.encode(draw()))
