"""`openapi`: the API's description on standard output, as /openapi.json has it. The web process has
it drawn up here."""

import sys
from typing import Any

import orjson
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Print the OpenAPI description"
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        from drf_spectacular.generators import SchemaGenerator

        sys.stdout.buffer.write(
            orjson.dumps(SchemaGenerator().get_schema(request=None, public=True))
        )
