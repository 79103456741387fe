// Compiles a contract with the pinned compiler and prints what apps/chain/networks/evm keeps of it:
// compiler, settings and bytecode. The same source gives the same bytes on every machine.
// node build.mjs Forwarder > ../apps/chain/networks/evm/forwarder_code.json
import { readFileSync } from "node:fs";
import solc from "solc";

const settings = {
  evmVersion: "paris",
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: "none" },
  outputSelection: {
    "*": {
      "*": [
        "evm.bytecode.object",
        "evm.deployedBytecode.object",
        "evm.deployedBytecode.immutableReferences",
      ],
    },
  },
};
const kept = {
  Forwarder: ({ Forwarder, ForwarderFactory }) => ({
    forwarder: Forwarder.evm.bytecode.object,
    factory: ForwarderFactory.evm.bytecode.object,
    factory_deployed: ForwarderFactory.evm.deployedBytecode.object,
  }),
  // The wallet and the contract's own address are in the code: where, is kept, too.
  Sweeper: ({ Sweeper }) => ({
    sweeper: Sweeper.evm.bytecode.object,
    sweeper_deployed: Sweeper.evm.deployedBytecode.object,
    places: Object.values(Sweeper.evm.deployedBytecode.immutableReferences).map((places) =>
      places.map(({ start }) => start),
    ),
  }),
};
const name = process.argv[2];
if (!(name in kept)) {
  console.error(`Which one: ${Object.keys(kept).join(", ")}?`);
  process.exit(1);
}
const file = `${name}.sol`;
const source = readFileSync(new URL(file, import.meta.url), "utf8");
const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: "Solidity",
      sources: { [file]: { content: source } },
      settings,
    }),
  ),
);
const problems = output.errors ?? [];
if (problems.length > 0) {
  console.error(problems.map((problem) => problem.formattedMessage).join("\n"));
  process.exit(1);
}
delete settings.outputSelection;
const built = { compiler: solc.version(), settings, ...kept[name](output.contracts[file]) };
console.log(JSON.stringify(built, null, 2));
