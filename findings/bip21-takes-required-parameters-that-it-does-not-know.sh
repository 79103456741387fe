#!/usr/bin/env bash
# bip21 3.0.0 (npm), payment links of Bitcoin (BIP-21) with a parameter that begins with "req-".
#
# Seen: a link with an unknown required parameter is decoded like any other; the parameter is one of
# the options, and there is no list of those that the caller supports.
#
# Most expect: an error. BIP-21 says that the whole link is invalid to who doesn't implement one of its
# required parameters.
#
# Why it matters: a wallet that relies on the decoder pays under conditions that it hasn't read. The
# caller has to go through the options itself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund bip21@3.0.0 >/dev/null
npm ls --depth=0 | tail -n +2
cat >read.mjs <<'JS'
import { decode } from "bip21";
const address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const { options } = decode(`bitcoin:${address}?amount=0.5&req-nobodyknows=1`);
console.log(JSON.stringify(options));
JS
seen=$(node read.mjs)
echo "$seen"
[ "$seen" = '{"amount":0.5,"req-nobodyknows":"1"}' ] || { echo "no longer as described"; exit 1; }
echo "as described"
