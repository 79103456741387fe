#!/usr/bin/env python3
"""Dependencies of Tillgate, and their known vulnerabilities.

`lock` writes the lock files again for every Python that Tillgate runs on, with the versions that
they have; it needs the project's environment. `sbom` writes a bill of materials (CycloneDX 1.6,
JSON) from the lock file and the base images: it asks nobody. `audit` asks with pip-audit whether an
advisory names a locked version. Exit 0: none does; 1: some do; 2: nobody could be asked.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import uuid
import venv
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from dev import bootstrap, pin_images, pythons

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {
    "base": "requirements/base.txt",
    "dev": "requirements/dev.txt",
    "charts": "requirements/charts.txt",
    "accounting": "requirements/accounting.txt",
    "schemathesis": "requirements/schemathesis.txt",
}
TOOL_LOCK = "requirements/audit.txt"
OWN_VERSIONS = (TOOL_LOCK, LOCKS["schemathesis"])
# Of each lock file what of pyproject.toml it is made from, as uv gets it.
MADE_FROM = {
    "requirements/dev.txt": ["--group", "dev", "pyproject.toml"],
    "requirements/base.txt": ["pyproject.toml"],
    "requirements/redis.txt": ["--no-deps", "--group", "redis"],
    "requirements/charts.txt": ["--group", "charts"],
    "requirements/accounting.txt": ["--group", "accounting"],
    "requirements/schemathesis.txt": ["--group", "schemathesis"],
    "requirements/audit.txt": ["--group", "audit"],
}


def locked(path: Path) -> dict[str, dict[str, Any]]:
    """Of each package of a lock file its version, the hashes of its files, and which packages
    brought it."""
    packages: dict[str, dict[str, Any]] = {}
    current: dict[str, Any] = {}
    for line in path.read_text().splitlines():
        if match := re.match(r"([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)", line):
            current = packages.setdefault(match[1], {"version": match[2], "hashes": [], "via": []})
        elif match := re.search(r"--hash=sha256:([0-9a-f]{64})", line):
            current["hashes"].append(match[1])
        elif match := re.match(
            r"\s+#(?: via)?\s+([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?(?: \(.*\))?$", line
        ):
            current["via"].append(match[1])
    return packages


def lock(root: Path) -> int:
    """Write every lock file; the exit status. A version changes where pyproject.toml asks for
    another, or its lines were taken out before."""
    # A folder of this machine has some files of a package, and would hide the hashes of the others.
    index = {
        name: value
        for name, value in bootstrap.uv_index().items()
        if name not in ("UV_INDEX", "UV_FIND_LINKS")
    }
    for file, sources in MADE_FROM.items():
        # What runs beside the tests has the tests' versions; what only asks by HTTP, and the
        # auditor, have their own.
        before = [root / file, *([root / LOCKS["dev"]] if file not in OWN_VERSIONS else [])]
        pins = {
            name: package["version"]
            for path in before
            if path.exists()
            for name, package in locked(path).items()
        }
        command = [str(bootstrap.VENV / "bin" / "uv"), "pip", "compile", "--universal"]
        command += ["--python-version", ".".join(map(str, pythons.SUPPORTED[0]))]
        command += ["--generate-hashes", "--no-cache", "--quiet", "--no-header"]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
            constraints.write("\n".join(f"{name}=={pin}" for name, pin in pins.items()))
            constraints.flush()
            run = subprocess.run(
                [*command, "--constraints", constraints.name, *sources],
                cwd=root,
                env={**os.environ, **index},
                capture_output=True,
                text=True,
                check=False,
            )
        if run.returncode:
            print(f"{file} could not be made: {run.stderr}", file=sys.stderr)
            return 1
        text = re.sub(r"\n    #   -c /.*|(?<=# via) -c /.*", "", of_our_systems(run.stdout))
        text = f"# Compiled by uv from pyproject.toml, with hashes.\n{text}"
        (root / file).write_text(text)
    return 0


def of_our_systems(text: str) -> str:
    """A lock file without the packages of other systems, and without markers that hold on all of
    ours: CPython on Linux."""
    from packaging.markers import Marker

    blocks = []
    for block in re.split(r"\n(?=[a-z0-9])", text):
        head, newline, rest = block.partition("\n")
        package, semicolon, marker = head.removesuffix(" \\").partition(" ; ")
        holds = (
            {
                Marker(marker).evaluate(
                    {
                        **_SYSTEM,
                        "python_version": f"{major}.{minor}",
                        "python_full_version": f"{major}.{minor}.{patch}",
                    }
                )
                for major, minor in pythons.SUPPORTED
                for patch in (0, 20)
            }
            if semicolon
            else {True}
        )
        if holds == {True}:
            blocks.append(f"{package} \\{newline}{rest}")
        elif True in holds:
            blocks.append(block)
    return "\n".join(blocks)


_SYSTEM = {
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
}


def bill(root: Path) -> dict[str, Any]:
    """Runtime packages and base images; no time and no random number, so that two bills of one
    state are equal."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    packages = locked(root / LOCKS["base"])
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    refs = {name: f"pkg:pypi/{name}@{package['version']}" for name, package in packages.items()}
    brings: dict[str, set[str]] = {own: set(), **{ref: set() for ref in refs.values()}}
    for name, package in packages.items():
        for parent in package["via"]:
            if parent == project["name"] or parent in refs:
                brings[own if parent == project["name"] else refs[parent]].add(refs[name])
    components = [
        _package(name, package, refs[name]) for name, package in sorted(packages.items())
    ] + _images(root)
    described = {"name": project["name"], "version": project["version"]}
    content = json.dumps([own, components], sort_keys=True)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": own, **described, "purl": own}
        },
        "components": components,
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(brought)} for ref, brought in sorted(brings.items())
        ],
    }


