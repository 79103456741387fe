#!/usr/bin/env bash
# Beancount 3.2.3 (PyPI), bean-check.
#
# Seen: a negative amount of more than 28 significant digits is rounded to 28 while it is read, as
# Python's decimal context has it. With thirteen digits before the point, eighteen decimals become
# fifteen, the tolerance follows them, and a transaction that is off by one unit of the token passes.
# With one digit before the point, the same error is found.
#
# Most expect: amounts to be exact however long they are, and a transaction to be checked to the last
# decimal that is written.
#
# Why it matters: tokens with eighteen decimals and large supplies are held in such amounts, and the
# check is what bookkeepers rely on.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet beancount==3.2.3
"$folder/venv/bin/pip" list 2>/dev/null | grep -i '^beancount'

# The verdict of bean-check on one that is off by 10^-18, with these digits before the point.
verdict() {
    cat >"$folder/books.beancount" <<BOOKS
1970-01-01 open Assets:Wallet TOKEN
1970-01-01 open Income:Sales TOKEN

2026-01-01 * "Off by one unit"
  Assets:Wallet   $1.000000000000000001 TOKEN
  Income:Sales   -$1.000000000000000000 TOKEN
BOOKS
    if "$folder/venv/bin/bean-check" "$folder/books.beancount" >/dev/null 2>&1; then
        echo "passes"
    else
        echo "refused"
    fi
}

short=$(verdict 1)
long=$(verdict 1234567890123)
echo "1 token: $short; 1,234,567,890,123 tokens: $long"
if [ "$short $long" = "refused passes" ]; then
    echo "as described"
else
    echo "no longer as described"
    exit 1
fi
