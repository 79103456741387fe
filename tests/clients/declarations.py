"""Compares the stand-ins of WordPress and WooCommerce that the plugin is tested with, and what the
plugin overrides, with public declarations of the real ones:

    python -m tests.clients.declarations --declarations FOLDER

FOLDER holds PHP files: declarations made for editors, or sources. It needs php.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.stack import ROOT

PLACE = ROOT / "clients" / "woocommerce"
STUBS = sorted((PLACE / "tests" / "stubs").glob("*.php"))
PLUGIN = sorted((PLACE / "tillgate" / "includes").glob("*.php"))
OURS = "stub"  # names that begin so are helpers of the tests
Signature = dict[str, Any]
# A function that only this one declares says that its declarations are there at all.
SIGNS = {"wordpress.php": "add_action", "woocommerce.php": "wc_get_order"}


def declared(paths: list[Path]) -> dict[str, Any]:
    """The functions and classes of PHP files, by name."""
    command = ["php", str(PLACE / "tests" / "declared.php"), *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    for kind in ("functions", "classes"):
        found[kind] = found[kind] or {}
    return found


def method(classes: dict[str, Any], name: str, method_name: str) -> Signature | None:
    """A method of a class, or of the nearest of its ancestors that has it."""
    if name not in classes:
        return None
    signature: Signature | None = (classes[name]["methods"] or {}).get(method_name)
    if signature is not None:
        return signature
    found = (method(classes, parent, method_name) for parent in classes[name]["parents"])
    return next(filter(None, found), None)


def differences(own: Signature, real: Signature) -> Iterator[str]:
    """Differences where a call that the stand-in takes isn't one that the real one takes."""
    if own["static"] != real["static"]:
        yield "static in one of them only"
    if own["visibility"] != real["visibility"]:
        yield f"{own['visibility']}, really {real['visibility']}"
    theirs = real["parameters"]
    for place, parameter in enumerate(own["parameters"]):
        if place >= len(theirs):
            yield f"{parameter['name']} doesn't exist"
            continue
        yield from _parameter(parameter, theirs[place])
    for parameter in theirs[len(own["parameters"]) :]:
        if not parameter["optional"]:
            yield f"{parameter['name']} is missing"


def _parameter(own: Signature, real: Signature) -> Iterator[str]:
    name = own["name"]
    if name != real["name"]:
        yield f"{name} is really {real['name']}"
    if own["optional"] and not real["optional"]:
        yield f"{name} is really required"
    if own["optional"] and real["optional"] and own["default"] != real["default"]:
        yield f"{name} is {own['default']} by default, really {real['default']}"
    if own["type"] and own["type"] != real["type"]:
        yield f"{name} takes {own['type']}, really {real['type'] or 'anything'}"


def override_differences(own: Signature, real: Signature) -> Iterator[str]:
    """Where PHP or a caller of the real class would refuse what the plugin overrides."""
    if own["static"] != real["static"]:
        yield "static in one of them only"
    for place, parameter in enumerate(own["parameters"]):
        if place >= len(real["parameters"]) and not parameter["optional"]:
            yield f"{parameter['name']} isn't given"
    for parameter in real["parameters"][len(own["parameters"]) :]:
        yield f"{parameter['name']} isn't taken"
    if real["returns"] and not own["returns"]:
        yield f"has to return {real['returns']}"


def compare(folder: Path) -> tuple[list[str], list[str]]:
    """Differences, and what was compared."""
    real = declared(sorted(folder.rglob("*.php")))
    said: list[str] = []
    compared: list[str] = []
    for path in STUBS:
        own = declared([path])
        sign = SIGNS.get(path.name)
        if sign is None or sign not in real["functions"]:
            continue
        rows = list(_pairs(own, real))
        compared.append(f"{path.name}: {len(rows)} signatures")
        for name, signature, theirs in rows:
            found = ["isn't declared"] if theirs is None else differences(signature, theirs)
            said += [f"{path.name}: {name}: {text}" for text in found]
    overrides = list(_overrides(declared(PLUGIN), real["classes"]))
    compared.append(f"the plugin: {len(overrides)} overrides")
    for name, signature, real_one in overrides:
        said += [f"{name}: {text}" for text in override_differences(signature, real_one)]
    return said, compared


def _pairs(
    own: dict[str, Any], real: dict[str, Any]
) -> Iterator[tuple[str, Signature, Signature | None]]:
    for name, signature in own["functions"].items():
        if not name.startswith(OURS):
            yield name, signature, real["functions"].get(name)
    for class_name, found in own["classes"].items():
        if class_name.lower().startswith(OURS):
            continue
        for name, signature in (found["methods"] or {}).items():
            if not name.startswith((OURS, "__")) and signature["visibility"] != "private":
                theirs = method(real["classes"], class_name, name)
                yield f"{class_name}::{name}", signature, theirs


def _overrides(
    own: dict[str, Any], classes: dict[str, Any]
) -> Iterator[tuple[str, Signature, Signature]]:
    for class_name, found in own["classes"].items():
        for name, signature in (found["methods"] or {}).items():
            parents = [_resolved(parent, classes) for parent in found["parents"]]
            theirs = next(filter(None, (method(classes, parent, name) for parent in parents)), None)
            if theirs is not None and name != "__construct":
                yield f"{class_name}::{name}", signature, theirs


def _resolved(parent: str, classes: dict[str, Any]) -> str:
    """A parent that a file names by the last part of its name."""
    ends = [name for name in classes if name.rpartition("\\")[2] == parent]
    return parent if parent in classes or len(ends) != 1 else ends[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--declarations", type=Path, required=True, metavar="FOLDER")
    said, compared = compare(parser.parse_args().declarations)
    print("\n".join([*said, *compared, f"{len(said)} differences"]))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
