"""Dependencies of Tillgate are pinned and listed, and those whose registry can't be asked are
named."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from dev import dependencies, pin_images

ROOT = Path(__file__).resolve().parents[2]
NEW = "sha256:" + "ab" * 32
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in pin_images.FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def registry(httpserver: HTTPServer) -> str:
    """Docker Hub's answers: a request without a token is shown where to get one."""

    def manifest(request: Request) -> Response:
        if request.headers.get("Authorization") != "Bearer anybody":
            realm = httpserver.url_for("/token")
            challenge = f'Bearer realm="{realm}",service="registry",scope="repository:x:pull"'
            return Response(status=401, headers={"WWW-Authenticate": challenge})
        assert "application/vnd.oci.image.index.v1+json" in request.headers["Accept"]
        return Response(headers={"Docker-Content-Digest": NEW})

    httpserver.expect_request(
        re.compile("/v2/library/[a-z]+/manifests/.*"), method="HEAD"
    ).respond_with_handler(manifest)
    httpserver.expect_request(
        "/token", query_string="service=registry&scope=repository%3Ax%3Apull"
    ).respond_with_json({"token": "anybody"})
    return httpserver.url_for("").rstrip("/")


def run(copy: Path, *arguments: str) -> int:
    return pin_images.main(["--root", str(copy), *arguments])


def digests(root: Path) -> dict[str, set[str | None]]:
    found: dict[str, set[str | None]] = {}
    for name in pin_images.FILES:
        for match in pin_images.references((root / name).read_text()):
            found.setdefault(match[2], set()).add(match[4])
    return found


def test_every_base_image_is_pinned_to_one_digest() -> None:
    found = digests(ROOT)
    assert set(found) == {"python", "caddy", "postgres", "redis"}
    assert all(len(item) == 1 and None not in item for item in found.values()), found
    lines = (ROOT / "Dockerfile").read_text() + (ROOT / "compose.yaml").read_text()
    assert len(re.findall(r"^(?:FROM|\s+image:) ", lines, re.MULTILINE)) == 8  # ours among them


def test_pins_are_renewed_from_the_registry_and_nothing_else_changes(
    copy: Path, registry: str
) -> None:
    before = (copy / "compose.yaml").read_text()
    assert run(copy, "--registry", registry, "--check") == 1
    assert (copy / "compose.yaml").read_text() == before
    assert run(copy, "--registry", registry) == 1
    assert set.union(*digests(copy).values()) == {NEW}
    assert re.sub("@sha256:[0-9a-f]+", "", (copy / "compose.yaml").read_text()) == re.sub(
        "@sha256:[0-9a-f]+", "", before
    )
    assert run(copy, "--registry", registry) == 0


def test_a_registry_that_can_not_be_reached_changes_nothing_and_is_named(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = digests(copy)
    assert run(copy, "--registry", NOBODY) == 2
    assert digests(copy) == before
    assert f"{NOBODY} can't be reached" in capsys.readouterr().err


def test_the_bill_of_materials_lists_every_locked_package_and_needs_no_network() -> None:
    command = ["unshare", "-rn", sys.executable, str(ROOT / "dev/dependencies.py"), "sbom"]
    if subprocess.run([*command[:2], "true"], capture_output=True, check=False).returncode:
        command = command[2:]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)
    )
    assert first == second
    bill = json.loads(first)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    listed = {
        (component["name"], component["version"])
        for component in bill["components"]
        if component["type"] == "library"
    }
    assert listed == set(
        re.findall(
            r"^([a-z0-9._-]+)(?:\[.*?\])?==(\S+)",
            (ROOT / "requirements/base.txt").read_text(),
            re.MULTILINE,
        )
    )
    assert all(component["hashes"] for component in bill["components"])
    refs = [component["bom-ref"] for component in bill["components"]] + [
        bill["metadata"]["component"]["bom-ref"]
    ]
    assert len(set(refs)) == len(refs)
    assert {
        ref
        for dependency in bill["dependencies"]
        for ref in (dependency["ref"], *dependency["dependsOn"])
    } <= set(refs)
    own = next(
        dependency
        for dependency in bill["dependencies"]
        if dependency["ref"].startswith("pkg:pypi/tillgate@")
    )
    assert any(ref.startswith("pkg:pypi/django@") for ref in own["dependsOn"])


ASKED = {"name": "a", "version": "1", "vulns": []}
NAMED = {
    "name": "b",
    "version": "1",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"], "aliases": [], "description": ""}],
}
SKIPPED = {"name": "c", "skip_reason": "Dependency not found and could not be audited: c (1)"}


@pytest.mark.parametrize(
    ("said", "status", "told"),
    [
        ([ASKED], 0, "0 advisories name 1 packages"),
        ([ASKED, NAMED], 1, "b 1: PYSEC-1, fixed in 2"),
        ([ASKED, SKIPPED], 2, "nobody could tell about 1 of 2"),
        ([SKIPPED, NAMED], 1, "nobody could tell about 1 of 2"),
        ([], 2, "0 packages"),
        (None, 2, "nobody could be asked about base.txt: ConnectionError: no such host"),
    ],
)
def test_an_audit_never_calls_clean_what_nobody_could_tell_about(
    tmp_path: Path,
    said: list[Any] | None,
    status: int,
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The program is a stand-in that says what pip-audit says: without a network it can't
    distinguish a package from a clean one."""
    program = tmp_path / "pip-audit"
    line = (
        "print(json.dumps({'dependencies': said}))"
        if said is not None
        else "sys.exit('ConnectionError: no such host')"
    )
    program.write_text(f"import json, sys\nsaid = {said!r}\n{line}\n")
    assert (
        dependencies.audit(ROOT / "requirements/base.txt", [sys.executable, str(program)]) == status
    )
    out = capsys.readouterr()
    assert told in out.out + out.err
