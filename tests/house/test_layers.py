"""Layers: which apps, libraries, web modules and outside services each app may use."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from tests.house.files import ROOT, sources


def test_no_app_imports_upward() -> None:
    run = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


HTTP = (
    "apps/chain/rpc/announcements.py",
    "apps/core/local_chain.py",
    "apps/core/outbound/net.py",
    "apps/core/outbound/strangers.py",
)


def test_outbound_http_is_in_one_place() -> None:
    libraries = re.compile(
        r"^\s*(import|from) (requests|httpx|urllib3|urllib\.request|aiohttp)\b",
        re.M,
    )
    for path in sources("apps"):
        name = str(path.relative_to(ROOT))
        if (
            path.suffix == ".py"
            and name not in HTTP
            and "/providers/" not in name
            and "/demo" not in name
        ):
            assert not libraries.search(path.read_text()), name


def test_what_production_imports_is_what_production_installs() -> None:
    """Packages of the tests are there when tests run, and missing in the image."""
    brings = metadata.packages_distributions()
    pinned = set(
        re.findall(
            r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / "requirements" / "base.txt").read_text(), re.M
        )
    )
    missing = {
        name
        for name, packages in brings.items()
        if pinned.isdisjoint(re.sub(r"[-_.]+", "-", package).lower() for package in packages)
    }
    assert "pytest" in missing and "django" not in missing
    imported = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)
    found = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources("apps", "config")
        if path.suffix == ".py"
        for name in imported.findall(path.read_text())
        if name in missing
    }
    assert found == set()


def test_what_mypy_leaves_out_is_used_by_libraries_alone() -> None:
    """Calls of ours into it would not be checked."""
    mypy = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    read, left_out = (
        "|".join(
            re.escape(name.removesuffix(".*"))
            for override in mypy["overrides"]
            if override.get("follow_imports") == how
            for name in override["module"]
        )
        for how in ("normal", "skip")
    )
    used = re.compile(rf"^\s*(?:from|import) (?!(?:{read})\b)(?:{left_out})\b", re.MULTILINE)
    assert used.search("from mcp.client.stdio import stdio_client")
    assert not used.search("from moto.server import ThreadedMotoServer")
    for path in sources("apps", "config", "tests"):
        name = str(path.relative_to(ROOT))
        if path.suffix == ".py" and not any(re.search(left, name) for left in mypy["exclude"]):
            assert not used.search(path.read_text()), name
