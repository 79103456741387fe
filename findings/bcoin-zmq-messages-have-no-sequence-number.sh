#!/usr/bin/env bash
# bcoin 1.0.2 with bzmq 0.2.3 (npm), read by pyzmq 27.1.0: blocks announced over ZeroMQ.
#
# Seen: a message of `hashblock` has two parts, the topic and the hash. The hash is in the order that
# people read it in.
#
# Most expect: Bitcoin Core's three parts (its doc/zmq.md): topic, hash, and a number that counts the
# messages of the topic in four bytes, by which a subscriber knows that it has missed some. bcoin says
# that it publishes the same topics.
#
# Why it matters: a subscriber that unpacks three parts stops at the first block, and one that reads
# two can't tell that announcements were lost.
set -euo pipefail
folder=$(mktemp -d)
node=0
trap 'kill "$node" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
# What would be compiled isn't needed: bcoin has it in JavaScript, and today's zeromq brings its program.
cat >package.json <<'JSON'
{
  "private": true,
  "dependencies": { "bcoin": "1.0.2", "bzmq": "0.2.3", "zeromq": "6.8.0" },
  "overrides": { "leveldown": "6.1.1" }
}
JSON
npm install --silent --no-audit --no-fund --ignore-scripts >/dev/null
python3 -m venv venv
venv/bin/pip install --quiet pyzmq==27.1.0 2>/dev/null
cat >node.js <<'JS'
const Module = require("module");
const load = Module._load;
Module._load = function (name, parent, isMain) {
  if (name === "../vendor/zeromq") return load.call(this, "zeromq/v5-compat", module, isMain);
  return load.call(this, name, parent, isMain);
};
const { FullNode } = require("bcoin");
const [zmqHashblock, port, httpPort] = process.argv.slice(2);
const node = new FullNode({
  network: "regtest", memory: true, workers: false, listen: false, noAuth: true,
  port: Number(port), httpPort: Number(httpPort), zmqHashblock,
});
node.use(require("bzmq"));
(async () => {
  await node.open();
  for (;;) {
    const block = await node.miner.mineBlock();
    await node.chain.add(block);
    console.log(block.rhash());
    await new Promise((done) => setTimeout(done, 1000));
  }
})();
JS
port=$((20000 + RANDOM % 20000))
NODE_BACKEND=js node node.js "tcp://127.0.0.1:$port" $((port + 1)) $((port + 2)) >mined 2>errors &
node=$!
cat >hear.py <<'PY'
import sys
import zmq

heard = zmq.Context().socket(zmq.SUB)
heard.setsockopt(zmq.SUBSCRIBE, b"hashblock")
heard.setsockopt(zmq.RCVTIMEO, 60_000)
heard.connect(f"tcp://127.0.0.1:{sys.argv[1]}")
heard.recv_multipart()
parts = heard.recv_multipart()
print([len(part) for part in parts], parts[0].decode())
mined = open("mined").read().split()
print("as people read it:", parts[1].hex() in mined)
PY
echo "bcoin 1.0.2, bzmq 0.2.3"
seen=$(venv/bin/python hear.py "$port") || { cat errors; exit 1; }
echo "$seen"
[ "$seen" = "[9, 32] hashblock
as people read it: True" ] || { echo "no longer as described"; exit 1; }
echo "as described"
