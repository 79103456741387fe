// Takes the code of Permit2 out of Optimism's contracts, to Permit2.json; run it in an empty folder:
//   npm pack @eth-optimism/contracts-bedrock@0.17.3 && tar xzf *.tgz
//   node <this file>
const fs = require("fs");
const path = require("path");

const source = "@eth-optimism/contracts-bedrock 0.17.3, src/libraries/Preinstalls.sol";
const library = fs.readFileSync("package/src/libraries/Preinstalls.sol", "utf8");
const template = /Permit2TemplateCode =\s+hex"([0-9a-f]+)"/.exec(library)[1];
const artifact = { contract: "Permit2", source, Permit2TemplateCode: template };
fs.writeFileSync(path.join(__dirname, "Permit2.json"), JSON.stringify(artifact, null, 1) + "\n");
