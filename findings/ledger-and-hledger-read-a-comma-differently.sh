#!/usr/bin/env bash
# hledger 1.25 and ledger 3.3.0 (Debian 12), one journal with a comma in its amounts.
#
# Seen: both read the same file without a word. "0,125 BTC" is an eighth of a coin to hledger and 125
# coins to ledger; "1,500 JPY" is one and a half yen to hledger and fifteen hundred to ledger. With a
# point both agree.
#
# Most expect: the two programs, which share the format, to read the same amounts, or to ask.
#
# Why it matters: journals exported with a decimal comma, or with thousands, are off by a thousand in
# one of the two, and the books still balance. Exports should have a point and no grouping.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 "$folder"
apt-get download -q hledger=1.25-2+b5 ledger=3.3.0-3 libboost-filesystem1.74.0 libgmp10 libmpfr6 \
    libboost-iostreams1.74.0 libboost-python1.74.0 libboost-regex1.74.0 libicu72 libpython3.11 \
    >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" .; done
export LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu:$folder/usr/lib"
./usr/bin/hledger --version
./usr/bin/ledger --version | head -1
cat >books.journal <<'JOURNAL'
2026-01-01 First
    assets:comma    0,125 BTC
    assets:grouped  1,500 JPY
    assets:point    0.125 ETH
    income

2026-01-02 One more of each
    assets:comma    1 BTC
    assets:grouped  1 JPY
    assets:point    1 ETH
    income
JOURNAL
seen=$(for account in comma grouped point; do
    for program in hledger ledger; do
        sum=$("./usr/bin/$program" -f books.journal balance "assets:$account" | head -1)
        echo "$account $program $(echo "$sum" | awk '{print $1, $2}')"
    done
done)
echo "$seen"
[ "$seen" = "comma hledger 1,125 BTC
comma ledger 126 BTC
grouped hledger 2,500 JPY
grouped ledger 1,501 JPY
point hledger 1.125 ETH
point ledger 1.125 ETH" ] || { echo "no longer as described"; exit 1; }
echo "as described"
