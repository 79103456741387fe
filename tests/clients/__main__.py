"""Clients that others generate from the API description have every field of every document.

    .venv/bin/uv pip install --group clients
    .venv/bin/python -m tests.clients

A client in Python by openapi-python-client, and types for TypeScript by openapi-typescript, which
npx fetches.
"""

import os
import re
import shutil
import subprocess  # nosec
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from apps.core.messages.fields import Schema

TYPESCRIPT = "openapi-typescript@7.13.0"
Documents = dict[str, tuple[str, ...]]  # component -> its fields, as they are written


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from apps.api.description import _document
    from apps.api.plumbing.components import components

    description = _document()
    documents = dict(_documents(components()))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "openapi.json"
        path.write_bytes(description)
        missing = [*missing_in_python(path, documents), *missing_in_typescript(path, documents)]
    fields = sum(map(len, documents.values()))
    if missing:
        sys.exit("\n".join(missing))
    print(f"{len(documents)} documents with {fields} fields, all of them in both clients")


def _documents(told: dict[str, Schema]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, schema in told.items():
        if "properties" in schema:
            yield name, tuple(schema["properties"])


def missing_in_python(path: Path, documents: Documents) -> list[str]:
    """Fields that the models of the Python client don't read."""
    client = path.parent / "client"
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [
        shutil.which("openapi-python-client", path=tools)
        or sys.exit("openapi-python-client isn't installed"),
        "generate",
    ]
    subprocess.run(
        [*command, "--path", path, "--meta", "none", "--output-path", client],
        check=True,
        env={**os.environ, "PATH": tools},
    )
    models = {
        name: text
        for file in (client / "models").glob("*.py")
        for name, text in _classes(file.read_text())
    }
    return [
        f"Python: {name} lacks {field}"
        for name, fields in documents.items()
        for field in fields
        if f'.pop("{field}"' not in models.get(_class_name(name), "")
    ]


def _classes(text: str) -> Iterator[tuple[str, str]]:
    for name in re.findall(r"^class (\w+):", text, re.MULTILINE):
        yield name, text


def _class_name(name: str) -> str:
    """As openapi-python-client writes it: OAuthApp becomes OAuthApp, x402Kind becomes X402Kind."""
    return name[:1].upper() + name[1:]


def missing_in_typescript(path: Path, documents: Documents) -> list[str]:
    """Fields that the TypeScript types don't name."""
    types = path.parent / "types.ts"
    subprocess.run(["npx", "--yes", TYPESCRIPT, str(path), "-o", str(types)], check=True)
    blocks = dict(
        re.findall(r"^ {8}(\w+): \{\n(.*?)^ {8}\};", types.read_text(), re.MULTILINE | re.DOTALL)
    )
    return [
        f"TypeScript: {name} lacks {field}"
        for name, fields in documents.items()
        for field in fields
        if not re.search(rf'^ +"?{re.escape(field)}"?\??: ', blocks.get(name, ""), re.MULTILINE)
    ]


if __name__ == "__main__":
    main()
