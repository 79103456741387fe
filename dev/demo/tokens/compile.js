// Compiles DevToken.sol to DevToken.json. Needed only when the contract changes; run it in an empty folder:
//   npm install solc@0.8.37 @openzeppelin/contracts@5.7.0
//   NODE_PATH=node_modules node <this file>
const fs = require("fs");
const path = require("path");
const solc = require("solc");

const here = __dirname;
const modules = path.resolve("node_modules");
const settings = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: "none" },
  outputSelection: { "DevToken.sol": { DevToken: ["abi", "evm.bytecode.object"] } },
};
const input = {
  language: "Solidity",
  sources: { "DevToken.sol": { content: fs.readFileSync(path.join(here, "DevToken.sol"), "utf8") } },
  settings,
};
const find = (name) => ({ contents: fs.readFileSync(path.join(modules, name), "utf8") });
const output = JSON.parse(solc.compile(JSON.stringify(input), { import: find }));
const errors = (output.errors || []).filter((one) => one.severity === "error");
if (errors.length) {
  console.error(errors.map((one) => one.formattedMessage).join("\n"));
  process.exit(1);
}
const token = output.contracts["DevToken.sol"].DevToken;
const { outputSelection, ...published } = settings;
const artifact = {
  contract: "DevToken",
  compiler: `solc ${solc.version()}`,
  libraries: `@openzeppelin/contracts ${require(path.join(modules, "@openzeppelin/contracts/package.json")).version}`,
  settings: published,
  abi: token.abi,
  bytecode: "0x" + token.evm.bytecode.object,
};
fs.writeFileSync(path.join(here, "DevToken.json"), JSON.stringify(artifact, null, 1) + "\n");
