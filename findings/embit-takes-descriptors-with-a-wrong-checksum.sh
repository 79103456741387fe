#!/usr/bin/env bash
# embit 0.8.0 (PyPI), output descriptors.
#
# Seen: Descriptor.from_string takes a descriptor whose checksum (the eight letters behind #) is
# wrong for a good one, without a word, and derives addresses from it.
#
# Most expect: a wrong checksum to be refused, which is what it is for (BIP-380); Bitcoin Core and
# bdkpython refuse it.
#
# Why it matters: a character of an origin, a branch or a kind that was copied wrong makes a wallet of
# other addresses, at which its owner finds nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet embit==0.8.0 bdkpython==3.1.1
"$folder/venv/bin/python" - <<'PYTHON'
import bdkpython
from embit.descriptor import Descriptor

key = (
    "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY4"
    "9yfdDEHGCtMMj92pReUsQ"
)
wrong = f"wpkh({key}/0/*)#aaaaaaaa"
print("embit:", Descriptor.from_string(wrong).derive(0).address())
try:
    bdkpython.Descriptor(wrong, bdkpython.NetworkKind.MAIN)
except Exception as error:
    print("bdkpython:", type(error).__name__)
PYTHON
