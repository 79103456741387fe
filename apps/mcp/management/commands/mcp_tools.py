"""`mcp_tools`: draw up apps/mcp/tools.json anew."""

import json
import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.mcp.drawing import drawn
from apps.mcp.tools import FILE

SECONDS = 60


class Command(BaseCommand):
    help = "Draw up the tools of language models from the API's description"
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "openapi"]
        description = subprocess.run(  # noqa: S603  our own
            command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, check=True, timeout=SECONDS
        ).stdout
        FILE.write_text(drawn(json.loads(description)))
        self.stdout.write(str(FILE))
