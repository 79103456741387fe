#!/usr/bin/env bash
# mt-940 5.1.1 (PyPI), bank statements in SWIFT's MT940.
#
# Seen: an entry marked RC in field 61, a credit that the bank takes back, is read with a positive
# amount, like the credit itself. Only with the option reversal_sign is it negative. The entries of a
# statement then don't lead from its opening to its closing balance, and nothing says so.
#
# Most expect: the sign that the balances need: RC takes money away, RD brings it back.
#
# Why it matters: returned direct debits and transfers come as RC. Whoever books the amounts as they
# are read counts a returned payment twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mt-940==5.1.1
"$folder/venv/bin/pip" list 2>/dev/null | grep -i '^mt-940'
cat >"$folder/statement.sta" <<'STATEMENT'
:20:START
:25:DE02120300000000202051
:28C:1/1
:60F:C260101EUR100,00
:61:2601020102C25,00NTRFNONREF
:86:Payment
:61:2601050105RC25,00NRTINONREF
:86:The payment, returned
:62F:C260105EUR100,00
STATEMENT
cat >"$folder/read.py" <<'PY'
import sys
import mt940

for name, options in (("by default", None), ("reversal_sign", mt940.Options(reversal_sign=True))):
    read = mt940.models.Transactions(**({"options": options} if options else {}))
    read.parse(open(sys.argv[1]).read())
    amounts = [each.data["amount"].amount for each in read]
    opening = read.data["final_opening_balance"].amount.amount
    closing = read.data["final_closing_balance"].amount.amount
    print(f"{name}: {opening} + {sum(amounts)} = {opening + sum(amounts)}, closing {closing}")
PY
seen=$("$folder/venv/bin/python" "$folder/read.py" "$folder/statement.sta")
echo "$seen"
[ "$seen" = "by default: 100.00 + 50.00 = 150.00, closing 100.00
reversal_sign: 100.00 + 0.00 = 100.00, closing 100.00" ] || { echo "no longer as described"; exit 1; }
echo "as described"
