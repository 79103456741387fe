#!/usr/bin/env python3
"""Pins the base images of Dockerfile and compose.yaml: asks their registry what each tag is today
and writes the digest behind it.

`--check` only tells. Exit 0: all are as the registry has them; 1: some were not; 2: a registry
can't be reached. Standard library only.
"""

import argparse
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("Dockerfile", "compose.yaml")
HUB = "https://registry-1.docker.io"
TIMEOUT_SECONDS = 20
INDEXES = (
    *(
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    ),
    *(
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    ),
)
# `FROM image:tag@digest` and `image: image:tag@digest`; what is built here has no registry.
REFERENCE = re.compile(
    r"^(FROM +|\s+image: +)([a-z0-9./_-]+):([\w.-]+)(?:@(sha256:[0-9a-f]{64}))?", re.MULTILINE
)
OWN = "tillgate"


class Unreachable(Exception):
    """A registry that doesn't answer, or not as registries do."""


def references(text: str) -> Iterator[re.Match[str]]:
    yield from (match for match in REFERENCE.finditer(text) if match[2] != OWN)


def digest_of(image: str, tag: str, registry: str) -> str:
    """Digest of the tag today: of its index of platforms. Raises Unreachable."""
    name = image if "/" in image else f"library/{image}"
    url = f"{registry}/v2/{name}/manifests/{urllib.parse.quote(tag)}"
    try:
        digest = _head(url, {"Accept": ", ".join(INDEXES)})
    except urllib.error.HTTPError as error:
        if error.code != 401:
            raise Unreachable(f"{image}:{tag}: the registry answers {error.code}") from None
        digest = _head(
            url,
            {
                "Accept": ", ".join(INDEXES),
                "Authorization": f"Bearer {_token(error.headers['WWW-Authenticate'], registry)}",
            },
        )
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise Unreachable(f"{image}:{tag}: the registry tells no digest")
    return digest


def _head(url: str, headers: dict[str, str]) -> str:
    with urllib.request.urlopen(
        urllib.request.Request(url, headers=headers, method="HEAD"), timeout=TIMEOUT_SECONDS
    ) as answer:
        return str(answer.headers.get("Docker-Content-Digest", ""))


def _token(challenge: str, registry: str) -> str:
    """Anybody is given one that reads public images."""
    challenge_values = dict(re.findall(r'(\w+)="([^"]*)"', challenge or ""))
    if not challenge_values.get("realm", "").startswith(("https://", registry)):
        raise Unreachable("the registry doesn't say where tokens are had")
    query = urllib.parse.urlencode(
        {name: challenge_values[name] for name in ("service", "scope") if name in challenge_values}
    )
    with urllib.request.urlopen(
        f"{challenge_values['realm']}?{query}", timeout=TIMEOUT_SECONDS
    ) as answer:
        return str(json.load(answer)["token"])


def pin(root: Path, registry: str, *, is_check: bool) -> list[str]:
    """Images that differed from the registry, after they were written. Raises Unreachable before
    anything is."""
    written: dict[Path, str] = {}
    lines = []
    digests: dict[tuple[str, str], str] = {}
    for path in (root / name for name in FILES):
        text = path.read_text()
        for match in references(text):
            image = match[2]
            tag = match[3]
            before = match[4]
            if (image, tag) not in digests:
                digests[image, tag] = _asked(image, tag, registry)
            if before != digests[image, tag]:
                lines.append(
                    f"{path.name}: {image}:{tag} is {digests[image, tag]}, not {before or 'pinned'}"
                )
        written[path] = REFERENCE.sub(lambda match: _pinned(match, digests), text)
    if not is_check:
        for path, text in written.items():
            path.write_text(text)
    return lines


def _asked(image: str, tag: str, registry: str) -> str:
    try:
        return digest_of(image, tag, registry)
    except (OSError, ValueError, KeyError) as error:
        raise Unreachable(f"{registry} can't be reached for {image}:{tag}: {error}") from None


def _pinned(match: re.Match[str], digests: dict[tuple[str, str], str]) -> str:
    digest = digests.get((match[2], match[3]))
    return f"{match[1]}{match[2]}:{match[3]}@{digest}" if digest else match[0]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("--registry", default=HUB)
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args(arguments)
    try:
        lines = pin(options.root, options.registry, is_check=options.check)
    except Unreachable as error:
        print(f"nothing was changed: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines) or "every base image is as the registry has it")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