def _package(name: str, package: dict[str, Any], ref: str) -> dict[str, Any]:
    hashes = [{"alg": "SHA-256", "content": text} for text in sorted(set(package["hashes"]))]
    return {
        "type": "library",
        "bom-ref": ref,
        "name": name,
        "version": package["version"],
        "purl": ref,
        "hashes": hashes,
    }


def _images(root: Path) -> list[dict[str, Any]]:
    images: dict[str, dict[str, Any]] = {}
    for name in pin_images.FILES:
        for match in pin_images.references((root / name).read_text()):
            ref = f"pkg:docker/{match[2]}@{match[3]}"
            images[ref] = {
                "type": "container",
                "bom-ref": ref,
                "name": match[2],
                "version": match[3],
                "purl": ref,
            }
            if match[4]:
                images[ref]["hashes"] = [{"alg": "SHA-256", "content": match[4].partition(":")[2]}]
    return [images[ref] for ref in sorted(images)]


def audit(lock: Path, tool: list[str]) -> int:
    """Print what is known against the packages of a lock file; the exit status. What nobody could
    tell about is not called clean."""
    command = [
        *tool,
        "--requirement",
        str(lock),
        "--require-hashes",
        "--disable-pip",
        "--progress-spinner",
        "off",
        "--format",
        "json",
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(run.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"nobody could be asked about {lock.name}: {_last_line(run.stderr)}", file=sys.stderr)
        return 2
    advisories = [
        (package, advisory) for package in packages for advisory in package.get("vulns", [])
    ]
    for package, advisory in advisories:
        fixed = (
            f", fixed in {', '.join(advisory['fix_versions'])}"
            if advisory.get("fix_versions")
            else ""
        )
        print(f"{package['name']} {package['version']}: {advisory['id']}{fixed}")
    untold = [package for package in packages if "skip_reason" in package]
    print(
        f"{lock.name}: {len(advisories)} advisories name {len(packages) - len(untold)} packages"
        " that were asked about"
    )
    if untold:
        print(
            f"nobody could tell about {len(untold)} of {len(packages)}: {untold[0]['skip_reason']}",
            file=sys.stderr,
        )
    return 1 if advisories else 2 if untold or not packages else 0


def pip_audit(root: Path) -> list[str] | None:
    """pip-audit in an environment of its own, as requirements/audit.txt has it; None when it can't
    be had."""
    lock = root / TOOL_LOCK
    folder = root / "var" / "pip-audit"
    stamp = folder / "lock.txt"
    if not stamp.exists() or stamp.read_text() != lock.read_text():
        venv.create(folder, clear=True, with_pip=True)
        install = [
            str(folder / "bin" / "pip"),
            "install",
            "--quiet",
            "--require-hashes",
            "--requirement",
            str(lock),
        ]
        run = subprocess.run(install, capture_output=True, text=True, check=False)
        if run.returncode:
            print(
                f"nobody could be asked: pip-audit can't be installed: {_last_line(run.stderr)}",
                file=sys.stderr,
            )
            return None
        stamp.write_text(lock.read_text())
    return [str(folder / "bin" / "pip-audit")]


def _last_line(text: str) -> str:
    return next(
        (line.strip() for line in reversed(text.splitlines()) if line.strip()), "it says nothing"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lock")
    sbom = commands.add_parser("sbom")
    sbom.add_argument("--output", type=Path, help="a file; else it is printed")
    audit_parser = commands.add_parser("audit")
    audit_parser.add_argument("--lock", choices=LOCKS, action="append", help="may be repeated")
    options = parser.parse_args(arguments)
    if options.command == "lock":
        return lock(ROOT)
    if options.command == "sbom":
        text = json.dumps(bill(ROOT), indent=1) + "\n"
        options.output.write_text(text) if options.output else print(text, end="")
        return 0
    tool = pip_audit(ROOT)
    if tool is None:
        return 2
    return max(audit(ROOT / LOCKS[name], tool) for name in options.lock or ["base"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
