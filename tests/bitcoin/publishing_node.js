// bcoin in its JavaScript form, without disk, which publishes over ZeroMQ: a block a second.
// bzmq brings sources of an old zeromq that has to be compiled; today's package stands in for it.
"use strict";
const Module = require("module");
const load = Module._load;
Module._load = function (name, parent, isMain) {
  const found = name === "../vendor/zeromq" ? "zeromq/v5-compat" : name;
  return load.call(this, found, found === name ? parent : module, isMain);
};
const { FullNode } = require("bcoin");
const ZMQ = require("bzmq");

const address = process.argv[2];
const node = new FullNode({
  network: "regtest",
  memory: true,
  workers: false,
  listen: false,
  noAuth: true,
  port: Number(process.argv[3]),
  httpPort: Number(process.argv[4]),
  zmqHashblock: address,
});
node.use(ZMQ);

async function main() {
  await node.open();
  for (;;) {
    await new Promise((done) => setTimeout(done, 1000));
    await node.chain.add(await node.miner.mineBlock());
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
