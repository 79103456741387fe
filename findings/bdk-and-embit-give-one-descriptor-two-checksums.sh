#!/usr/bin/env bash
# bdkpython 3.1.1 and embit 0.8.0 (PyPI): the text of one output descriptor, with its checksum.
#
# Seen: each reads a hardened path in either spelling (84h or 84') and writes its own back: bdkpython
# 84', embit 84h. The checksum is over the text, so one and the same key has #wc3n3van from the one and
# #afwvtk2s from the other, whichever was read.
#
# Most expect: the eight characters behind # to name a descriptor, so that they can be compared between
# two programs, as fingerprints are.
#
# Why it matters: an owner who compares what a wallet shows with what a service shows sees two
# checksums for the right key; and a table that is unique by text keeps one wallet twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet bdkpython==3.1.1 embit==0.8.0 2>/dev/null
cat >ask.py <<'PY'
from bdkpython import Descriptor, NetworkKind
from embit.descriptor import Descriptor as EmbitDescriptor
from embit.descriptor.checksum import add_checksum

# The account of BIP-84's test seed.
KEY = "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"
for mark in ("h", "'"):
    text = f"wpkh([73c5da0a/84{mark}/0{mark}/0{mark}]{KEY}/0/*)"
    for told in (
        str(Descriptor(text, NetworkKind.MAIN)),
        add_checksum(EmbitDescriptor.from_string(text).to_string()),
    ):
        print(f"84{mark} read,", told[15:18], "written, #" + told.rpartition("#")[2])
PY
echo "bdkpython 3.1.1, then embit 0.8.0"
seen=$(venv/bin/python ask.py)
echo "$seen"
[ "$seen" = "84h read, 84' written, #wc3n3van
84h read, 84h written, #afwvtk2s
84' read, 84' written, #wc3n3van
84' read, 84h written, #afwvtk2s" ] || { echo "no longer as described"; exit 1; }
echo "as described"
