"""Stylesheets and scripts that pages load together, as one file each: a browser asks once for all
of them.

They stay separate files to be edited. A bundle is written where files are found: for a server that
serves them itself, and for `collectstatic` (decision 958).
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.checks import CheckMessage
from django.core.files.storage import FileSystemStorage

_PAGE = ("css/tokens.css", "css/base.css", "css/controls.css", "css/parts.css")
_ROOM = ("css/data.css", "css/surfaces.css")
BUNDLES = {
    "css/page.css": _PAGE,
    "css/room.css": _ROOM,
    "css/home_page.css": ("css/lists.css", "css/home.css"),
    "css/dashboard_page.css": (*_PAGE, *_ROOM, "css/dashboard.css"),
    "js/dashboard_page.js": ("js/app.js", "js/dashboard.js", "js/passkeys.js"),
}


class BundleFinder(BaseFinder):
    """Finds the bundles below `static`, in a folder of their own."""

    def __init__(self, app_names: Iterable[str] | None = None, *args: Any, **kwargs: Any) -> None:
        self.storage = FileSystemStorage(location=settings.VAR_DIR / "bundles")

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path not in BUNDLES:
            return []
        file = str(self._written(path))
        return [file] if find_all else file

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[Any]:
        for name in BUNDLES:
            self._written(name)
            yield name, self.storage

    def _written(self, name: str) -> Path:
        """Its file, as its parts are now; processes that write it at once write the same."""
        parts = [settings.BASE_DIR / "static" / part for part in BUNDLES[name]]
        content = "".join(_part(part) for part in parts)
        file = Path(self.storage.path(name))
        if not file.exists() or file.read_text() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as written:
                written.write(content)
            Path(written.name).chmod(0o644)
            os.replace(written.name, file)
        return file


def _part(file: Path) -> str:
    """Its text; a script's names stay its own."""
    text = file.read_text()
    return f"{{\n{text}}}\n" if file.suffix == ".js" else text
