#!/usr/bin/env bash
# python-stdnum 2.2 (PyPI), stdnum.eu.vat and Greek numbers.
#
# Seen: a number written with GR, the country's code, is valid and stays as it is written; EL, the
# prefix that Greek VAT numbers have, is valid as well. compact() and validate() make the two neither
# equal nor one of them wrong, so the same buyer has two numbers.
#
# Most expect: one form out of the library that normalizes numbers, and it to be EL, which VIES and
# invoices know.
#
# Why it matters: customers are told apart by what was stored, and VIES is asked about a member state
# GR, which it doesn't have. The prefix has to be set after validation.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet python-stdnum==2.2 2>/dev/null
"$folder/venv/bin/pip" list 2>/dev/null | grep '^python-stdnum'
cat >"$folder/read.py" <<'PY'
from stdnum.eu import vat

for number in ("GR 094259216", "EL 094259216"):
    print(vat.validate(number), vat.compact(number), vat.guess_country(number[3:]))
PY
seen=$("$folder/venv/bin/python" "$folder/read.py")
echo "$seen"
[ "$seen" = "GR094259216 GR094259216 ['gr']
EL094259216 EL094259216 ['gr']" ] || { echo "no longer as described"; exit 1; }
echo "as described"
