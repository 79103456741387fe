"""`mcp`: the agent API as tools for a language model, over standard input and output."""

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.access.credentials import AGENT_PREFIXES
from apps.mcp.providers.agent_api import AgentApi
from apps.mcp.tools import server

VARIABLE = "TILLGATE_AGENT_CREDENTIAL"


class Command(BaseCommand):
    help = (
        f"Serve the agent API as MCP tools on standard input and output; {VARIABLE} holds the"
        " credential"
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        credential = os.environ.get(VARIABLE, "")
        if not credential.startswith(tuple(AGENT_PREFIXES.values())):
            raise CommandError(f"{VARIABLE} must contain an agent credential")
        server(AgentApi(settings.API_URL, credential)).run("stdio")
