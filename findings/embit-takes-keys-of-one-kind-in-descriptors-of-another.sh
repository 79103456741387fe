#!/usr/bin/env bash
# embit 0.8.0 and bdkpython 3.1.1 (PyPI), a descriptor around a key that says its own kind (zpub).
#
# Seen: embit takes pkh(zpub...) and makes addresses that begin with 1 of a key whose prefix says that
# its wallet makes addresses that begin with bc1q. bdkpython refuses any zpub in a descriptor. Neither
# says which key or why.
#
# Most expect: an error, as descriptors have xpubs alone (BIP-380), or at least one where the kinds
# differ.
#
# Why it matters: people paste the zpub that their wallet shows into a descriptor. Payments to the
# addresses that come out are coins which that wallet doesn't look for. A zpub in a descriptor has to
# be refused.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet embit==0.8.0 bdkpython==3.1.1 2>/dev/null
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(embit|bdkpython)'
cat >"$folder/derive.py" <<'PY'
import bdkpython
from embit.descriptor import Descriptor
from embit.networks import NETWORKS

# Account 0 of BIP-84's test vector.
ZPUB = (
    "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGD"
    "tKsAYz2oz2AGutZYs"
)
for kind in ("wpkh", "pkh"):
    text = f"{kind}({ZPUB}/0/*)"
    address = Descriptor.from_string(text).derive(0).address(NETWORKS["main"])
    try:
        bdkpython.Descriptor(text, bdkpython.NetworkKind.MAIN)
        other = "taken"
    except bdkpython.DescriptorError:
        other = "refused"
    print(f"{kind}: embit {address[:4]}..., bdkpython {other}")
PY
seen=$("$folder/venv/bin/python" "$folder/derive.py")
echo "$seen"
[ "$seen" = "wpkh: embit bc1q..., bdkpython refused
pkh: embit 1JaU..., bdkpython refused" ] || { echo "no longer as described"; exit 1; }
echo "as described"
