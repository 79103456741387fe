// Compiles Forwarder.sol with the pinned compiler and prints what apps/chain/networks/evm keeps:
// compiler, settings and bytecode. The same source gives the same bytes on every machine.
import { readFileSync } from "node:fs";
import solc from "solc";

const settings = {
  evmVersion: "paris",
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: "none" },
  outputSelection: { "*": { "*": ["evm.bytecode.object", "evm.deployedBytecode.object"] } },
};
const source = readFileSync(new URL("Forwarder.sol", import.meta.url), "utf8");
const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: "Solidity",
      sources: { "Forwarder.sol": { content: source } },
      settings,
    }),
  ),
);
const problems = output.errors ?? [];
if (problems.length > 0) {
  console.error(problems.map((problem) => problem.formattedMessage).join("\n"));
  process.exit(1);
}
const contracts = output.contracts["Forwarder.sol"];
delete settings.outputSelection;
const built = {
  compiler: solc.version(),
  settings,
  forwarder: contracts.Forwarder.evm.bytecode.object,
  factory: contracts.ForwarderFactory.evm.bytecode.object,
  factory_deployed: contracts.ForwarderFactory.evm.deployedBytecode.object,
};
console.log(JSON.stringify(built, null, 2));
